"""Errors that prevent any work."""

from __future__ import annotations


class CannotRunError(Exception):
    """A requirement is missing, such as a cluster or a GPU; the message names it and the reason."""
