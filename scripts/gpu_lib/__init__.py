"""What runs on a GPU: benchmarks, and the forms of instructions that are compared with the reference machine."""
