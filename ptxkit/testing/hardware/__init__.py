"""Campaigns that compare the reference machine with a GPU.

Input: forms and kernels. Output: counted differences. It imports `testing.corpus`, `generators` and `oracles`.
"""
