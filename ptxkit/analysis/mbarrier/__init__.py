"""Transaction counts of mbarriers, and their invalidation.

Input: `KernelFacts`. Output: findings for the rules PTX5xx. The package imports `analysis.context` and what
`analysis.context` may import.
"""
