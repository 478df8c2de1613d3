"""Why a campaign cannot be run at all."""

from __future__ import annotations


class CannotRunError(Exception):
    """There is no GPU, no cluster, or no folder for the database; the text says which, and why."""
