"""Derives what a kernel needs from its caller: conditions on a launch without which an executed instruction is wrong.

Input: the facts of an explored kernel. Output: `ptxkit.model.launch_contract`. The package imports the analyses below
it; the number of threads that only the rules can judge is derived in `ptxkit.rules.block_size_conditions`.
"""
