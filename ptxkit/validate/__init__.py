"""What an assembler checks: forms, operand kinds and types, constants, version and target gates."""

from __future__ import annotations

from ptxkit.validate.module_validation import validate

__all__ = ["validate"]
