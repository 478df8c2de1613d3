"""Verifying a kernel: the verifier's findings, told where the user wrote the instruction."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ptxkit.build.assemble import Assembled
from ptxkit.build.errors import Blame, Location, VerificationError
from ptxkit.diagnostics import Diagnostic, Severity, Verdict
from ptxkit.syntax.tree import Module

if TYPE_CHECKING:
    from ptxkit.build.kernel import Kernel


def verify(kernel: Kernel) -> Verdict:
    """The verdict on the kernel's module; `VerificationError` where a finding is an error."""
    return verify_assembled(kernel.assembled(), kernel.name)


def verify_assembled(assembled: Assembled, name: str) -> Verdict:
    """The same for a module already assembled, or one that was parsed.

    A built tree is printed and read again, which gives every statement a place in the text and leaves it equal; so a
    place leads to a statement, and the statement to the user's line. A parsed one has its places already.
    """
    from ptxkit import lint, parse

    module = assembled.module
    if module.source is None:
        module = parse(str(module), path=f"{name}.ptx")
    verdict = lint(module)
    starts = statement_starts(module, name)
    errors = [found for found in verdict.diagnostics if found.severity is Severity.ERROR]
    if errors:
        raise VerificationError(name, [_blame(found, starts, assembled.locations) for found in errors])
    return verdict


def statement_starts(module: Module, name: str) -> Sequence[int]:
    """Where in the text each statement of a function begins; nothing where it has no body."""
    found = next((each.body for each in module.functions() if each.name == name and each.body is not None), None)
    return found.starts if found is not None else ()


def _blame(found: Diagnostic, starts: Sequence[int], locations: Sequence[Location | None]) -> Blame:
    others = []
    for label in found.labels:
        where = location_at(label.span.start, starts, locations)
        if where is not None:
            others.append((where, label.message, found.source.position(label.span.start)[0]))
    return Blame(found, location_at(found.span.start, starts, locations), tuple(others))


def location_at(offset: int, starts: Sequence[int], locations: Sequence[Location | None]) -> Location | None:
    """The user's line of the statement at an offset of the text; None outside the body and for declarations."""
    index = bisect_right(starts, offset) - 1
    return locations[index] if 0 <= index < len(locations) else None
