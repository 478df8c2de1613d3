"""Values, number formats and the registry of instruction semantics of the reference machine.

Input: bit patterns and types. Output: the results that the ISA defines. It imports nothing of `ptxkit.emulator`.
"""
