"""The semantics that the analyser and the reference machine share.

State machines of synchronisation objects take operations on one object, as numbers and sets of threads, and give its
next state, and the outcome of the operation, as a value and never as text. `ordering` takes an effect and gives what it
orders. A caller decides what it runs (one execution, or an over-approximation) and what it reports. The package imports
`ptxkit.syntax`, `ptxkit.isa` and plain data, and no numpy.

`value_ops` gives what the value operations of effects compute, on integers.

`symbols` says which declaration a name stands for at a place, and `layout` gives the sizes and alignments of declared
variables; the validator and the editor read them, too.
`linear_code` turns the body of a function into a list of instructions, with labels as indices, and `control_flow` says
where control continues after each.
"""
