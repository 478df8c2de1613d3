"""Interactions between the CTAs of a cluster: remote accesses, remote copies, lifetimes, scopes.

Input: `KernelFacts`. Output: findings for the rules about clusters. The package imports `analysis.context` and what
`analysis.context` may import.
"""
