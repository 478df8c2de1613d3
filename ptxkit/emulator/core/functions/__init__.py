"""The functions of operand values that instructions compute, with one file for each family of functions."""
