"""Why a campaign cannot be run at all: there is no GPU, no cluster, or no folder for the database."""

from __future__ import annotations

from ptxkit.batch.errors import CannotRunError

__all__ = ["CannotRunError"]
