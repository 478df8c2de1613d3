"""Litmus tests in their own notation, and all executions of each that the memory model allows."""
