"""Generators of instructions, kernels and modules.

Input: a source of choices (Hypothesis, or a seed). Output: PTX and arguments. It imports `testing.corpus`.
"""
