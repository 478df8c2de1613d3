"""What several scripts share: the environment, and what they generate."""
