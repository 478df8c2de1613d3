"""What the commands of `scripts/bench` measure, one module for each."""
