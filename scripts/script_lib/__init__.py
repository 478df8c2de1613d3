"""Common parts of several scripts: the environment, and generated data."""
