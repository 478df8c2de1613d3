"""Which accesses of a CTA's threads to shared memory are between the same barriers, and use the same bytes.

`ptxkit.analysis.intervals.interval_proofs` proves with it, for all paths, arguments and data, that no two threads
conflict.
"""
