"""The program that the analyses read: the flattened steps of a kernel, its layout, names and budgets.

Input: a parsed module. Output: `Program` with its `Step`s, `VariableLayout`, `DebugLocations`, `AnalysisBudget`. It
imports nothing of `ptxkit.analysis`.
"""
