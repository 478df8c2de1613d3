"""The over-approximation: what may hold at an instruction on any path, for every thread and all data.

Input: a `Program`. Output: facts about all paths, which prove that nothing is wrong; they never prove a fault. The
package imports `analysis.ir` and `analysis.cfg`.
"""
