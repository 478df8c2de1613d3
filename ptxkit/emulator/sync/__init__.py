"""Barriers, mbarriers, and the completion of asynchronous operations.

Input: arrivals, waits and completions. Output: phases, and the threads that may continue. It imports `emulator.threads`
and the packages that this one may import.
"""
