"""Facts about registers that hold on all paths: dependences, slices, symbolic expressions, conditions that no input
decides.

Input: a `Program` and its control flow. Output: over-approximations, never executions. It imports `analysis.ir`,
`values` and `cfg`.
"""
