"""All codes of the catalogue."""

from __future__ import annotations

from ptxkit.diagnostics.catalogue import ptx1xx, ptx2xx, ptx3xx, ptx4xx, ptx5xx, ptx6xx, ptx7xx, ptx8xx, ptx9xx
from ptxkit.diagnostics.code import DiagnosticCode

GROUPS = (ptx1xx, ptx2xx, ptx3xx, ptx4xx, ptx5xx, ptx6xx, ptx7xx, ptx8xx, ptx9xx)
"""The modules that define codes."""

CODES: tuple[DiagnosticCode, ...] = tuple(
    each for group in GROUPS for each in vars(group).values() if isinstance(each, DiagnosticCode)
)
"""Every code, in the order of their numbers."""
