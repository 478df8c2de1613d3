"""The value domain of symbolic execution: symbolic values, register files, private memory, launch scenarios.

Input: instructions and launch configurations. Output: symbolic values for one thread or for a group of threads. The
package imports `analysis.ir`.
"""
