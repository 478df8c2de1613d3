"""Notes below a diagnostic that say how it was found."""

from __future__ import annotations

from ptxkit.diagnostics.message import TextTemplate

BLOCK_SIZE_UNKNOWN = TextTemplate(
    "the kernel does not say how many threads a block has; it is so at each size that was tried: {sizes}"
)
