"""Tensor Memory and the operands of tcgen05 instructions.

Input: `KernelFacts`. Output: findings for the rules PTX7xx. It imports `analysis.context` and the packages above it.
"""
