"""Errors that prevent any work."""

from __future__ import annotations

from ptxkit.refusal import RefusedError


class CannotRunError(RefusedError):
    """A requirement is missing, such as a cluster or a GPU; the message names it and the reason."""
