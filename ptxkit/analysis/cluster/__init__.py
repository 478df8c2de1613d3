"""What the CTAs of a cluster do to each other: remote accesses, remote copies, lifetimes, scopes.

Input: `KernelFacts`. Output: findings for the rules about clusters. It imports `analysis.context` and the packages
above it.
"""
