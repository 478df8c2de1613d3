"""The kinds of campaigns: each creates examples by their number, deterministically, for one oracle."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TypeAlias

from ptxkit.fast_dataclasses import dataclass, fields
from ptxkit.isa import table
from ptxkit.isa.forms import Form
from ptxkit.isa.harness_module import harness_module
from ptxkit.isa.instance_generator import instances
from ptxkit.refusal import RefusedError
from ptxkit.testing.corpus.example_recipes import recipe_of
from ptxkit.testing.corpus.examples import RECIPES_OPTION, Example
from ptxkit.testing.differential.campaign import VERSION_TARGETS, all_forms, form_label
from ptxkit.testing.differential.instruction_mutators import modifier_vocabulary, mutate_instruction
from ptxkit.testing.differential.whole_files import FileSample, find_ptx_files, mutate_text, original_samples
from ptxkit.testing.fuzz.hostile_text import hostile_text
from ptxkit.testing.generators.litmus import litmus_test
from ptxkit.testing.generators.random_kernels import random_kernel
from ptxkit.testing.limits import MAX_HOSTILE_CHARS, MAX_MUTATED_CHARS
from ptxkit.testing.oracles.compile_paths import LEVELS, launch_of
from ptxkit.testing.oracles.ptxas import installed_ptxas
from ptxkit.testing.pipelines.pipeline import GeneratedPipeline, break_pipeline, random_pipeline

Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FuzzCampaign:
    """A campaign. oracle: the name of a kind (`find_kind`). target, version: of generated code; with None there are
    many, and kernels are for sm_90a. corpus: folders whose files are mutated, instead of generated code.
    """

    oracle: str
    seed: int = 0
    target: str | None = None
    version: Version | None = None
    corpus: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key in the database: it differs for everything that changes the examples."""
        values = [getattr(self, each.name) for each in fields(type(self))]
        if find_kind(self.oracle).needs == "ptxas":
            values.append([each.release for each in installed_ptxas()])
        return sha256(json.dumps(values).encode()).hexdigest()[:16]

    @property
    def kernel_target(self) -> tuple[Version, str]:
        """Version and target of whole kernels."""
        return self.version or (8, 7), self.target or "sm_90a"

    def random_for(self, number: int) -> Random:
        """Returns the source of random choices of an example."""
        return Random(self.random_seed(number))

    def random_seed(self, number: int) -> str:
        """Returns the seed of that source."""
        return f"{self.oracle} {self.seed} {number}"


_HOSTILE_PERIOD = 20
"""One text in this many is changed to a hostile one."""

ExampleMaker: TypeAlias = Callable[[FuzzCampaign, int], Example]


@dataclass(frozen=True, slots=True)
class OracleKind:
    """An oracle of campaigns. make: creates an example by its number. share: examples in one work unit, which takes
    some seconds. needs: `gpu`, `ptxas` or empty. takes_corpus: whether it accepts mutated files.
    """

    summary: str
    make: ExampleMaker
    examples_per_unit: int
    needs: str = ""
    takes_corpus: bool = False


# ------------------------------------------------------------------------------------------- generators


def any_text(campaign: FuzzCampaign, number: int) -> Example:
    """Creates examples for oracles of robustness: mutated files, or instructions and kernels, half of them mutated
    too.
    """
    chance = campaign.random_for(number)
    if campaign.corpus:
        text = _mutated_file(campaign, chance).text
    else:
        kind = chance.randrange(10)
        made = _near_valid_module if kind < 6 else _random_kernel_text if kind < 8 else _random_pipeline_text
        text = made(campaign, chance)
        for _ in range(chance.choice((0, 0, 1, 1, 2, 4))):
            text, _change = mutate_text(text, chance)
    if chance.randrange(_HOSTILE_PERIOD) == 0 and len(text) <= MAX_HOSTILE_CHARS:
        text = hostile_text(text, chance)
    return Example("assert_survives", (text,))


def readable_text(campaign: FuzzCampaign, number: int) -> Example:
    """Creates examples for round trips: those of `any_text` that are valid PTX."""
    chance = campaign.random_for(number)
    if campaign.corpus:
        text = _mutated_file(campaign, chance).text
    else:
        text = (
            _random_kernel_text(campaign, chance) if chance.randrange(4) == 0 else _near_valid_module(campaign, chance)
        )
    return Example("assert_reads_back", (text,))


def ptxas_text(campaign: FuzzCampaign, number: int) -> Example:
    """Creates examples for ptxas: nearly valid instructions, each in its own module, or mutated files."""
    chance = campaign.random_for(number)
    if campaign.corpus:
        return Example("assert_ptxas_agrees", (_mutated_file(campaign, chance).text,))
    version, target = version_target_of(campaign, number)
    form, instruction = _random_instruction(chance)
    options = {"instruction": instruction, "form": form_label(form)}
    return Example("assert_ptxas_agrees", (harness_module([instruction], version, target),), None, options)


def kernel_maker(oracle: str, **options: object) -> ExampleMaker:
    """Returns a function that creates kernels without undefined behavior, and pipelines in a quarter of the cases, for
    an oracle that runs them.
    """

    def make(campaign: FuzzCampaign, number: int) -> Example:
        chance = campaign.random_for(number)
        version, target = campaign.kernel_target
        if chance.randrange(4) == 0:
            pipeline = random_pipeline(chance, target, version)
            return Example(oracle, (pipeline.module(),), pipeline.launch, options)
        kernel = random_kernel(chance, version, target)
        return Example(oracle, (kernel.module(),), launch_of(kernel), options)

    return make


