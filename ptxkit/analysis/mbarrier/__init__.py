"""Transaction counts of mbarriers, and the end of their lives.

Input: `KernelFacts`. Output: findings for the rules PTX5xx. It imports `analysis.context` and the packages above it.
"""
