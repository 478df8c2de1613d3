"""Litmus tests as kernels for the reference machine, and what their publishers say about them."""
