"""What a type's word, such as `s32`, says by itself: its width, and whether it is of floating-point numbers."""

from __future__ import annotations

from functools import cache

_FLOATS = ("f", "bf", "e", "tf")


@cache
def width_of(kind: str) -> int:
    """Bits of a value of that type; 1 for a predicate."""
    digits = "".join(c for c in kind if c.isdigit())
    return int(digits) if digits else 1


@cache
def is_float(kind: str) -> bool:
    """Whether its values are floating-point numbers."""
    return kind.startswith(_FLOATS)


@cache
def is_signed(kind: str) -> bool:
    """Whether it is the word of integers with a sign."""
    return kind[:1] == "s" and kind[1:].isdigit()
