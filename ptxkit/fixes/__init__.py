"""Mends of findings: what rules propose, tried on the text, and offered only where it settles the finding.

A mend holds where the changed text parses, the finding is gone, no other finding came, and no question was left open
that was not open before. `mend(source, settings, unsafe=...)` applies all that hold, `offered(...)` says them.
"""

from __future__ import annotations

from ptxkit.fixes.apply_edits import apply_edits
from ptxkit.fixes.validate_fixes import AppliedFix, FixedSource, fix_source, with_verified_fixes

__all__ = ["AppliedFix", "FixedSource", "apply_edits", "fix_source", "with_verified_fixes"]
