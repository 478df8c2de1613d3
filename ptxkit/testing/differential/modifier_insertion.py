"""Inserts every modifier of the table in every place of an instruction: most are invalid there, and assemblers ignore
some.

One instance of each form, on the first version and target that supports it, is checked with each modifier in each place
of its opcode; instances of another seed have other modifiers. A campaign checks a random part of these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from random import Random

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.instance_generator import spell_instruction
from ptxkit.testing.differential.campaign import (
    DifferentialCounts,
    InstructionProbe,
    VersionTarget,
    all_forms,
    all_modifiers,
    compare,
    form_label,
    supporting_version_targets,
)
from ptxkit.testing.differential.operand_slots import operand_shapes
from ptxkit.testing.oracles.ptxas import Ptxas

FORMS_PER_UNIT = 12
"""The number of forms of a work unit: some ten thousand texts without sampling, on few versions and targets."""


@dataclass(frozen=True, slots=True)
class InsertionWorkUnit:
    """A part of a campaign: these forms (indices in `all_forms`), and this fraction of the texts, from 0 to 1."""

    pairs: tuple[VersionTarget, ...]
    forms: tuple[int, ...]
    fraction: float
    seed: int


def insertion_work_units(
    chosen: Iterable[int], pairs: Sequence[VersionTarget], part: float, seed: int
) -> list[InsertionWorkUnit]:
    """Returns the work units of a campaign over these forms."""
    places = list(chosen)
    starts = range(0, len(places), FORMS_PER_UNIT)
    return [InsertionWorkUnit(tuple(pairs), tuple(places[at : at + FORMS_PER_UNIT]), part, seed) for at in starts]


def run_insertion_unit(share: InsertionWorkUnit, oracles: Sequence[Ptxas]) -> DifferentialCounts:
    """Checks a work unit with ptxkit, and with every ptxas that supports the version and target."""
    tally = DifferentialCounts()
    asked: dict[VersionTarget, list[InstructionProbe]] = defaultdict(list)
    preferred = Random(f"{share.seed} {share.forms}").sample(share.pairs, len(share.pairs))
    for place in share.forms:
        form = all_forms()[place]
        random = Random(f"{share.seed} {form.syntax}")
        found = list(operand_shapes(form, random))
        text = spell_instruction(random.choice(found), random) if found else None
        if text is None:
            continue
        for pair in supporting_version_targets(text, preferred, 1):
            asked[pair].append(InstructionProbe(text, form_label(form), None))
            some = (each for each in insert_modifiers(text, all_modifiers()) if random.random() < share.fraction)
            asked[pair] += [InstructionProbe(changed, form_label(form), f"{at}: .{word}") for changed, at, word in some]
    for pair, questions in asked.items():
        compare(tally, questions, pair, oracles)
    return tally


def insert_modifiers(text: str, words: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Yields the instruction with each word in each place of its opcode after the name: the text, the place, the
    word.
    """
    opcode, blank, operands = text.partition(" ")
    end = "" if blank else ";"
    name, *own = opcode.removesuffix(";").split(".")
    for at in range(len(own) + 1):
        for word in words:
            yield f"{'.'.join([name, *own[:at], word, *own[at:]])}{end}{blank}{operands}", at + 1, word
