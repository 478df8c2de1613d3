"""Matrices that a warp, or four, hold in their registers or in shared memory, and their products.

Functions of plain arrays: registers are arrays whose last dimension are the 32 lanes of a warp, matrices have their
rows and columns last; whatever stands in front of that (warps, mostly) is kept.

What the manual leaves open, and what is done here: products of floating-point elements are summed in f64 in the order
of k, and the sum with C is rounded to nearest once; subnormal numbers count. Hardware sums fewer bits, cuts them off,
and may take another order, so results agree within the bound of the accumulator's precision and not bit for bit.
Integers and single bits are exact. f64 is a chain of fused operations in the order of k.
"""
