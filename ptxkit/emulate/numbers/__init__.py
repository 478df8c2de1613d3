"""Exact arithmetic on bit patterns, one element a lane, in the formats of PTX.

Nothing here knows an instruction: a function takes formats and rounding modes and does what IEEE 754 says, with one
rounding. `approximate` alone is not exact; its bounds are written there.
"""
