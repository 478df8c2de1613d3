"""The measurements of the commands of `scripts/bench`, one module for each."""
