"""What the builder raises, and how it finds the user's line.

The user's line is that of the nearest frame outside this package: a kernel that is written with helper functions is
blamed where the helper calls the builder.
"""

from __future__ import annotations

import contextlib
import linecache
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ptxkit.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from ptxkit.diagnostics import Diagnostic

_INTERNAL_PATHS = (str(Path(__file__).resolve().parent), contextlib.__file__)
"""Where frames are not the user's: this package, and what runs its context managers."""
_MAX_PTX_COLUMNS = 160
"""Columns of PTX that are shown: a product names its 128 registers."""


@dataclass(frozen=True, slots=True)
class Location:
    """A line of the user's Python."""

    file: str
    line: int

    @property
    def text(self) -> str:
        """The source text of the line, stripped; empty where the file cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def find_caller() -> Location:
    """The line of the nearest caller outside `ptxkit.build`."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INTERNAL_PATHS):
        frame = frame.f_back
    return Location(frame.f_code.co_filename, frame.f_lineno)


class BuildError(Exception):
    """The builder was asked for something that is not PTX. `location` is the user's line."""

    raised_count: ClassVar[int] = 0
    """How many there have been: a kernel that one cut short is not finished."""

    def __init__(self, message: str, location: Location | None = None) -> None:
        BuildError.raised_count += 1
        self.message = message
        self.location = location or find_caller()
        source = self.location.text
        super().__init__(f"{self.location}: {message}" + (f"\n    {source}" if source else ""))


class BuildTypeError(BuildError, TypeError):
    """A value of the wrong type, address space or alignment."""


class BuildValueError(BuildError, ValueError):
    """A constant outside its range."""


class BuildAttributeError(BuildError, AttributeError):
    """No instruction has this name."""


@dataclass(frozen=True, slots=True)
class Blame:
    """A diagnostic and the user's line that made the instruction, None where no instruction is at its place.

    others: the labelled places: the user's line, the message, and the line of the PTX.
    """

    diagnostic: Diagnostic
    location: Location | None
    others: tuple[tuple[Location, str, int], ...] = ()


class VerificationError(Exception):
    """The verifier proved that the kernel breaks the ISA. `blames` holds each error-level finding with its line."""

    outcome: ClassVar[str] = "nothing was compiled"

    def __init__(self, kernel: str, blames: Sequence[Blame]) -> None:
        self.blames = tuple(blames)
        count = "one error" if len(self.blames) == 1 else f"{len(self.blames)} errors"
        parts = [f"kernel {kernel!r} has {count}; {self.outcome}"]
        parts += [_render(blame) for blame in self.blames]
        super().__init__("\n".join(parts))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings alone."""
        return tuple(blame.diagnostic for blame in self.blames)


class EmulationError(VerificationError):
    """A run on the reference machine shows that the kernel breaks the ISA; `blames` holds what was seen of it."""

    outcome: ClassVar[str] = "a run on the reference machine shows it"


class UnfinishedError(Exception):
    """A run on the reference machine came to no end, and shows nothing wrong: the message says why."""


def _render(blame: Blame) -> str:
    found = blame.diagnostic
    line, column = found.source.position(found.span.start)
    lines = []
    if blame.location is not None:
        lines += [f"{blame.location}: {found.code} {found.severity}: {found.message}", f"    {blame.location.text}"]
    else:
        lines.append(f"{found.code} {found.severity}: {found.message}")
    text = found.source.line_text(line).strip()
    shown = text if len(text) <= _MAX_PTX_COLUMNS else f"{text[: _MAX_PTX_COLUMNS - 3]}..."
    lines.append(f"  = ptx: {found.source.path}:{line}:{column}: {shown}")
    lines += [f"  = {where} (ptx:{number}): {what}: {where.text}" for where, what, number in blame.others]
    lines += [f"  = note: {note}" for note in found.notes]
    if found.help:
        lines.append(f"  = help: {found.help}")
    if found.isa:
        lines.append(f"  = isa: {'; '.join(found.isa)}")
    return "\n".join(lines)
