"""Makes the pages of `scripts/docs` from the code's own texts about commands, settings, codes and instructions."""
