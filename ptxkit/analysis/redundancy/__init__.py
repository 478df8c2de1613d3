"""Which synchronization nothing depends on: each proof is about the kernel without one of its instructions.

In: a `Program`, and the proofs of the other packages of the analysis, all of which this one may import. Out: the
instructions without which no access loses its order, each with those that order the same.
"""
