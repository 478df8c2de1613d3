"""The reference machine: runs a module on the CPU, under the weakest behaviour that the ISA allows.

What an instruction computes is said by the table (`means` lines, exact values of effects); the functions and actions
that these name are in `functions/` and `actions/`. No opcode is known here.
"""
