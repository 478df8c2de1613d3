"""Matrices that a warp or a warpgroup holds in registers or in shared memory, and their products.

The functions take plain arrays. The last dimension of registers are the 32 lanes of a warp, and the last two of
matrices are rows and columns; the dimensions before these, mostly warps, are kept.

What the manual leaves open is decided as follows. Products of floating-point elements are summed in f64 in the order of
k, and the sum with C is rounded to nearest once; subnormal numbers count. Hardware sums fewer bits, cuts them off, and
may sum in another order, so that results agree within the bound of the accumulator's precision and not bit for bit.
Integers and single bits are exact. f64 is a chain of fused operations in the order of k.
"""
