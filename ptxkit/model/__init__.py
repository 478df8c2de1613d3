"""Data that analysis computes and reports draw: traces, views and transfers.

Input: none. Output: frozen records. It imports `ptxkit.source` and `ptxkit.diagnostics`.
"""
