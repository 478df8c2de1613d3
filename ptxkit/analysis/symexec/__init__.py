"""Lockstep symbolic execution of groups of threads.

Input: a `Program` and a launch scenario. Output: one trace for each group of threads, with the guesses that its path
needs. It imports the packages of `ptxkit.analysis` above it: `ir`, `values`, `cfg` and `dataflow`.
"""
