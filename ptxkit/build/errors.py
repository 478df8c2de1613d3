"""What the builder raises, and how it finds the user's line.

The user's line is that of the nearest frame outside this package: a kernel that is written with helper functions is
blamed where the helper calls the builder.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import ClassVar

from ptxkit.kernel_model.source_lines import Location
from ptxkit.kernel_model.verification import VerificationError

_INTERNAL_PATHS = (str(Path(__file__).resolve().parent), contextlib.__file__)
"""Where frames are not the user's: this package, and what runs its context managers."""


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


class EmulationError(VerificationError):
    """A run on the reference machine shows that the kernel breaks the ISA; `blames` holds what was seen of it."""

    outcome: ClassVar[str] = "a run on the reference machine shows it"


class UnfinishedError(Exception):
    """A run on the reference machine came to no end, and shows nothing wrong: the message says why."""
