"""Facts about a function, for the rules to read.

A kernel is explored by *representative threads*: each traverses the control-flow graph with its own `%tid`, with sample
values for integer parameters and symbols for pointers and loaded data. Stage indices, phase bits and swizzled
addresses are then plain numbers, every path that is traversed is one that an input can take, and a decision that
depends on unknown data is remembered by its term, so that correlated branches agree. What is recorded is a trace of
effects for each thread (`trace`), the order that barriers put between two traces (`order`), and what no trace reached.

Nothing here words a diagnostic, and nothing here knows an instruction by name: instructions are their effects.
"""
