"""Models of barriers and mbarriers, and the simulation of how the threads of a CTA or cluster synchronise.

Input: traces of symbolic execution. Output: schedules, blocked threads, phases of mbarriers, synchronisation edges. It
imports `analysis.symexec` and the packages above it.
"""
