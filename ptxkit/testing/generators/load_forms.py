"""Loads of data that no thread writes: the loads of one element from global memory that the table has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from random import Random

from ptxkit.isa import table
from ptxkit.isa.binding import bind_form
from ptxkit.isa.forms import Form, Match
from ptxkit.isa.targets import parse_target, unmet_gates
from ptxkit.testing.generators.form_variants import satisfies_rules
from ptxkit.testing.generators.step_catalog import Version
from ptxkit.testing.limits import MAX_VARIANTS_PER_FORM

WIDTHS = (8, 16, 32, 64)


@cache
def loads_of(version: Version, target: str, *, acquiring: bool = True) -> dict[int, tuple[str, ...]]:
    """Returns opcodes by the width of the register in bits, with the simplest first. acquiring: includes `ld.acquire`
    and similar ones.
    """
    aimed = parse_target(target)
    found: dict[int, tuple[str, ...]] = {}
    for width in WIDTHS:
        opcodes = {f"ld.global.b{width}"}
        for form in _load_forms():
            fitting = (
                each for each in _matches(form, f"b{width}") if not unmet_gates(tuple(each.gates), version, aimed)
            )
            some = [each for _, each in zip(range(MAX_VARIANTS_PER_FORM), fitting, strict=False)]
            opcodes |= {each.canonical for each in some if acquiring or each.modifiers.get("sem") != "acquire"}
        found[width] = tuple(sorted(opcodes, key=lambda opcode: (opcode != f"ld.global.b{width}", len(opcode), opcode)))
    return found


@cache
def _load_forms() -> tuple[Form, ...]:
    """Returns forms that load a register from an address in global memory, with an address for each lane."""
    known = table()
    forms = (form for name in known.names for form in known.forms(name) if not form.tolerated)
    return tuple(
        form
        for form in forms
        if [each.name for each in form.effects] == ["read", "value"]
        and {each.role for each in form.operands} <= {"d", "a", "policy"}
        and any("global" in slot.values for slot in form.modifiers)
    )


def _matches(form: Form, type: str) -> Iterator[Match]:  # noqa: A002
    """Yields matches for one element of that type, without a memory order."""
    values: list[tuple[str | None, ...]] = []
    for slot in form.modifiers:
        if type in slot.values:
            values.append((type,))
        elif "global" in slot.values:
            values.append(("global",))
        elif slot.name == "vec":
            values.append((None,))
        else:
            values.append((None, *slot.values) if slot.optional else tuple(slot.values))
    opcodes = list(product(*values))
    Random(1).shuffle(opcodes)
    names = [slot.name for slot in form.modifiers]
    for opcode in opcodes:
        chosen = dict(zip(names, opcode, strict=True))
        if all(value is None or value in slot.values for slot, value in zip(form.modifiers, opcode, strict=True)) and (
            satisfies_rules(form, chosen)
        ):
            matches = bind_form(form, chosen, table().value_gates)
            yield from (each for each in matches if set(each.roles) == {"d", "a"})
