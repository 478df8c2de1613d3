"""Whole runs: repeated launches with their results, and memory that nobody wrote.

Input: a kernel, a launch and a seed. Output: a `RunResult`. It imports all other packages of `ptxkit.emulator`.
"""
