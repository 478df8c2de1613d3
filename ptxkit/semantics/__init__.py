"""The semantics that the analyzer and the reference machine share.

The state machines of synchronization objects apply operations to one object, given as numbers and sets of threads, and
return the outcome of the operation as a value and never as text. `ordering` determines what an effect orders. A caller
decides what it simulates (one execution, or an over-approximation) and what it reports. The package imports
`ptxkit.syntax`, `ptxkit.isa` and plain data, and no numpy.

`value_ops` defines the value operations of effects on integers.

`symbols` determines which declaration a name denotes at a place, and `layout` the sizes and alignments of declared
variables; the validator and the editor use them as well. `linear_code` converts the body of a function to a list of
instructions, with labels as indices, and `control_flow` determines where control continues after each of them.
"""
