"""What a campaign asks: examples by their number, the same each time, and the oracle that each kind is for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TypeAlias

from ptxkit.isa import table
from ptxkit.isa.forms import Form
from ptxkit.isa.instances import instances
from ptxkit.isa.scaffold import scaffold
from ptxkit.records import dataclass, fields
from ptxkit.testing.agreement import PAIRS, all_forms, name_of
from ptxkit.testing.arrangements.kernel import Pipeline, broken_one, random_pipeline
from ptxkit.testing.examples import MADE, Example
from ptxkit.testing.fuzz.hostile import hostile_text
from ptxkit.testing.generator import random_kernel
from ptxkit.testing.litmus import litmus_test
from ptxkit.testing.machine_code import LEVELS, launch_of
from ptxkit.testing.mutations import mutate
from ptxkit.testing.ptxas import installed
from ptxkit.testing.recipes import recipe_of
from ptxkit.testing.whole_files import LARGEST, Sample, changed_text, files, unchanged

Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Campaign:
    """What is asked. oracle: the name of a kind (`kind_of`). target, version: of generated code; None: many, and sm_90a
    for kernels.

    corpus: folders of which files are changed, in the place of generated code.
    """

    oracle: str
    seed: int = 0
    target: str | None = None
    version: Version | None = None
    corpus: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """By which a database knows it: another one for anything that changes the examples."""
        told = [getattr(self, each.name) for each in fields(type(self))]
        if kind_of(self.oracle).needs == "ptxas":
            told.append([each.release for each in installed()])
        return sha256(json.dumps(told).encode()).hexdigest()[:16]

    @property
    def kernel_aim(self) -> tuple[Version, str]:
        """Version and target of whole kernels."""
        return self.version or (8, 7), self.target or "sm_90a"

    def chance(self, number: int) -> Random:
        """What decides about an example."""
        return Random(self.chance_of(number))

    def chance_of(self, number: int) -> str:
        """What that begins with."""
        return f"{self.oracle} {self.seed} {number}"


_HOSTILE_OF, _HOSTILE_LARGEST = 20, 8000
"""One text of so many, and of at most so many characters, becomes as no compiler writes it."""

Maker: TypeAlias = Callable[[Campaign, int], Example]


@dataclass(frozen=True, slots=True)
class Kind:
    """An oracle as campaigns know it. make: an example by its number. share: examples done at once, some seconds.

    needs: `gpu`, `ptxas` or nothing. takes_corpus: whether it can be asked about changed files.
    """

    summary: str
    make: Maker
    share: int
    needs: str = ""
    takes_corpus: bool = False


# ------------------------------------------------------------------------------------------- makers


def any_text(campaign: Campaign, number: int) -> Example:
    """For what must survive anything: changed files, or instructions and kernels, half of these changed too."""
    chance = campaign.chance(number)
    if campaign.corpus:
        text = _changed_file(campaign, chance).text
    else:
        kind = chance.randrange(10)
        made = _near_valid if kind < 6 else _kernel if kind < 8 else _any_pipeline
        text = made(campaign, chance)
        for _ in range(chance.choice((0, 0, 1, 1, 2, 4))):
            text, _change = changed_text(text, chance)
    if chance.randrange(_HOSTILE_OF) == 0 and len(text) <= _HOSTILE_LARGEST:
        text = hostile_text(text, chance)
    return Example("assert_survives", (text,))


def readable_text(campaign: Campaign, number: int) -> Example:
    """For what must read back as itself: the same, but for what is no PTX at all."""
    chance = campaign.chance(number)
    if campaign.corpus:
        text = _changed_file(campaign, chance).text
    else:
        text = _kernel(campaign, chance) if chance.randrange(4) == 0 else _near_valid(campaign, chance)
    return Example("assert_reads_back", (text,))


def judged_text(campaign: Campaign, number: int) -> Example:
    """For ptxas: near-valid instructions, each in a module of its own, or changed files."""
    chance = campaign.chance(number)
    if campaign.corpus:
        return Example("assert_ptxas_agrees", (_changed_file(campaign, chance).text,))
    version, target = aim_of(campaign, number)
    form, instruction = _instruction(chance)
    options = {"instruction": instruction, "form": name_of(form)}
    return Example("assert_ptxas_agrees", (scaffold([instruction], version, target),), None, options)


def whole_kernel(oracle: str, **options: object) -> Maker:
    """Kernels without undefined behaviour, and every fourth time a pipeline, for an oracle that runs them."""

    def make(campaign: Campaign, number: int) -> Example:
        chance = campaign.chance(number)
        version, target = campaign.kernel_aim
        if chance.randrange(4) == 0:
            pipeline = random_pipeline(chance, target, version)
            return Example(oracle, (pipeline.module(),), pipeline.launch, options)
        kernel = random_kernel(chance, version, target)
        return Example(oracle, (kernel.module(),), launch_of(kernel), options)

    return make


def some_pipeline(campaign: Campaign, number: int) -> Example:
    """Right and broken ones in turns."""
    chance = campaign.chance(number)
    version, target = campaign.kernel_aim
    made = random_pipeline(chance, target, version)
    if number % 2 and made.sites:
        made = broken_one(chance.randrange, made)
    return Example("assert_verdicts_agree", (made.module(),), made.launch, {MADE: {"source": recipe_of(made)}})


def some_litmus(campaign: Campaign, number: int) -> Example:
    """Small programs of several threads."""
    test = litmus_test(campaign.chance(number).randrange)
    return Example("assert_litmus", (test.module(),), test.launch, {MADE: {"test": recipe_of(test)}})


KINDS: Mapping[str, Kind] = {
    "linter": Kind("parser, linter and printer survive any text, in time and memory", any_text, 40, takes_corpus=True),
    "round-trip": Kind("what is printed reads back as the same", readable_text, 100, takes_corpus=True),
    "ptxas": Kind("ptxkit and ptxas accept and refuse the same", judged_text, 1000, "ptxas", takes_corpus=True),
    "machine": Kind("the reference machine finds nothing in kernels that are right", whole_kernel("on_machine"), 20),
    "verdicts": Kind("rules and machine agree on pipelines, right and broken", some_pipeline, 10),
    "litmus": Kind("machine and rules agree with the memory model", some_litmus, 20),
    "machine-device": Kind(
        "the reference machine and the GPU leave the same", whole_kernel("assert_machine_matches_device"), 20, "gpu"
    ),
    "optimisation": Kind(
        "the GPU leaves the same at every level of optimisation",
        whole_kernel("assert_optimisation_invariant", levels=list(LEVELS)),
        10,
        "gpu",
    ),
}


def kind_of(oracle: str) -> Kind:
    """The kind of that name: a key of `KINDS`, or `package.module:NAME` for one's own. Raises ValueError."""
    if oracle in KINDS:
        return KINDS[oracle]
    module, _, name = oracle.partition(":")
    try:
        found = getattr(import_module(module), name) if name else None
    except (ImportError, AttributeError) as error:
        raise ValueError(f"there is no {oracle}: {error}") from error
    if not isinstance(found, Kind):
        raise ValueError(f"there is no oracle {oracle!r}; there are {', '.join(KINDS)}, and package.module:KIND")
    return found


