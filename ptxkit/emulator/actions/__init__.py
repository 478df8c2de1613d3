"""What instructions do to memory, threads and barriers: one file for each family of actions.

Input: the executing group and the values of the operands. Output: the values of the results, or a signal. It imports
all other packages of `ptxkit.emulator` except `driver`.
"""
