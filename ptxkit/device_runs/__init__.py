"""Launches on the GPU of this machine in a separate process, with the arguments of the reference machine.

`DeviceLaunch` describes a launch for both. `device_process` has the process: a kernel that hangs or fails ends it and
affects nothing else. `device_arguments` copies the arguments to the GPU, and the arrays back. `output_comparison`
compares the arrays of two runs, and `unspecified_bits` names the instructions whose results may differ.

Input: a cubin and launches. Output: for each, the arrays after it, or why none exist. It imports `device` and
`emulator`.
"""
