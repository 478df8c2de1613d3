"""The data that analyses compute and reports render: traces, views and transfers.

Input: none. Output: frozen records. The package imports `ptxkit.source` and `ptxkit.diagnostics`.
"""
