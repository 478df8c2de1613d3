"""Accesses to memory that need a wait, a fence, a wider scope, or no synchronization at all.

Input: `KernelFacts`. Output: findings about asynchronous copies, proxies, atomics, polled flags and redundant
synchronization. The package imports `analysis.mbarrier`, `analysis.context` and what `analysis.context` may import.
"""
