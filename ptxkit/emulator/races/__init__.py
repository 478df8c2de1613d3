"""The observers of a run: happens-before monitor, race detector, proxy checker, recorder.

Input: each access and synchronization of the machine. Output: violations with witnesses. It imports `emulator.sync`
and the packages before it, but nothing of `emulator.engine`, which calls it.
"""
