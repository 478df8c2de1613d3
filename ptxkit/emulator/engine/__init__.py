"""The engine: launch, scheduling of CTAs and threads, decoding and execution of instructions.

Input: a launch. Output: the final memory, or a violation. It imports all other packages of `ptxkit.emulator`
except `driver` and `actions`.
"""
