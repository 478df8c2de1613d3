"""Fixes of findings: what rules propose, tried on the text, and offered only where it settles the finding.

A fix holds where the changed text parses, the finding is gone, no other finding came, and no question was left open
that was not open before. `fix_source` applies all that hold, `with_verified_fixes` adds them to the findings of a
result.
"""

from __future__ import annotations

from ptxkit.fixes.apply_edits import apply_edits
from ptxkit.fixes.validate_fixes import AppliedFix, FixedSource, fix_source, with_verified_fixes

__all__ = ["AppliedFix", "FixedSource", "apply_edits", "fix_source", "with_verified_fixes"]
