"""Whole runs: repeated launches with their results, and checks for uninitialized memory.

Input: a kernel, a launch and a seed. Output: a `RunResult`. It imports all other packages of `ptxkit.emulator`.
"""
