"""Generates all mutants of a corpus, and checks each with ptxas and ptxkit."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random

from ptxkit.diagnostics import Severity, Verdict
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.gc_control import pause_collection
from ptxkit.linter import lint
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile
from ptxkit.syntax import parse
from ptxkit.testing.mutation import (
    benign_operators,
    count_operators,
    deletion_operators,
    layout_operators,
    move_operators,
    ordering_operators,
    phase_operators,
    space_operators,
    thread_operators,
)
from ptxkit.testing.mutation.function_analysis import analyze_functions
from ptxkit.testing.mutation.mutant import Mutant
from ptxkit.testing.mutation.mutation_operator import MutationOperator
from ptxkit.testing.oracles.ptxas import Ptxas

OPERATORS: tuple[MutationOperator, ...] = (
    *deletion_operators.OPERATORS,
    *count_operators.OPERATORS,
    *phase_operators.OPERATORS,
    *thread_operators.OPERATORS,
    *move_operators.OPERATORS,
    *space_operators.OPERATORS,
    *ordering_operators.OPERATORS,
    *layout_operators.OPERATORS,
    *benign_operators.OPERATORS,
)

_HARMLESS = "harmless: "
_MAP_DEPENDENT = {"harmless: expect-half"}
"""Operators whose changes are harmless with another tensor map than that of the launch."""

_PERSISTENT_DIRECTIVES = re.compile(r"^\s*\.(?:visible|weak|common)\b|^\s*\.(?:file|loc)\b[^\n]*", re.MULTILINE)
_SECTION = re.compile(r"^\s*\.section\b[^{]*\{[^}]*\}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CorpusKernel:
    """A correct kernel file. name: its path relative to the corpus, which mutants carry."""

    name: str
    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class MutantOutcome:
    """The result for a mutant. codes: of findings that the correct kernel does not have; warned: of warnings.
    undecided: the number of undecided questions beyond those of the correct kernel. seen: the codes of errors and
    warnings that the machine finds, and does not find in the correct kernel; unfinished: the reason why runs did not
    complete, if they do for the correct kernel.
    """

    mutant: Mutant
    rule_errors: tuple[str, ...]
    rule_warnings: tuple[str, ...]
    undecided: int
    emulator_codes: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()

    @property
    def is_detected(self) -> bool:
        return bool(self.rule_errors)

    @property
    def is_false_alarm(self) -> bool:
        """Whether a finding was reported for a harmless mutant; the machine knows the maps that a launch passes."""
        seen = self.emulator_codes if self.mutant.family not in _MAP_DEPENDENT else ()
        return self.mutant.is_harmless and bool(self.rule_errors or self.rule_warnings or seen)


def load_kernels(folders: Iterable[Path]) -> list[CorpusKernel]:
    """Returns the correct kernels below some folders; if a manifest distinguishes real kernels from samplers, the real
    ones.
    """
    found = []
    for folder in folders:
        manifest = folder / "manifest.toml"
        if manifest.is_file():
            listed = tomllib.loads(manifest.read_text(encoding="utf-8"))["file"]
            paths = [folder / each["path"] for each in listed if each["kind"] == "real"]
        else:
            paths = sorted(folder.rglob("*.ptx")) if folder.is_dir() else [folder]
        base = folder if folder.is_dir() else folder.parent
        found += [CorpusKernel(str(path.relative_to(base)), path, path.read_text(encoding="utf-8")) for path in paths]
    return found


def generate_mutants(kernel: CorpusKernel, operators: Sequence[MutationOperator] = OPERATORS) -> list[Mutant]:
    """Returns every mutant of a kernel, whether an assembler accepts it or not, in the order of operators and text."""
    found: list[Mutant] = []
    seen: Counter[tuple[str, str]] = Counter()
    texts: set[str] = set()
    for reading in analyze_functions(kernel.text, kernel.name):
        for operator in operators:
            for change in operator.search(reading):
                if change is None:
                    continue
                rules = operator.rules if change.rules is None else change.rules
                broken = bool(rules) or operator.family.startswith(_HARMLESS)
                family = operator.family if broken else _HARMLESS + operator.family
                line = reading.source.position(change.start)[0]
                key = (family, change.text)
                mutant = Mutant(
                    kernel.name,
                    reading.program.function.name,
                    line,
                    family,
                    rules,
                    change.text,
                    seen[key] + 1,
                    change.splices,
                    reading.skipping_branches(change.start),
                )
                text = mutant.apply(kernel.text)
                if text in texts:
                    continue
                texts.add(text)
                seen[key] += 1
                found.append(mutant)
    return found


def filter_assemblable(kernel: CorpusKernel, candidates: Sequence[Mutant], ptxas: Ptxas) -> list[Mutant]:
    """Returns the mutants that ptxas accepts.

    Many are checked at once, unless this is impossible for the kernel: it is the last of the texts and must still be
    accepted. Otherwise each mutant is checked separately.
    """
    target = parse(kernel.text, kernel.name).targets[0]
    texts = [mutant.apply(kernel.text) for mutant in candidates]
    refused = set(ptxas.refusals([_strip_persistent_directives(text) for text in (*texts, kernel.text)], target))
    if len(texts) in refused:
        refused = {index for index, text in enumerate(texts) if ptxas.refusal(text, target) is not None}
    return [mutant for index, mutant in enumerate(candidates) if index not in refused]


def _strip_persistent_directives(text: str) -> str:
    """Removes the directives that affect later texts of a ptxas process: linkage, file numbers, debugging data."""
    return _SECTION.sub("", _PERSISTENT_DIRECTIVES.sub("", text))


def sample_mutants(found: Sequence[Mutant], most: int, share: float, seed: int) -> list[Mutant]:
    """Returns a sample of the mutants: a limited number for each kernel and family, evenly spread, then a random
    part.
    """
    groups: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in found:
        groups.setdefault((mutant.kernel, mutant.family), []).append(mutant)
    kept: list[Mutant] = []
    for group in groups.values():
        count = min(most, len(group)) if most else len(group)
        kept += [group[index * len(group) // count] for index in range(count)]
    random = Random(seed)
    return [mutant for mutant in kept if share >= 1 or random.random() < share]


@dataclass(frozen=True, slots=True)
class EmulationEffort:
    """The effort of the machine for a mutant. schedules: runs of each kernel; factor: of their limits (`--effort`)."""

    schedules: int = 6
    factor: float = 0.05


def evaluate_mutants(
    kernel: CorpusKernel, candidates: Sequence[Mutant], effort: EmulationEffort | None = None
) -> list[MutantOutcome]:
    """Returns the findings of ptxkit for each mutant beyond those of the kernel. effort: of the machine; None: rules
    only.
    """
    base = _lint_cached(kernel.text, kernel.name)
    known = _run_emulator(kernel.name, kernel.text, None, effort, base) if effort else _EmulatorReport()
    outcomes = []
    for mutant in candidates:
        text = mutant.apply(kernel.text)
        with pause_collection():
            verdict = lint(text, path=kernel.name)
        found = _run_emulator(kernel.name, text, mutant.function, effort, verdict) if effort else _EmulatorReport()
        outcomes.append(_compare_with_original(mutant, verdict, base, found, known))
    return outcomes


@lru_cache(maxsize=8)
def _lint_cached(text: str, name: str) -> Verdict:
    """Returns the findings of a kernel, which are cached because its mutants are checked in parts."""
    return lint(text, path=name)


@dataclass(frozen=True, slots=True)
class _EmulatorReport:
    """The result of the machine for a text. codes: of its findings; unfinished: the reason why runs did not
    complete.
    """

    codes: Counter[str] = field(default_factory=Counter)
    unfinished: frozenset[str] = frozenset()


def _run_emulator(
    name: str, text: str, function: str | None, effort: EmulationEffort, static: Verdict
) -> _EmulatorReport:
    """Runs the kernels of a text, or the changed one, with the launches of the table, or with chosen ones."""
    from ptxkit.testing.corpus.launch_table import load_launch_table
    from ptxkit.verifier import VerifyRequest, verify_source

    usual = VerifyRequest(schedules=effort.schedules, settings=Settings(effort=effort.factor))
    requests = load_launch_table().requests_for(text, name, schedules=usual.schedules, settings=usual.settings)
    if any(function in each.entries for each in requests):
        requests = [each for each in requests if function in each.entries]
    codes: Counter[str] = Counter()
    unfinished: set[str] = set()
    for request in requests or [usual]:
        result = verify_source(SourceFile(name, text), request, static=static)
        codes.update(each.code for each in result.diagnostics if "witness" in each.properties)
        unfinished.update(each.reason for each in result.undecided[len(static.undecided) :])
    return _EmulatorReport(codes, frozenset(unfinished))


def _compare_with_original(
    mutant: Mutant, verdict: Verdict, base: Verdict, found: _EmulatorReport, known: _EmulatorReport
) -> MutantOutcome:
    new = {severity: _codes(verdict, severity) - _codes(base, severity) for severity in Severity}
    return MutantOutcome(
        mutant,
        tuple(sorted(new[Severity.ERROR])),
        tuple(sorted(new[Severity.WARNING])),
        len(verdict.undecided) - len(base.undecided),
        tuple(sorted(set(found.codes) - set(known.codes))),
        tuple(sorted(found.unfinished - known.unfinished)),
    )


def _codes(verdict: Verdict, severity: Severity) -> Counter[str]:
    return Counter(each.code for each in verdict.diagnostics if each.severity == severity)
