"""Registers of asynchronous matrix instructions, and `setmaxnreg`.

Input: `KernelFacts`. Output: findings for the rules about wgmma and register counts. The package imports
`analysis.context` and what `analysis.context` may import.
"""
