"""Matrices in the registers of a warp or a warpgroup or in shared memory, and their products.

The functions have plain arrays as arguments. The last dimension of registers is the 32 lanes of a warp, and the last
two of matrices are rows and columns; the dimensions before these, mostly warps, are kept.

The manual does not specify the following. Products of floating-point elements are summed in f64 in the order of k, and
the sum with C is rounded to nearest once; subnormal numbers are not flushed. Hardware sums fewer bits, truncates them,
and may sum in another order, so that results agree within the bound of the accumulator's precision and not bit for bit.
Integers and single bits are exact. f64 is a chain of fused operations in the order of k.

Input and output: arrays of elements or bit patterns. It imports `emulator.core` and `emulator.state`.
"""
