"""The checks of an assembler: forms, operand kinds and types, constants, requirements of version and target.

Input: a parsed module. Output: its problems, as codes with payloads. It imports `syntax`, `isa` and `semantics`.
"""

from __future__ import annotations

from ptxkit.validate.module_validation import validate

__all__ = ["validate"]
