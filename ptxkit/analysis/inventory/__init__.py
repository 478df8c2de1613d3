"""The inventory of asynchronous transfers: which copy uses which mechanism, and how it completes.

Input: explored kernels. Output: the tables of `ptxkit transfers` and the views of `ptxkit view`. The package may import
all other packages of `ptxkit.analysis`.
"""
