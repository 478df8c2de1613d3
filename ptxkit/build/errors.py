"""The builder's exceptions, and the search for the line of the user's code.

The user's line is that of the nearest frame outside this package. In a kernel that is built with helper functions, it
is the line of the helper that calls the builder.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from ptxkit.kernel_model.source_lines import Location
from ptxkit.kernel_model.verification import VerificationError

_INTERNAL_PATHS = (str(Path(__file__).resolve().parent), contextlib.__file__)
"""Paths whose frames are not the user's code: this package, and the module that implements context managers."""


def find_caller() -> Location:
    """Returns the line of the nearest caller outside `ptxkit.build`."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INTERNAL_PATHS):
        frame = frame.f_back
    return Location(frame.f_code.co_filename, frame.f_lineno)


class BuildError(Exception):
    """A request to the builder that does not correspond to valid PTX. `location` is the line of the user's code."""

    raised_count: ClassVar[int] = 0
    """The number of these errors so far. A kernel that an error interrupted counts as unfinished."""

    def __init__(self, message: str, location: Location | None = None) -> None:
        BuildError.raised_count += 1
        self.message = message
        self.location = location or find_caller()
        source = self.location.text
        super().__init__(f"{self.location}: {message}" + (f"\n    {source}" if source else ""))


class BuildTypeError(BuildError, TypeError):
    """A value has the wrong type, state space or alignment."""


class IncompleteNameError(BuildTypeError):
    """A method's name lacks a modifier, for which there are `choices`."""

    def __init__(self, message: str, choices: Sequence[str]) -> None:
        super().__init__(message)
        self.choices = choices


class BuildValueError(BuildError, ValueError):
    """A constant is outside its range."""


class BuildAttributeError(BuildError, AttributeError):
    """No instruction has this name."""


class EmulationError(VerificationError):
    """A run on the reference machine violates the ISA; `blames` holds the violations."""

    outcome: ClassVar[str] = "a run on the reference machine shows it"


class UnfinishedError(Exception):
    """A run on the reference machine did not end and found no violation; the message states the reason."""