def pipeline_example(campaign: FuzzCampaign, number: int) -> Example:
    """Creates correct and broken pipelines in turn."""
    chance = campaign.random_for(number)
    version, target = campaign.kernel_target
    made = random_pipeline(chance, target, version)
    if number % 2 and made.sites:
        made = break_pipeline(chance.randrange, made)
    return Example(
        "assert_verdicts_agree", (made.module(),), made.launch, {RECIPES_OPTION: {"source": recipe_of(made)}}
    )


def litmus_example(campaign: FuzzCampaign, number: int) -> Example:
    """Creates small programs with several threads."""
    test = litmus_test(campaign.random_for(number).randrange)
    return Example("assert_litmus", (test.module(),), test.launch, {RECIPES_OPTION: {"test": recipe_of(test)}})


KINDS: Mapping[str, OracleKind] = {
    "linter": OracleKind(
        "parser, linter and printer survive any text, in time and memory", any_text, 40, takes_corpus=True
    ),
    "round-trip": OracleKind("what is printed reads back as the same", readable_text, 100, takes_corpus=True),
    "ptxas": OracleKind("ptxkit and ptxas accept and refuse the same", ptxas_text, 1000, "ptxas", takes_corpus=True),
    "machine": OracleKind(
        "the reference machine finds nothing in kernels that are right", kernel_maker("on_machine"), 20
    ),
    "verdicts": OracleKind("rules and machine agree on pipelines, right and broken", pipeline_example, 10),
    "litmus": OracleKind("machine and rules agree with the memory model", litmus_example, 20),
    "machine-device": OracleKind(
        "the reference machine and the GPU leave the same", kernel_maker("assert_machine_matches_device"), 20, "gpu"
    ),
    "optimisation": OracleKind(
        "the GPU leaves the same at every level of optimization",
        kernel_maker("assert_optimisation_invariant", levels=list(LEVELS)),
        10,
        "gpu",
    ),
}


_ORACLE_HINT = f"the oracles are {', '.join(KINDS)}, and package.module:NAME for one of your own"


def find_kind(oracle: str) -> OracleKind:
    """Returns the kind of that name: a key of `KINDS`, or `package.module:NAME`. Raises RefusedError."""
    if oracle in KINDS:
        return KINDS[oracle]
    module, _, name = oracle.partition(":")
    try:
        found = getattr(import_module(module), name) if name else None
    except ImportError as error:
        raise RefusedError(f"the module of the oracle `{oracle}` cannot be imported", _ORACLE_HINT) from error
    except AttributeError as error:
        raise RefusedError(f"the module `{module}` has no `{name}`", _ORACLE_HINT) from error
    if not isinstance(found, OracleKind):
        raise RefusedError(f"there is no oracle `{oracle}`", _ORACLE_HINT)
    return found


# ------------------------------------------------------------------------------------------- parts


def version_target_of(campaign: FuzzCampaign, number: int) -> tuple[Version, str]:
    """Returns the version and target of an instruction.

    They are the same in a work unit, since ptxas takes one target at a time, and an installed ptxas supports them, if
    there is any.
    """
    if campaign.target is not None:
        there = [each.newest for each in installed_ptxas() if campaign.target in each.targets]
        return campaign.version or min((8, 7), max(there, default=(8, 7))), campaign.target
    chance = campaign.random_for(-1 - number // KINDS["ptxas"].examples_per_unit)
    return chance.choice(_supported_version_targets() or VERSION_TARGETS)


@cache
def _supported_version_targets() -> tuple[tuple[Version, str], ...]:
    return tuple(pair for pair in VERSION_TARGETS if any(each.supports(*pair) for each in installed_ptxas()))


def _random_instruction(chance: Random) -> tuple[Form, str]:
    while True:
        form = chance.choice(_forms())
        for instance in instances(form, table().value_gates, chance, 1):
            return form, mutate_instruction(instance, modifier_vocabulary(form.name), chance)[0] if chance.randrange(
                4
            ) else instance.text


def _near_valid_module(campaign: FuzzCampaign, chance: Random) -> str:
    version, target = (
        chance.choice(VERSION_TARGETS) if campaign.target is None else (campaign.version or (8, 7), campaign.target)
    )
    return harness_module([_random_instruction(chance)[1] for _ in range(chance.choice((1, 1, 2, 5)))], version, target)


def _random_kernel_text(campaign: FuzzCampaign, chance: Random) -> str:
    return random_kernel(chance, *campaign.kernel_target, statements=8).module()


def _random_pipeline_text(campaign: FuzzCampaign, chance: Random) -> str:
    version, target = campaign.kernel_target
    made: GeneratedPipeline = random_pipeline(chance, target, version)
    return (break_pipeline(chance.randrange, made) if made.sites and chance.randrange(2) else made).module()


def _mutated_file(campaign: FuzzCampaign, chance: Random) -> FileSample:
    known = original_files(campaign.corpus)
    original = chance.choice(known)
    text = original.text
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        text, _change = mutate_text(text, chance)
    return FileSample(original.origin, original.pair, text, "changed")


@cache
def original_files(corpus: tuple[str, ...]) -> list[FileSample]:
    """Returns the unchanged PTX files of some folders; files that are too large are skipped."""
    found = original_samples(find_ptx_files([Path(each) for each in corpus]))
    return [each for each in found if len(each.text) <= MAX_MUTATED_CHARS]


@cache
def _forms() -> list[Form]:
    return all_forms()
