"""Measures which forms, rules and branches the tests reach.

Input: runs. Output: tables of what is not reached. It imports `testing.corpus`, `generators`, `oracles` and `hardware`.
"""
