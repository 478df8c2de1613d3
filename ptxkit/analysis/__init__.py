"""Static analyses of a function, whose results the rules read.

Threads of a kernel are executed symbolically: each group of threads traverses the control-flow graph with its own
`%tid`, with sample values for integer parameters and with symbols for pointers and loaded data. Stage indices, phase
bits and swizzled addresses are then concrete numbers, and every path is one that some input can take. A decision that
depends on unknown data is recorded with its condition, so that correlated branches take consistent sides. The results
are a trace of effects for each thread (`symexec`), the synchronization between two traces (`sync`, `context`), and the
instructions that no trace reached.

This package words no diagnostic and names no instruction: it describes instructions by their effects.

Input: a validated module. Output: facts about each kernel. It imports `syntax`, `isa`, `semantics` and `validate`.
"""
