"""Limits of directives, and sizes of caches."""

from __future__ import annotations

MAX_U32 = (1 << 32) - 1
"""The largest constant of a directive."""

MAX_U32_DIGITS = 10
"""The digits of a number of 32 bits; one with more is not parsed."""

MAX_ALIGNMENT = (1 << 32) - 1
"""The largest `.align` in bytes that ptxas reads."""

MAX_PARAMETER_ALIGNMENT = 128
"""The largest `.align` of a function's parameter in bytes. Source: PTX ISA, "Alignment"."""

MAX_CACHED_MATCHES = 50_000
"""The number of kinds of instructions that the validator caches for one version and target, for all modules."""

MAX_CACHED_CLASSES = 1024
"""The number of classes of registers that are shared as one object each: a type, with or without a component."""
