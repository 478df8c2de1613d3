"""The limits of the semantics."""

from __future__ import annotations

MAX_REGISTER_DIGITS = 10
"""The maximum number of digits after the prefix of a numbered register (`%r12` of `%r<20>`): those of a number of 32
bits, since no more registers can be declared.
"""

MAX_NAME_LENGTH = 60
"""The maximum number of characters of a name in a message."""

MAX_DISPLAY_NAME = 28
"""The maximum number of characters of a name that a table repeats."""
