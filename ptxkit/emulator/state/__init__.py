"""Memory, tensor maps and textures of the reference machine.

Input: a module and its arguments. Output: buffers with addresses in each state space. It imports `emulator.core`.
"""
