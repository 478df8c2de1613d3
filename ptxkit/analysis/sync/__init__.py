"""Models of barriers and mbarriers, and the simulation of how the threads of a CTA or cluster synchronize.

Input: traces of symbolic execution. Output: schedules, blocked threads, phases of mbarriers, synchronization edges. The
package imports `analysis.symexec` and what `analysis.symexec` may import.
"""
