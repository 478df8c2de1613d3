"""The effects of instructions on memory, threads and barriers, with one file for each family of actions.

Input: the executing group and the values of the operands. Output: the values of the results, or a signal. The package
imports all other packages of `ptxkit.emulator` except `driver`.
"""
