"""The commands. Each command reads its inputs, calls one function of the library, and prints the result.

Input: the arguments of a command line. Output: the text of a renderer, files, and an exit status. It imports the
packages of the library but `analysis`, `build` and `kernels`; each command imports its own when it runs.
"""
