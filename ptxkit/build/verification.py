"""Verifying a kernel: the verifier's findings, told where the user wrote the instruction."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ptxkit.build.build_warnings import FindingWarning, warn_at
from ptxkit.build.errors import Blame, Location, VerificationError
from ptxkit.build.module_assembly import Assembled
from ptxkit.diagnostics import Diagnostic, Severity, Verdict
from ptxkit.fast_dataclasses import replace
from ptxkit.gc_control import pause_collection
from ptxkit.syntax.tree import Module

if TYPE_CHECKING:
    from ptxkit.build.function_builder import FunctionBuilder


def verify(routine: FunctionBuilder) -> Verdict:
    """The verdict on the module of a kernel or a function; `VerificationError` where a finding is an error."""
    return verify_assembled(routine.assembled(), routine.name)


def verify_assembled(assembled: Assembled, name: str) -> Verdict:
    """The same for a module already assembled, or one that was parsed. What is warned of is a `FindingWarning`."""
    from ptxkit import lint

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


def _emit_warning(blame: Blame) -> None:
    """Tells of a warning at the user's line; of what was parsed, at that of the PTX."""
    found = blame.diagnostic
    line = found.source.position(found.span.start)[0]
    words = f"{found.code}: {found.message}" + (f"; {found.help}" if found.help else "")
    warn_at(words, FindingWarning, blame.location or Location(found.source.path, line))


def with_source_offsets(assembled: Assembled, name: str) -> Module:
    """A module whose statements have places in its text.

    A built tree is printed and read again, which gives every statement a place in the text and leaves it equal; so a
    place leads to a statement, and the statement to the user's line. A parsed one has its places already.
    """
    from ptxkit import parse

    module = assembled.module
    if module.source is not None:
        return module
    module = parse(str(module), path=f"{name}.ptx")
    starts = {function: find_statement_starts(module, function) for function, *_ in assembled.boxes}
    return replace(module, boxes={starts[each][index]: size for each, index, size in assembled.boxes})


def make_blames(found: Iterable[Diagnostic], module: Module, assembled: Assembled, name: str) -> list[Blame]:
    """Findings in a module that `with_places` gave, each with the user's line."""
    lines = _LocationIndex(module, assembled, name)
    return [_make_blame(each, lines) for each in found]


def find_statement_starts(module: Module, name: str) -> Sequence[int]:
    """Where in the text each statement of a function begins; nothing where it has no body."""
    found = next((each.body for each in module.functions() if each.name == name and each.body is not None), None)
    return found.starts if found is not None else ()


class _LocationIndex:
    """From offsets of the text to the user's lines, in the kernel and in the functions beside it."""

    def __init__(self, module: Module, assembled: Assembled, name: str) -> None:
        tables = (*assembled.functions, (name, assembled.locations))
        self._tables = [(find_statement_starts(module, function), lines) for function, lines in tables]

    def location_at(self, offset: int) -> Location | None:
        """The line of the statement there; the last function that begins before it is the one."""
        within = [each for each in self._tables if each[0] and each[0][0] <= offset]
        return find_location(offset, *max(within, key=lambda each: each[0][0])) if within else None


def _make_blame(found: Diagnostic, lines: _LocationIndex) -> Blame:
    others = []
    for label in found.labels:
        where = lines.location_at(label.span.start)
        if where is not None:
            others.append((where, label.message, found.source.position(label.span.start)[0]))
    return Blame(found, lines.location_at(found.span.start), tuple(others))


def find_location(offset: int, starts: Sequence[int], locations: Sequence[Location | None]) -> Location | None:
    """The user's line of the statement at an offset of the text; None outside the body and for declarations."""
    index = bisect_right(starts, offset) - 1
    return locations[index] if 0 <= index < len(locations) else None
