"""Texts and launches that tests and campaigns start from.

Input: the folder `corpus`. Output: instructions, launches, expectations. It imports packages of `ptxkit` other than
`ptxkit.testing`.
"""
