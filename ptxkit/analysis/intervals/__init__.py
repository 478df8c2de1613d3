"""Which accesses of a CTA's threads to shared memory are between the same barriers, and use the same bytes.

Input: a `Program` with a declared block. Output: the pairs of accesses that are not proven to be ordered or apart, for
all paths, arguments and data. The package imports `ir`, `values`, `cfg`, `dataflow`, `abstract_interpretation` and
`symexec` of `ptxkit.analysis`.
"""
