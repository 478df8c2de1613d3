"""What the semantics remember and read."""

from __future__ import annotations

MAX_REGISTER_DIGITS = 10
"""Digits after the prefix of a numbered register (`%r12` of `%r<20>`): those of a number of 32 bits, since no more
registers can be declared."""
