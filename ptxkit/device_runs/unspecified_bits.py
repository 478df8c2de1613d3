"""Instructions whose results the manual does not specify in all bits."""

from __future__ import annotations

import re

from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.syntax import parse
from ptxkit.syntax.nested_instructions import iterate_instructions

APPROXIMATE_FUNCTIONS, TENSOR_CORE_SUMS, ATOMIC_SUMS = (
    "approximate functions",
    "sums of tensor cores",
    "floating-point sums by atomics",
)
"""Reasons for unspecified bits, followed by the names of the instructions."""

_REASONS = {
    "approximately": APPROXIMATE_FUNCTIONS,
    "divide_approximately": APPROXIMATE_FUNCTIONS,
    **dict.fromkeys(("mma", "mma_sparse", "mma_scaled", "wgmma", "wgmma_sparse"), TENSOR_CORE_SUMS),
    **dict.fromkeys(("atomic", "bulk_reduce", "box_reduce", "reduce_async"), ATOMIC_SUMS),
}
"""The reasons by the semantic function of the table."""

_TYPE = re.compile(r"(?P<kind>[bsu]|bf|tf|f|e\d+m)\d+(x\d+)?")
"""A word that is an element type; a tensor map has a separate type when the kernel runs."""


def unspecified_bits(text: str) -> str:
    """Returns why the manual leaves bits of a module's results unspecified, and by which instructions, or an empty
    text.
    """
    found: dict[str, set[str]] = {}
    bodies = (function.body for function in parse(text).functions() if function.body is not None)
    for each in (each for body in bodies for each in iterate_instructions(body.statements)):
        match = table().match(each)
        reason = _unspecified_reason(match) if isinstance(match, Match) else None
        if reason is not None:
            found.setdefault(reason, set()).add(each.opcode)
    return "; ".join(f"{reason} ({', '.join(sorted(names))})" for reason, names in sorted(found.items()))


def _unspecified_reason(match: Match) -> str | None:
    for meaning in table().semantics_of(match):
        reason = _REASONS.get(meaning.function)
        types = [_TYPE.fullmatch(str(word)) for word in meaning.named_arguments.values()]
        known = [each["kind"] for each in types if each is not None]
        if reason == APPROXIMATE_FUNCTIONS or (reason is not None and (not known or set(known) - set("bsu"))):
            return reason
    return None
