"""What is found in the kernels of one input, for commands that list it."""

from __future__ import annotations

from typing import Generic, TypeVar

from ptxkit.diagnostics import Diagnostic
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.fast_dataclasses import dataclass
from ptxkit.results import Status

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Survey(Generic[Found]):
    """The result of one input.

    target: the target as it is written. kernels: what was found in each of them; None where the input could not be
    read, parsed or analyzed. diagnostics: the reason, or the errors of a text that was analyzed.
    """

    path: str
    target: str = ""
    kernels: tuple[Found, ...] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def status(self) -> Status:
        """`failed`, `findings` (an error), or `clean`."""
        if any(item.code == ptx1xx.NO_VERDICT for item in self.diagnostics):
            return Status.FAILED
        return Status.FINDINGS if self.diagnostics else Status.CLEAN
