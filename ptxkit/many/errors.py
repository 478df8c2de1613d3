"""Why nothing could be checked at all."""

from __future__ import annotations


class CannotRunError(Exception):
    """There is no such cluster, or what is needed for it is not installed."""
