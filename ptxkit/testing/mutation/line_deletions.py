"""Deletes each synchronization line of any PTX file, and classifies the findings of ptxkit for the result.

The operators of `deletion_operators` know which rule each deletion breaks, and serve kernels that are well known.
Here nothing is known about a file: every instruction that the table's effects call synchronization is deleted, the
text is linted as the original is, and the outcome is one of five.

* *reported*: an error or a warning, of any code, at a line where the original has none of that code.
* *redundant*: no such finding, and a note about the original calls the line redundant (`ptx9xx.REDUNDANT_CODES`).
* *open*: neither, but an open question about synchronization (PTX3xx to PTX7xx): with a code at a line where
  the original has none of that code, or one that holds under conditions, which do not suffice any more; or one of the
  original at a site that the deleted line concerns.
* *strict*: none of these, but such a finding under `--policy strict`.
* *silent*: none of these. It is a defect unless the deletion is equivalent, as a file of explanations may show.

A kernel that has open questions anyway is not open for that reason. The sites that a line concerns are the instruction
itself; for operations on an mbarrier, the others whose address is written with the same operand; and for barriers,
fences, waits and commits, the instructions from which a path leads to the line, or to which a path leads from it,
without another instruction of the same kind between. Questions about mbarriers (PTX5xx), such as that for the bytes of
a copy, concern operations on mbarriers only. A question about any other place does not count: it would
also be there if the line had never mattered.

A wait with a result (`mbarrier.try_wait`) is not just removed, which would leave its predicate undefined: the predicate
becomes true, as if the phase had been complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from random import Random
from time import process_time

from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Diagnostic, Severity, Undecided, Verdict
from ptxkit.diagnostics.catalogue import ptx9xx
from ptxkit.fast_dataclasses import dataclass
from ptxkit.gc_control import pause_collection
from ptxkit.isa.effects import (
    Access,
    Barrier,
    CommitGroup,
    Effect,
    Grid,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierEffect,
    MbarrierExpect,
    MbarrierInit,
    MbarrierTrack,
    MbarrierWait,
    MemoryFence,
    ProxyFence,
    RegisterFence,
    TensorFence,
    WaitGroup,
)
from ptxkit.isa.forms import Match
from ptxkit.linter import lint
from ptxkit.settings.model import Policy
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Name
from ptxkit.testing.mutation.campaign import CorpusKernel
from ptxkit.testing.mutation.edits import splice_text
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis, analyze_functions
from ptxkit.testing.mutation.mutant import Mutant

_ALWAYS = (
    CommitGroup,
    MbarrierArrive,
    MbarrierExpect,
    MbarrierInit,
    MbarrierTrack,
    MbarrierWait,
    MemoryFence,
    ProxyFence,
    RegisterFence,
    TensorFence,
    WaitGroup,
)

_MBARRIER_CODES = "PTX5"
_SYNC_CODES = ("PTX3", "PTX4", _MBARRIER_CODES, "PTX6", "PTX7")
"""The prefixes of the groups of codes about synchronization."""

REDUNDANT: frozenset[str] = frozenset(ptx9xx.REDUNDANT_CODES)
"""The codes of the notes that call an instruction redundant."""

Sites = frozenset[tuple[str, int]]
"""Codes with their lines."""


@dataclass(frozen=True, slots=True)
class LineDeletion:
    """A deleted line. sites: the lines at which an open question of the original is one about it. is_on_mbarrier:
    whether it is an operation on an mbarrier.
    """

    mutant: Mutant
    sites: frozenset[int]
    is_on_mbarrier: bool

    def concerns(self, code: str, line: int) -> bool:
        """Returns whether an open question of the original is one about the deleted line."""
        return line in self.sites and (self.is_on_mbarrier or not code.startswith(_MBARRIER_CODES))


@dataclass(frozen=True, slots=True)
class DeletionOutcome:
    """The result of ptxkit for a deletion.

    kind: `reported`, `redundant`, `open`, `strict` or `silent`. codes: of the new findings, of the questions, or of the
    notes that call the line redundant. seconds: the processor time of the check.
    """

    mutant: Mutant
    kind: str
    codes: tuple[str, ...]
    seconds: float = 0.0

    @property
    def is_contradiction(self) -> bool:
        """Whether the line is called redundant, and its deletion is reported."""
        return self.kind == "reported" and not REDUNDANT.isdisjoint(self.codes)


@dataclass(frozen=True, slots=True)
class FileDeletions:
    """The outcomes for one file. found: the number of synchronization lines. errors, warnings: the findings of the
    original, as text. questions: its open questions. skipped: the number of chosen deletions that were not checked, as
    the budget was used up.
    """

    name: str
    found: int
    outcomes: tuple[DeletionOutcome, ...]
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    questions: int = 0
    skipped: int = 0
    seconds: float = 0.0


def is_synchronization(step: Step) -> bool:
    """Returns whether an instruction does nothing but order or expect operations.

    Copies that signal an mbarrier or contain a fence have another purpose, and so have collective instructions of a
    warp with the barrier in them. `griddepcontrol.launch_dependents` orders nothing.
    """
    copies = any(isinstance(each, Access) and each.kind != "read" for each in step.effects)
    return not copies and any(map(_synchronizes, step.effects))


def _synchronizes(effect: Effect) -> bool:
    match effect:
        case Barrier(level=level, order=order):
            return (level, order) != ("warp", "relaxed")
        case Grid(action=action):
            return action == "wait"
        case MbarrierComplete(asynchronous=asynchronous):
            return not asynchronous
    return isinstance(effect, _ALWAYS)


def find_line_deletions(kernel: CorpusKernel) -> list[LineDeletion]:
    """Returns the deletion of each synchronization line of a file, in the order of the text."""
    found = []
    seen: Counter[tuple[str, str]] = Counter()
    for reading in analyze_functions(kernel.text, kernel.name):
        for step in reading.steps:
            if step.match is None or not is_synchronization(step):
                continue
            family, change = _family(step.match), f"`{reading.text(step)}` deleted"
            seen[family, change] += 1
            mutant = Mutant(
                kernel.name,
                reading.program.function.name,
                reading.line(step),
                family,
                (),
                change,
                seen[family, change],
                (splice_text(reading, step, _replacement(step)),),
                reading.skipping_branches(step.start),
            )
            sites = frozenset(_concerned_lines(reading, step))
            found.append(LineDeletion(mutant, sites, bool(_barrier_operands(step))))
    return found


def _family(match: Match) -> str:
    """Returns the opcode of a form without its optional modifiers."""
    required = (match.modifiers[each.name] for each in match.form.modifiers if not each.optional)
    return ".".join([match.form.name, *filter(None, required)])


def _replacement(step: Step) -> str:
    """Returns the text that replaces a deleted instruction: none, or the success of a wait."""
    for effect in step.effects:
        result = step.operand(effect.result) if isinstance(effect, MbarrierWait) else None
        if isinstance(result, Name):
            return f"setp.eq.u32 {result.text}, 0, 0;"
    return ""


def _concerned_lines(reading: FunctionAnalysis, step: Step) -> set[int]:
    """Returns the lines at which an open question is one about an instruction; see the module's text."""
    found = {reading.line(step)}
    barriers = _barrier_operands(step)
    found.update(
        reading.line(other) for other in reading.program.own_effectful_steps if barriers & _barrier_operands(other)
    )
    kinds = set(_kinds(step))
    if not kinds:
        return found

    def visit(other: Step) -> bool:
        found.add(reading.line(other))
        return False

    def ends(other: Step) -> bool:
        return not kinds.isdisjoint(_kinds(other)) and barriers == _barrier_operands(other)

    reading.may_be_followed_by(step, visit, ends)
    reading.may_be_preceded_by(step, visit, ends)
    return found


