"""What instructions compute from the values of their operands alone: one file a family of functions."""
