"""Accesses to memory that need a fence, a wider scope or no synchronisation at all.

Input: `KernelFacts`. Output: findings about proxies, atomics, polled flags and redundant synchronisation. It imports
`analysis.context` and the packages above it.
"""