def _kinds(step: Step) -> Iterator[tuple[object, ...]]:
    """Yields what makes two barriers, fences, waits or commits ones of the same kind."""
    for effect in step.effects:
        match effect:
            case Barrier(level=level) if _synchronizes(effect):
                yield Barrier, level
            case WaitGroup(group=group) | CommitGroup(group=group) | RegisterFence(group=group):
                yield type(effect), group
            case ProxyFence(proxy=proxy):
                yield ProxyFence, proxy
            case TensorFence(side=side):
                yield TensorFence, side
            case MemoryFence() | MbarrierWait() | Grid(action="wait"):
                yield (type(effect),)


def _barrier_operands(step: Step) -> set[str]:
    """Returns the address operands by which an instruction names mbarriers."""
    named = (step.operand(each.barrier) for each in step.effects if isinstance(each, MbarrierEffect))
    return {print_operand(each) for each in named if each is not None}


def sample_deletions(found: Sequence[LineDeletion], most: int, seed: int, name: str) -> list[LineDeletion]:
    """Returns at most so many deletions of one file (0: all), in the order of the text: the families take turns."""
    if not most or len(found) <= most:
        return list(found)
    random = Random(f"{seed}:{name}")
    groups: dict[str, list[LineDeletion]] = {}
    for each in random.sample(found, len(found)):
        groups.setdefault(each.mutant.family, []).append(each)
    chosen: list[LineDeletion] = []
    while len(chosen) < most:
        for group in groups.values():
            chosen += [group.pop()] if group and len(chosen) < most else []
    kept = {id(each) for each in chosen}
    return [each for each in found if id(each) in kept]


