"""Chains of two instructions: the first one writes the carry flag, and the second one reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.isa.targets import parse_target, unmet_gates
from ptxkit.testing.generators.form_variants import matches_of
from ptxkit.testing.generators.step_catalog import Steps, StepTemplate, Version

_CARRY_FUNCTION = "carry_op"
"""The function of the semantics of such an instruction."""

_CHAPTER = "Extended-Precision Arithmetic"

CarryTraits = Mapping[str, Any]
"""The arguments of the semantics: the type, the operation, and whether the carry is written or read."""


def chains(version: Version, target: str) -> Steps:
    """Returns each instruction that writes a carry with each one that reads it, by the form of the first."""
    found = list(_carry_instructions(version, target))
    readers = [(match, arguments) for match, arguments in found if arguments.get("takes")]
    made: dict[str, list[StepTemplate]] = {}
    for first, kept in found:
        if kept.get("keeps") and not kept.get("takes"):
            steps = (
                _chain(first, second, str(kept["type"])) for second, taken in readers if _are_compatible(kept, taken)
            )
            made.setdefault(first.form.syntax, []).extend(steps)
    return tuple(tuple(sorted(each, key=lambda step: len(step.template))) for each in made.values())


def _are_compatible(kept: CarryTraits, taken: CarryTraits) -> bool:
    """Returns whether both have the same type and operation: a subtraction writes a borrow, which is undefined for an
    addition.
    """
    are_differences = {each["operation"] == "sub" for each in (kept, taken)}
    return bool(kept["type"] == taken["type"]) and len(are_differences) == 1


def _chain(first: Match, second: Match, word: str) -> StepTemplate:
    """Returns a template with two results, followed by the operands of both instructions."""
    counts = [len(each.operands) - 1 for each in (first, second)]
    places = iter(range(2, 2 + sum(counts)))
    lines = []
    for result, (match, count) in enumerate(zip((first, second), counts, strict=True)):
        operands = ", ".join(f"{{{next(places)}}}" for _ in range(count))
        lines.append(f"{match.canonical} {{{result}}}, {operands};")
    return StepTemplate(first.form.syntax, " ".join(lines), (word, word), (word,) * sum(counts), takes_guard=False)


def _carry_instructions(version: Version, target: str) -> Iterator[tuple[Match, CarryTraits]]:
    """Yields instructions that write or read a carry, with the arguments of their semantics."""
    aimed = parse_target(target)
    known = table()
    for form in (form for name in known.names for form in known.forms(name)):
        if form.tolerated or not form.section.startswith(_CHAPTER):
            continue
        for match in matches_of(form, Random(1)):
            arguments = [each.named_arguments for each in known.semantics_of(match) if each.function == _CARRY_FUNCTION]
            if arguments and not unmet_gates(tuple(match.gates), version, aimed):
                yield match, arguments[0]
