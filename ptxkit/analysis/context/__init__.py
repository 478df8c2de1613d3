"""The facts about a kernel that rules read: its scenarios, its threads, the happens-before relation, and races.

Input: an explored kernel. Output: `KernelFacts` and `ScenarioFacts`. The package imports `analysis.sync` and what
`analysis.sync` may import.
"""
