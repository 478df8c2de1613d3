"""Control flow: basic blocks, dominators, loops, reachability, reaching definitions.

Input: a `Program`. Output: graphs and sets of blocks and steps, exact for the text of the kernel. The package imports
`analysis.ir` and `analysis.values`.
"""
