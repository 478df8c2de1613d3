"""What directives accept, and how much is remembered."""

from __future__ import annotations

MAX_U32 = (1 << 32) - 1
"""The largest constant of a directive."""

MAX_U32_DIGITS = 10
"""Digits of a number of 32 bits; one with more is not read."""

MAX_ALIGNMENT = (1 << 32) - 1
"""Bytes of `.align`, as far as ptxas reads them."""

MAX_PARAMETER_ALIGNMENT = 128
"""Bytes of `.align` of a function's parameter. Source: PTX ISA, "Alignment"."""

MAX_CACHED_MATCHES = 50_000
"""Kinds of instructions that the validator remembers for one version and target, whatever modules they came from."""

MAX_CACHED_CLASSES = 1024
"""Classes of registers that are kept as one object each: a type, with or without a component."""
