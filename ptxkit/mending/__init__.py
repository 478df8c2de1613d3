"""Mends of findings: what rules propose, tried on the text, and offered only where it settles the finding.

A mend holds where the changed text parses, the finding is gone, no other finding came, and no question was left open
that was not open before. `mend(source, settings, unsafe=...)` applies all that hold, `offered(...)` says them.
"""

from __future__ import annotations

from ptxkit.mending.text import edited
from ptxkit.mending.trying import Applied, Mended, mend, offered

__all__ = ["Applied", "Mended", "edited", "mend", "offered"]
