"""Mutation testing: synchronization faults are inserted into correct kernels, one at a time, to measure how many of
them the analyzer finds.

An operator selects instructions by their effects (`ptxkit.isa.effects`) and makes one change. The operator states which
rules a mutant violates, from the effects that it changed; the analyzer never does.

Input: correct kernels. Output: mutants, and which of them are detected. It imports `analysis`, `linter`, `fixes`
and `verifier`.
"""
