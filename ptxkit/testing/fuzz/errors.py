"""The error of a campaign that cannot run: a GPU, a cluster, or the folder of the database is missing."""

from __future__ import annotations

from ptxkit.batch.errors import CannotRunError

__all__ = ["CannotRunError"]
