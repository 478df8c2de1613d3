"""Verifying a kernel: the verifier's findings, told where the user wrote the instruction."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ptxkit.build.assemble import Assembled
from ptxkit.build.errors import Blame, Location, VerificationError
from ptxkit.build.remarks import FindingWarning, warn
from ptxkit.diagnostics import Diagnostic, Severity, Verdict
from ptxkit.garbage import no_collections
from ptxkit.records import replace
from ptxkit.syntax.tree import Module

if TYPE_CHECKING:
    from ptxkit.build.routine import Routine


def verify(routine: Routine) -> Verdict:
    """The verdict on the module of a kernel or a function; `VerificationError` where a finding is an error."""
    return verify_assembled(routine.assembled(), routine.name)


def verify_assembled(assembled: Assembled, name: str) -> Verdict:
    """The same for a module already assembled, or one that was parsed. What is warned of is a `FindingWarning`."""
    from ptxkit import lint

    with no_collections():
        module = with_places(assembled, name)
        verdict = lint(module)
    errors = [found for found in verdict.diagnostics if found.severity is Severity.ERROR]
    if errors:
        raise VerificationError(name, blamed(errors, module, assembled, name))
    warned = [found for found in verdict.diagnostics if found.severity is Severity.WARNING]
    for blame in blamed(warned, module, assembled, name):
        _warn(blame)
    return verdict


def _warn(blame: Blame) -> None:
    """Tells of a warning at the user's line; of what was parsed, at that of the PTX."""
    found = blame.diagnostic
    line = found.source.position(found.span.start)[0]
    words = f"{found.code}: {found.message}" + (f"; {found.help}" if found.help else "")
    warn(words, FindingWarning, blame.location or Location(found.source.path, line))


def with_places(assembled: Assembled, name: str) -> Module:
    """A module whose statements have places in its text.

    A built tree is printed and read again, which gives every statement a place in the text and leaves it equal; so a
    place leads to a statement, and the statement to the user's line. A parsed one has its places already.
    """
    from ptxkit import parse

    module = assembled.module
    if module.source is not None:
        return module
    module = parse(str(module), path=f"{name}.ptx")
    starts = {function: statement_starts(module, function) for function, *_ in assembled.boxes}
    return replace(module, boxes={starts[each][index]: size for each, index, size in assembled.boxes})


def blamed(found: Iterable[Diagnostic], module: Module, assembled: Assembled, name: str) -> list[Blame]:
    """Findings in a module that `with_places` gave, each with the user's line."""
    lines = _Lines(module, assembled, name)
    return [_blame(each, lines) for each in found]


def statement_starts(module: Module, name: str) -> Sequence[int]:
    """Where in the text each statement of a function begins; nothing where it has no body."""
    found = next((each.body for each in module.functions() if each.name == name and each.body is not None), None)
    return found.starts if found is not None else ()


class _Lines:
    """From offsets of the text to the user's lines, in the kernel and in the functions beside it."""

    def __init__(self, module: Module, assembled: Assembled, name: str) -> None:
        tables = (*assembled.functions, (name, assembled.locations))
        self._tables = [(statement_starts(module, function), lines) for function, lines in tables]

    def at(self, offset: int) -> Location | None:
        """The line of the statement there; the last function that begins before it is the one."""
        within = [each for each in self._tables if each[0] and each[0][0] <= offset]
        return location_at(offset, *max(within, key=lambda each: each[0][0])) if within else None


def _blame(found: Diagnostic, lines: _Lines) -> Blame:
    others = []
    for label in found.labels:
        where = lines.at(label.span.start)
        if where is not None:
            others.append((where, label.message, found.source.position(label.span.start)[0]))
    return Blame(found, lines.at(found.span.start), tuple(others))


def location_at(offset: int, starts: Sequence[int], locations: Sequence[Location | None]) -> Location | None:
    """The user's line of the statement at an offset of the text; None outside the body and for declarations."""
    index = bisect_right(starts, offset) - 1
    return locations[index] if 0 <= index < len(locations) else None
