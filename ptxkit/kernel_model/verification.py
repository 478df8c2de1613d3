"""Verifies a kernel: the verifier's findings, each with the user's line that created the instruction."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from ptxkit.diagnostic_groups import fault_notes
from ptxkit.diagnostics import Diagnostic, Severity, Verdict
from ptxkit.fast_dataclasses import dataclass
from ptxkit.gc_control import pause_collection
from ptxkit.kernel_model.limits import MAX_PTX_COLUMNS
from ptxkit.kernel_model.source_lines import Assembled, Location, LocationIndex, with_source_offsets
from ptxkit.syntax.tree import Module

_WARNING_REGISTRY: dict[Any, Any] = {}
"""The registry in which Python records which warnings were shown."""


@dataclass(frozen=True, slots=True)
class Blame:
    """A diagnostic and the user's line that created the instruction, None where no instruction is at its offset.

    `others` holds for each label of the diagnostic the user's line, the message, and the line of the PTX.
    """

    diagnostic: Diagnostic
    location: Location | None
    others: tuple[tuple[Location, str, int], ...] = ()


class VerificationError(Exception):
    """The verifier proved that the kernel violates the ISA.

    `blames` holds each finding of level `error` with its line.
    """

    outcome: ClassVar[str] = "nothing was compiled"

    def __init__(self, kernel: str, blames: Sequence[Blame]) -> None:
        self.blames = tuple(blames)
        count = "one error" if len(self.blames) == 1 else f"{len(self.blames)} errors"
        parts = [f"kernel {kernel!r} has {count}; {self.outcome}"]
        parts += [_render(blame) for blame in self.blames]
        super().__init__("\n".join(parts))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings without their lines."""
        return tuple(blame.diagnostic for blame in self.blames)


class BuildWarning(UserWarning):
    """A warning of the builder."""


class FindingWarning(BuildWarning):
    """A warning of the verifier: it is not a proven error, and the kernel is compiled."""


def verify_assembled(assembled: Assembled, name: str) -> Verdict:
    """Returns the verdict on an assembled or a parsed module; emits warnings as `FindingWarning`.

    Raises VerificationError where a finding is an error.
    """
    from ptxkit.linter import lint

    with pause_collection():
        module = with_source_offsets(assembled, name)
        verdict = lint(module)
    errors = [found for found in verdict.diagnostics if found.severity is Severity.ERROR]
    if errors:
        raise VerificationError(name, make_blames(errors, module, assembled, name))
    warned = [found for found in verdict.diagnostics if found.severity is Severity.WARNING]
    for blame in make_blames(warned, module, assembled, name):
        _emit_warning(blame)
    return verdict


def warn_at(message: str, kind: type[BuildWarning], where: Location) -> None:
    """Emits a warning at a line of the user's code."""
    warnings.warn_explicit(message, kind, where.file, where.line, registry=_WARNING_REGISTRY)


def make_blames(found: Iterable[Diagnostic], module: Module, assembled: Assembled, name: str) -> list[Blame]:
    """Returns findings in a module that `with_source_offsets` returned, each with the user's line."""
    lines = LocationIndex(module, assembled, name)
    return [_make_blame(each, lines) for each in found]


def _emit_warning(blame: Blame) -> None:
    """Emits a warning at the user's line; for a module that was parsed, at the line of the PTX."""
    found = blame.diagnostic
    line = found.source.position(found.span.start)[0]
    words = f"{found.code}: {found.message}" + (f"; {found.help}" if found.help else "")
    warn_at(words, FindingWarning, blame.location or Location(found.source.path, line))


def _make_blame(found: Diagnostic, lines: LocationIndex) -> Blame:
    others = []
    for label in found.labels:
        where = lines.location_at(label.span.start)
        if where is not None:
            others.append((where, label.message, found.source.position(label.span.start)[0]))
    return Blame(found, lines.location_at(found.span.start), tuple(others))


def _render(blame: Blame) -> str:
    found = blame.diagnostic
    line, column = found.source.position(found.span.start)
    lines = []
    if blame.location is not None:
        lines += [f"{blame.location}: {found.code} {found.severity}: {found.message}", f"    {blame.location.text}"]
    else:
        lines.append(f"{found.code} {found.severity}: {found.message}")
    text = found.source.line_text(line).strip()
    shown = text if len(text) <= MAX_PTX_COLUMNS else f"{text[: MAX_PTX_COLUMNS - 3]}..."
    lines.append(f"  = ptx: {found.source.path}:{line}:{column}: {shown}")
    lines += [f"  = {where} (ptx:{number}): {what}: {where.text}" for where, what, number in blame.others]
    lines += [f"  = note: {note}" for note in (*found.notes, *fault_notes(found))]
    if found.help:
        lines.append(f"  = help: {found.help}")
    if found.isa:
        lines.append(f"  = isa: {'; '.join(found.isa)}")
    return "\n".join(lines)
