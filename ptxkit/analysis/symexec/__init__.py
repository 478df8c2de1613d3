"""Lockstep symbolic execution of groups of threads.

Input: a `Program` and a launch scenario. Output: one trace for each group of threads, with the guesses that its path
needs. The package imports `ir`, `values`, `cfg` and `dataflow` of `ptxkit.analysis`.
"""
