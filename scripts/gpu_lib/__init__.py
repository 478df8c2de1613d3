"""Code for GPUs: benchmarks, and the forms of instructions that are compared with the reference machine."""
