"""The campaign: instances of forms and mutations of them, checked by ptxkit and by ptxas, whose verdicts are compared.

Instead of random mutations, all changes of an instance can be tried (`sweep`). One module contains one instruction, so
that no error hides another one.

A campaign consists of work units, each a part of the forms on one version and target. Work units are independent and
seeded by their contents, so that each can be repeated separately, and run in parallel.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from random import Random
from traceback import extract_tb

from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx8xx
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa import table
from ptxkit.isa.forms import Form
from ptxkit.isa.harness_module import harness_module
from ptxkit.isa.instance_generator import InstructionInstance, instances
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.testing.corpus.tolerated_differences import KnownDifference, Refusal, known_differences
from ptxkit.testing.differential.exhaustive_sweep import TextChange, enumerate_changes
from ptxkit.testing.differential.instruction_mutators import modifier_vocabulary, mutate_instruction
from ptxkit.testing.oracles.ptxas import Ptxas, Version
from ptxkit.validate import validate

VersionTarget = tuple[Version, str]

VERSION_TARGETS: tuple[VersionTarget, ...] = (
    ((6, 4), "sm_75"),
    ((7, 1), "sm_80"),
    ((7, 5), "sm_86"),
    ((7, 8), "sm_89"),
    ((8, 0), "sm_90"),
    ((8, 3), "sm_90a"),
    ((8, 6), "sm_100a"),
    ((8, 7), "sm_120a"),
    ((8, 8), "sm_103a"),
    ((8, 8), "sm_120f"),
    ((9, 0), "sm_110a"),
    ((9, 0), "sm_100f"),
    ((9, 2), "sm_90"),
    ((9, 4), "sm_107a"),
    ((9, 4), "sm_90a"),
    ((9, 5), "sm_75"),
    ((9, 5), "sm_100a"),
    ((9, 5), "sm_121a"),
)
"""The versions and targets of a whole campaign, from the oldest that ptxas supports to the newest."""

FORMS_PER_UNIT = 120
"""The number of forms of a work unit: some thousand texts, since starting ptxas takes longer than checking them."""

SWEPT_FORMS_PER_UNIT = 4
"""The number of forms of a work unit in a sweep: thousands of texts for each."""

FOREIGN_MODIFIERS = 4
"""Modifiers of any instruction that are inserted where they do not belong, in addition to those of the instruction's
own name."""

CRASH_PREFIX = "ptxkit breaks:"

UNSUPPORTED_CODE = ptx8xx.NEEDS_NEWER_VERSION
"""The code of a feature that the version or target lacks."""

_GUARD = re.compile(r"^@\S+ ")


@dataclass(frozen=True, slots=True)
class FormWorkUnit:
    """A part of a campaign. forms: their indices in the table. each: the number of instances of a form, and of
    mutations. sweep: instead of mutations, this fraction, from 0 to 1, of all changes of each instance.
    """

    pair: VersionTarget
    forms: tuple[int, ...]
    instances_per_form: int
    seed: int
    sweep_fraction: float = 0.0


@dataclass(frozen=True, slots=True)
class InstructionProbe:
    """An instruction to check. form: the name of its form (`name_of`). change: the description of the mutation, None
    for none."""

    text: str
    form: str
    change: str | None


@dataclass(frozen=True, slots=True)
class Difference:
    """An instruction on which ptxkit and a ptxas differ. ours, theirs: the reason of the rejection, None if
    accepted.
    """

    probe: InstructionProbe
    pair: VersionTarget
    release: str
    ours: str | None
    theirs: str | None


@dataclass(slots=True)
class DifferentialCounts:
    """The results. counts: (form, mutated, release, accepted by ptxkit, by ptxas) -> number. differences: those that no
    entry of `tolerated.toml` covers; known: the number that each entry covers. without: the forms of which no instance
    could be made."""

    counts: Counter[tuple[str, bool, str, bool, bool]] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    known_counts: Counter[KnownDifference] = field(default_factory=Counter)
    probe_count: int = 0
    forms_without_instance: set[str] = field(default_factory=set)

    def merge(self, other: DifferentialCounts) -> None:
        self.counts.update(other.counts)
        self.differences.extend(other.differences)
        self.known_counts.update(other.known_counts)
        self.probe_count += other.probe_count
        self.forms_without_instance |= other.forms_without_instance


def all_forms() -> list[Form]:
    """Returns the forms of the table, in the order of instruction names."""
    known = table()
    return [form for name in known.names for form in known.forms(name)]


@cache
def all_modifiers() -> list[str]:
    """Returns every modifier value of the table."""
    return sorted({value for form in all_forms() for slot in form.modifiers for value in slot.values})


def supporting_version_targets(text: str, pairs: Sequence[VersionTarget], most: int) -> list[VersionTarget]:
    """Returns the first of the versions and targets that support an instruction, or that reject it for another
    reason.
    """
    found: list[VersionTarget] = []
    for version, target in pairs:
        if not (ptxkit_refusal(harness_module([text], version, target)) or "").startswith(UNSUPPORTED_CODE):
            found.append((version, target))
            if len(found) == most:
                break
    return found


def form_label(form: Form) -> str:
    """Returns `integer.isa:15 add{.sat}.<t> d:t, a:t, b:t`: the location of the form, and its syntax."""
    return f"{form.file}:{form.line} {form.syntax.removeprefix('form ')}"


def form_work_units(
    chosen: Iterable[int], pairs: Sequence[VersionTarget], each: int, seed: int, *, sweep: float = 0.0
) -> list[FormWorkUnit]:
    """Returns the work units of a campaign over these forms (indices in `all_forms`)."""
    places, size = list(chosen), SWEPT_FORMS_PER_UNIT if sweep else FORMS_PER_UNIT
    parts = [tuple(places[start : start + size]) for start in range(0, len(places), size)]
    return [FormWorkUnit(pair, part, each, seed, sweep) for part in parts for pair in pairs]


def run_form_unit(share: FormWorkUnit, oracles: Sequence[Ptxas]) -> DifferentialCounts:
    """Checks a work unit with ptxkit and with every ptxas that supports its version and target."""
    tally = DifferentialCounts()
    compare(tally, list(_make_probes(share, tally)), share.pair, oracles)
    return tally


def compare(
    tally: DifferentialCounts, questions: Sequence[InstructionProbe], pair: VersionTarget, oracles: Sequence[Ptxas]
) -> None:
    """Checks instructions with both sides on a version and target, and counts the verdicts."""
    version, target = pair
    texts = [harness_module([question.text], version, target) for question in questions]
    ours = [ptxkit_refusal(text) for text in texts]
    for each in oracles:
        if each.supports(version, target):
            theirs = each.refusals(texts, target)
            for index, (question, own) in enumerate(zip(questions, ours, strict=True)):
                answer = theirs.get(index)
                if (own is None) != (answer is None):
                    answer = each.refusal(texts[index], target)
                _record_verdicts(tally, question, pair, each.release, own, answer)
    tally.probe_count += len(questions)


def _make_probes(share: FormWorkUnit, tally: DifferentialCounts) -> Iterator[InstructionProbe]:
    known, forms = table(), all_forms()
    for place in share.forms:
        form = forms[place]
        random = Random(f"{share.seed} {share.pair} {form.syntax}")
        words = [*modifier_vocabulary(form.name)]
        words += random.sample(all_modifiers(), FOREIGN_MODIFIERS)
        made = list(instances(form, known.value_gates, random, share.instances_per_form))
        if not made:
            tally.forms_without_instance.add(form_label(form))
        for instance in made:
            yield InstructionProbe(instance.text, form_label(form), None)
            changes = (
                _sample_sweep(share, instance, words, random)
                if share.sweep_fraction
                else [mutate_instruction(instance, words, random)]
            )
            for text, change in changes:
                yield InstructionProbe(text, form_label(form), change)


def _sample_sweep(
    share: FormWorkUnit, instance: InstructionInstance, words: Sequence[str], random: Random
) -> Iterator[TextChange]:
    """Returns a sample of all changes of an instance, or none if the version or target lacks the instruction itself."""
    version, target = share.pair
    if not (ptxkit_refusal(harness_module([instance.text], version, target)) or "").startswith(UNSUPPORTED_CODE):
        yield from (each for each in enumerate_changes(instance, words) if random.random() < share.sweep_fraction)


def _record_verdicts(
    tally: DifferentialCounts,
    question: InstructionProbe,
    pair: VersionTarget,
    release: str,
    ours: str | None,
    theirs: str | None,
) -> None:
    differ = (ours is None) != (theirs is None) or (ours or "").startswith(CRASH_PREFIX)
    accepts = "ptxkit" if ours is None else "ptxas"
    opcode = _GUARD.sub("", question.text).partition(" ")[0].rstrip(";")
    asked = (opcode, release, accepts, ours or theirs or "", question.text)
    known = next((each for each in known_differences() if each.covers(*asked)), None) if differ else None
    if known is not None:
        tally.known_counts[known] += 1
        return
    tally.counts[question.form, question.change is not None, release, ours is None, theirs is None] += 1
    if differ:
        tally.differences.append(Difference(question, pair, release, ours, theirs))


def ptxkit_refusal(text: str) -> str | None:
    """Returns the first error of ptxkit's parser and validator in a module, or None if they accept it.

    If they crash, the text begins with `BROKEN`, which differs from both verdicts.
    """
    try:
        verdict = validate(parse(text, "module.ptx"))
    except PTXSyntaxError as error:
        return f"syntax: {error.diagnostics[0].message}"
    except Exception as error:  # a crash in one of many texts is a result, and the campaign continues
        last = extract_tb(error.__traceback__)[-1]
        return f"{CRASH_PREFIX} {type(error).__name__}: {error} ({last.name}, line {last.lineno})"
    for found in verdict.diagnostics:
        if found.severity is Severity.ERROR:
            return Refusal(f"{found.code} {found.message}", found.facts)
    return None
