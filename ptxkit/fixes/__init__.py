"""Fixes of findings: proposals of rules that are tried on the text and offered only where they settle the finding.

A fix is valid if the changed text parses, the finding is fixed, there is no new finding, and there is no new open
question. `fix_source` applies all valid fixes; `with_verified_fixes` adds them to the findings of a result.

Input: the findings of a text. Output: edits. It imports `linter`, `analysis`, `settings`, `baseline`, `isa`
and `syntax`.
"""

from __future__ import annotations

from ptxkit.fixes.apply_edits import apply_edits
from ptxkit.fixes.validate_fixes import AppliedFix, FixedSource, fix_source, with_verified_fixes

__all__ = ["AppliedFix", "FixedSource", "apply_edits", "fix_source", "with_verified_fixes"]
