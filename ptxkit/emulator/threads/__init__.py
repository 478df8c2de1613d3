"""Groups of threads that execute together, and what they wait for.

Input: threads of a CTA. Output: groups with their registers and program counters. It imports `emulator.core`,
`emulator.state` and `emulator.tensor`.
"""
