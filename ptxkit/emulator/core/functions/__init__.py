"""The functions of operand values that instructions compute, with one file for each family of functions.

Input: arrays of bit patterns, one element for each lane. Output: arrays of results. It imports the other modules of
`emulator.core`, `isa` and `semantics`.
"""
