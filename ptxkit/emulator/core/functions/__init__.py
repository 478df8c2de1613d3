"""What instructions compute from the values of their operands alone, with one file for each family of functions."""
