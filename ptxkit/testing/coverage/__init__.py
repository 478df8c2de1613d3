"""Measures which forms, rules and branches the tests cover.

Input: runs. Output: tables of what is not covered. It imports `testing.corpus`, `generators`, `oracles` and `hardware`.
"""
