"""Tensor Memory and the operands of tcgen05 instructions.

Input: `KernelFacts`. Output: findings for the rules PTX7xx. The package imports `analysis.context` and what
`analysis.context` may import.
"""