# ------------------------------------------------------------------------------------------- parts


def aim_of(campaign: Campaign, number: int) -> tuple[Version, str]:
    """Version and target of an instruction: the same for all of a share, since ptxas takes one target at a time.

    Of those that a ptxas of this machine knows, if any.
    """
    if campaign.target is not None:
        there = [each.newest for each in installed() if campaign.target in each.targets]
        return campaign.version or min((8, 7), max(there, default=(8, 7))), campaign.target
    chance = campaign.chance(-1 - number // KINDS["ptxas"].share)
    return chance.choice(_pairs_there() or PAIRS)


@cache
def _pairs_there() -> tuple[tuple[Version, str], ...]:
    return tuple(pair for pair in PAIRS if any(each.knows(*pair) for each in installed()))


def _instruction(chance: Random) -> tuple[Form, str]:
    while True:
        form = chance.choice(_forms())
        for instance in instances(form, table().value_gates, chance, 1):
            return form, mutate(instance, _words(form.name), chance)[0] if chance.randrange(4) else instance.text


def _near_valid(campaign: Campaign, chance: Random) -> str:
    version, target = chance.choice(PAIRS) if campaign.target is None else (campaign.version or (8, 7), campaign.target)
    return scaffold([_instruction(chance)[1] for _ in range(chance.choice((1, 1, 2, 5)))], version, target)


def _kernel(campaign: Campaign, chance: Random) -> str:
    return random_kernel(chance, *campaign.kernel_aim, statements=8).module()


def _any_pipeline(campaign: Campaign, chance: Random) -> str:
    version, target = campaign.kernel_aim
    made: Pipeline = random_pipeline(chance, target, version)
    return (broken_one(chance.randrange, made) if made.sites and chance.randrange(2) else made).module()


def _changed_file(campaign: Campaign, chance: Random) -> Sample:
    known = originals(campaign.corpus)
    original = chance.choice(known)
    text = original.text
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        text, _change = changed_text(text, chance)
    return Sample(original.origin, original.pair, text, "changed")


@cache
def originals(corpus: tuple[str, ...]) -> list[Sample]:
    """The PTX files of some folders that are changed, as they are; those that are too large are left out."""
    found = unchanged(files([Path(each) for each in corpus]))
    return [each for each in found if len(each.text) <= LARGEST]


@cache
def _forms() -> list[Form]:
    return all_forms()


@cache
def _words(name: str) -> list[str]:
    return sorted({value for form in table().forms(name) for slot in form.modifiers for value in slot.values})
