"""What instructions do to memory, threads and barriers: one file a family of actions."""
