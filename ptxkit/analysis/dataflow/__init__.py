"""Facts about registers that hold on all paths: dependences, slices, symbolic expressions, unreached conditions.

Input: a `Program` and its control flow. Output: over-approximations, without executions. The package imports
`analysis.ir`, `values` and `cfg`.
"""
