"""What the rules ask of a kernel: its scenarios, its threads, the happens-before relation, and races.

Input: an explored kernel. Output: `KernelFacts` and `ScenarioFacts`. It imports `analysis.sync` and the packages above
it.
"""
