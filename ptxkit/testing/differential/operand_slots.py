"""Puts every kind of operand in every place of every form, which mutations do not cover and sweeps cover rarely.

For each form, there is one plain instruction of each operand shape (its operands for a choice of modifiers and optional
parts) on versions and targets that support it; each kind of `operand_kinds` is put into each of its places, including
those in braces and brackets. A campaign checks a random part of these; another seed selects other parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import ceil, sqrt
from random import Random

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.binding import bind_form
from ptxkit.isa.forms import Form, Match
from ptxkit.isa.instance_generator import modifier_choices, spell_instruction
from ptxkit.isa.operand_spellings import DECLARABLE
from ptxkit.testing.differential.campaign import (
    DifferentialCounts,
    InstructionProbe,
    VersionTarget,
    all_forms,
    compare,
    form_label,
    supporting_version_targets,
)
from ptxkit.testing.differential.instruction_mutators import split_instruction
from ptxkit.testing.generators.operand_kinds import address_bases, operand_kinds, vector_operand
from ptxkit.testing.oracles.ptxas import Ptxas

MODIFIER_CHOICES = 40
"""The number of modifier choices of a form, with each value in turn, that are searched for operand shapes."""

VERSION_TARGETS_PER_SHAPE = 2
"""The number of versions and targets on which a shape is checked. They are the first that support it in an order that
all forms of a work unit share, so that few processes of ptxas check many texts.
"""

FORMS_PER_UNIT = (4, 40)
"""The number of forms of a work unit: some thousand texts in all, some hundred for each version and target."""

Slot = tuple[str, str]
"""The description of a place in an instruction, and the instruction with `@` in that place."""


@dataclass(frozen=True, slots=True)
class SlotWorkUnit:
    """A part of a campaign: these forms (indices in `all_forms`), and about this fraction of the texts, from 0 to 1.
    Only a sample of the shapes is used, since a shape costs more than its texts.
    """

    pairs: tuple[VersionTarget, ...]
    forms: tuple[int, ...]
    fraction: float
    seed: int


def slot_work_units(
    chosen: Iterable[int], pairs: Sequence[VersionTarget], part: float, seed: int
) -> list[SlotWorkUnit]:
    """Returns the work units of a campaign over these forms."""
    places, (least, most) = list(chosen), FORMS_PER_UNIT
    size = min(max(least, round(least / (10 * sqrt(part)))), most)
    return [
        SlotWorkUnit(tuple(pairs), tuple(places[start : start + size]), part, seed)
        for start in range(0, len(places), size)
    ]


def run_slot_unit(share: SlotWorkUnit, oracles: Sequence[Ptxas]) -> DifferentialCounts:
    """Checks a work unit with ptxkit, and with every ptxas that supports the version and target."""
    tally = DifferentialCounts()
    asked: dict[VersionTarget, list[InstructionProbe]] = defaultdict(list)
    for place in share.forms:
        for pair, question in _make_probes(share, all_forms()[place]):
            asked[pair].append(question)
    for pair, questions in asked.items():
        compare(tally, questions, pair, oracles)
    return tally


def operand_shapes(form: Form, random: Random) -> Iterator[Match]:
    """Yields one match of each operand shape that is found."""
    seen = set()
    for modifiers in modifier_choices(form, random, MODIFIER_CHOICES):
        for match in bind_form(form, modifiers, table().value_gates):
            if match.operands not in seen:
                seen.add(match.operands)
                yield match


def slots(text: str) -> Iterator[Slot]:
    """Yields all places of an instruction; of a long vector the first, the second and the last element."""
    opcode, operands = split_instruction(text)
    for place, word in enumerate(operands):
        for name, changed in chain([("", "@")], _nested_slots(word)):
            words = [*operands[:place], changed, *operands[place + 1 :]]
            yield f"{place + 1}{name}", f"{opcode} {', '.join(words)};"


def _nested_slots(word: str) -> Iterator[Slot]:
    """Yields the places inside an operand: elements in braces, the base of an address and what follows it."""
    if "|" in word:
        first, _, second = word.partition("|")
        yield from ((".1", f"@|{second}"), (".2", f"{first}|@"))
    elif word[0] in "[{" and word[-1] in "]}":
        _, parts = split_instruction(f"_ {word[1:-1]}")
        is_address = word[0] == "["
        for place, part in enumerate(parts):
            if 2 <= place < len(parts) - 1 or (is_address and len(parts) == 1):
                continue
            for name, changed in chain([("", "@")], _nested_slots(part) if is_address and place else ()):
                inside = ", ".join([*parts[:place], changed, *parts[place + 1 :]])
                number = " base" if is_address and not place else f".{place + is_address * 0 + 1}"
                yield f"{number}{name}", f"{word[0]}{inside}{word[-1]}"


def slot_fillings(slot: str, word: str) -> Iterator[str]:
    """Yields the operands for a slot of that name, where `word` is the present operand."""
    if slot.endswith("base"):
        yield from address_bases()
        return
    yield from operand_kinds(inside="." in slot and not word.startswith("{"))
    count = len(split_instruction(f"_ {word[1:-1]}")[1]) if word.startswith("{") else 1
    if count not in (1, 2, 4, 8):
        yield from (vector_operand(count, kind) for kind in DECLARABLE)


def _make_probes(share: SlotWorkUnit, form: Form) -> Iterator[tuple[VersionTarget, InstructionProbe]]:
    random = Random(f"{share.seed} {form.syntax}")
    preferred = Random(f"{share.seed} {share.forms}").sample(share.pairs, len(share.pairs))
    found, chance = list(operand_shapes(form, random)), sqrt(share.fraction)
    for match in random.sample(found, ceil(chance * len(found))):
        text = spell_instruction(match, random)
        if text is None:
            continue
        pairs = supporting_version_targets(text, preferred, VERSION_TARGETS_PER_SHAPE)
        for slot, frame in slots(text):
            before, _, after = frame.partition("@")
            for kind in slot_fillings(slot, text[len(before) : len(text) - len(after)]):
                if random.random() < chance:
                    changed = f"{before}{kind}{after}"
                    for pair in pairs:
                        yield pair, InstructionProbe(changed, form_label(form), f"{slot}: {kind}")
        for pair in pairs:
            yield pair, InstructionProbe(text, form_label(form), None)
