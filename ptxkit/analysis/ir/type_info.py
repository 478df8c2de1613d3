"""Properties of a type such as `s32`: its width, and whether it is a floating-point type."""

from __future__ import annotations

from functools import cache

_FLOATS = ("f", "bf", "e", "tf")


@cache
def width_of(kind: str) -> int:
    """The width in bits of a value of the type; 1 for a predicate."""
    digits = "".join(c for c in kind if c.isdigit())
    return int(digits) if digits else 1


@cache
def is_float(kind: str) -> bool:
    """Whether the type is a floating-point type."""
    return kind.startswith(_FLOATS)


@cache
def is_signed(kind: str) -> bool:
    """Whether the type is a signed integer type."""
    return kind[:1] == "s" and kind[1:].isdigit()
