"""Campaigns that compare which programs ptxkit and ptxas accept.

Input: instructions and whole files. Output: counted differences. It imports `testing.corpus`, `generators` and
`oracles`.
"""
