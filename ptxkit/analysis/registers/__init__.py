"""Registers of asynchronous matrix instructions, and `setmaxnreg`.

Input: `KernelFacts`. Output: findings for the rules about wgmma and register counts. It imports `analysis.context` and
the packages above it.
"""
