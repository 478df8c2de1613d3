"""Why nothing could be done at all."""

from __future__ import annotations


class CannotRunError(Exception):
    """What is needed is not there, a cluster or a GPU, say; the text says what, and why."""
