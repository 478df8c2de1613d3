"""Accesses to memory that need a fence, a wider scope, or no synchronization at all.

Input: `KernelFacts`. Output: findings about proxies, atomics, polled flags and redundant synchronization. The package
imports `analysis.context` and what `analysis.context` may import.
"""