class DeletionCheck:
    """Compares the verdicts on deletions with those on the original, which are computed once."""

    def __init__(self, kernel: CorpusKernel) -> None:
        self._kernel = kernel

    @cached_property
    def base(self) -> Verdict:
        """The verdict on the original, with its notes."""
        with pause_collection():
            return lint(self._kernel.text, path=self._kernel.name, notes=True)

    @cached_property
    def _strict_base(self) -> Verdict:
        return self._lint(self._kernel.text, "strict")

    def check(self, deletion: LineDeletion) -> DeletionOutcome:
        """Lints a deletion, under `strict` too if it would be silent."""
        start = process_time()
        text = deletion.mutant.apply(self._kernel.text)
        kind, codes = classify_deletion(self.base, self._lint(text, "isa"), deletion)
        if kind == "silent":
            strict = _finding_sites(self._lint(text, "strict")) - _finding_sites(self._strict_base)
            kind, codes = ("strict", _codes(strict)) if strict else (kind, codes)
        return DeletionOutcome(deletion.mutant, kind, codes, process_time() - start)

    def _lint(self, text: str, policy: Policy) -> Verdict:
        with pause_collection():
            return lint(text, path=self._kernel.name, policy=policy)


def check_deletions(
    kernel: CorpusKernel, found: int, chosen: Sequence[LineDeletion], seconds: float | None = None
) -> FileDeletions:
    """Lints a file and its deletions. seconds: of processor time, after which no further check begins."""
    since = process_time()
    check = DeletionCheck(kernel)
    base = check.base
    outcomes: list[DeletionOutcome] = []
    for each in chosen:
        if seconds is not None and process_time() - since > seconds:
            break
        outcomes.append(check.check(each))
    return FileDeletions(
        kernel.name,
        found,
        tuple(outcomes),
        _finding_texts(base, Severity.ERROR),
        _finding_texts(base, Severity.WARNING),
        len(base.undecided),
        len(chosen) - len(outcomes),
        process_time() - since,
    )


def _finding_texts(verdict: Verdict, severity: Severity) -> tuple[str, ...]:
    return tuple(
        f"{each.code} line {each.source.position(each.span.start)[0]}: {each.message}"
        for each in verdict.diagnostics
        if each.severity == severity
    )


def classify_deletion(base: Verdict, mutant: Verdict, deletion: LineDeletion) -> tuple[str, tuple[str, ...]]:
    """Returns the kind of a deletion, and the codes that make it so. base, mutant: the verdicts before and after it.

    A deletion that is reported although a note of `base` calls the line redundant has the code of that note, too.
    """
    redundant = _redundant_sites(base, deletion.mutant.line)
    reported = _finding_sites(mutant) - _finding_sites(base)
    if reported:
        return "reported", _codes(reported | redundant)
    if redundant:
        return "redundant", _codes(redundant)
    known = _question_sites(base)
    unconditional = _unconditional_sites(mutant) - _unconditional_sites(base)
    asked = (_question_sites(mutant) - known) | unconditional | {each for each in known if deletion.concerns(*each)}
    return ("open", _codes(asked)) if asked else ("silent", ())


def _codes(sites: Sites) -> tuple[str, ...]:
    return tuple(sorted({code for code, _ in sites}))


def _redundant_sites(verdict: Verdict, line: int) -> Sites:
    """Returns the notes that call the instruction at a line redundant, or one of two that repeat each other."""
    notes = [each for each in verdict.diagnostics if each.code in REDUNDANT]
    sites = {site for each in notes for site in _lines_of_finding(each)}
    for each in notes:
        if each.code == ptx9xx.DUPLICATE_SYNC:
            sites.update((each.code, each.source.position(label.span.start)[0]) for label in each.labels)
    return frozenset(site for site in sites if site[1] == line)


def _finding_sites(verdict: Verdict) -> Sites:
    found: set[tuple[str, int]] = set()
    for each in verdict.diagnostics:
        if each.severity in (Severity.ERROR, Severity.WARNING):
            found.update(_lines_of_finding(each))
    return frozenset(found)


def _lines_of_finding(finding: Diagnostic) -> Iterator[tuple[str, int]]:
    yield finding.code, finding.source.position(finding.span.start)[0]
    for copy in finding.copies:
        yield finding.code, finding.source.position(copy.span.start)[0]
    for other in finding.related:
        yield from _lines_of_finding(other)


def _question_sites(verdict: Verdict) -> Sites:
    return _sites_of(verdict.undecided)


def _unconditional_sites(verdict: Verdict) -> Sites:
    """Returns the sites of the questions for which no conditions of the launch suffice."""
    return _sites_of([each for each in verdict.undecided if not each.conditions])


def _sites_of(questions: Sequence[Undecided]) -> Sites:
    return frozenset(
        (each.code, each.source.position(each.span.start)[0]) for each in questions if each.code.startswith(_SYNC_CODES)
    )
