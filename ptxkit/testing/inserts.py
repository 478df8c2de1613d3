"""Every modifier of the table in every place of an instruction: most mean nothing there, and assemblers do not see all.

One instance of each form, on the first version and target that has it, is asked about with each modifier in each place
of its opcode; instances of another seed have other modifiers of their own. A campaign takes a part of these by chance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from random import Random

from ptxkit.isa.instances import spell
from ptxkit.records import dataclass
from ptxkit.testing.agreement import (
    Pair,
    Question,
    Tally,
    all_forms,
    compare,
    every_modifier,
    name_of,
    open_pairs,
)
from ptxkit.testing.ptxas import Ptxas
from ptxkit.testing.slots import shapes

FORMS_IN_A_SHARE = 12
"""Whole, some ten thousand texts, on few versions and targets."""


@dataclass(frozen=True, slots=True)
class InsertShare:
    """A part of a campaign: these forms (places in `all_forms`), and this part of the questions, from 0 to 1."""

    pairs: tuple[Pair, ...]
    forms: tuple[int, ...]
    part: float
    seed: int


def insert_shares(chosen: Iterable[int], pairs: Sequence[Pair], part: float, seed: int) -> list[InsertShare]:
    """A campaign over these forms, in parts that can be run apart."""
    places = list(chosen)
    starts = range(0, len(places), FORMS_IN_A_SHARE)
    return [InsertShare(tuple(pairs), tuple(places[at : at + FORMS_IN_A_SHARE]), part, seed) for at in starts]


def run_inserts(share: InsertShare, oracles: Sequence[Ptxas]) -> Tally:
    """Ask ptxkit, and every ptxas that knows the version and target."""
    tally = Tally()
    asked: dict[Pair, list[Question]] = defaultdict(list)
    preferred = Random(f"{share.seed} {share.forms}").sample(share.pairs, len(share.pairs))
    for place in share.forms:
        form = all_forms()[place]
        random = Random(f"{share.seed} {form.syntax}")
        found = list(shapes(form, random))
        text = spell(random.choice(found), random) if found else None
        if text is None:
            continue
        for pair in open_pairs(text, preferred, 1):
            asked[pair].append(Question(text, name_of(form), None))
            some = (each for each in inserted(text, every_modifier()) if random.random() < share.part)
            asked[pair] += [Question(changed, name_of(form), f"{at}: .{word}") for changed, at, word in some]
    for pair, questions in asked.items():
        compare(tally, questions, pair, oracles)
    return tally


def inserted(text: str, words: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """The instruction with each word in each place of its opcode behind the name: the text, the place, the word."""
    opcode, blank, operands = text.partition(" ")
    end = "" if blank else ";"
    name, *own = opcode.removesuffix(";").split(".")
    for at in range(len(own) + 1):
        for word in words:
            yield f"{'.'.join([name, *own[:at], word, *own[at:]])}{end}{blank}{operands}", at + 1, word
