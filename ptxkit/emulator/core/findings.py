"""What ends an instruction otherwise than by its result."""

from __future__ import annotations

from typing import Any

from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.fast_dataclasses import dataclass, field


class UnsupportedError(Exception):
    """The machine has no meaning for an instruction; the message names it."""


class InvalidLaunchError(ValueError):
    """The launch cannot be made as it was asked for; the message says what to change."""


class BudgetError(Exception):
    """The run has used up its steps or seconds."""


@dataclass(frozen=True, slots=True)
class Witness:
    """One access of a finding. thread: (x, y, z) in its CTA; cta: (x, y, z) in the grid; line: of the PTX, from 1.

    space, start, size: the bytes, or an address in Tensor Memory and columns; old, new: their values before and after,
    as hexadecimal digits from the lowest address on, where they are known.
    """

    action: str
    line: int
    thread: tuple[int, int, int]
    cta: tuple[int, int, int]
    space: str = ""
    start: int = 0
    size: int = 0
    old: str | None = None
    new: str | None = None

    def __str__(self) -> str:
        """`thread (3, 0, 0) of CTA (0, 0, 0), shared bytes 0x10 to 0x13: 00000000 became 2a000000`."""
        text = f"thread {self.thread} of CTA {self.cta}"
        if self.space == "tensor":
            text += f", Tensor Memory from 0x{self.start:x} on, {self.size} columns"
        elif self.size:
            text += f", {self.space} bytes 0x{self.start:x} to 0x{self.start + self.size - 1:x}"
        if self.old is not None and self.new is not None:
            text += f": {self.old} became {self.new}"
        return text


@dataclass(frozen=True, slots=True)
class Violation:
    """What the run shows to be wrong. code: of the rule. line, offset: of the PTX instruction at fault.

    witnesses: the accesses that show it, the one at fault first. missing: what ordering lacks, in words.
    """

    code: str
    message: str
    line: int
    offset: int
    witnesses: tuple[Witness, ...] = ()
    missing: str = ""
    severity: str = "error"


class ExecutionFault(Exception):  # noqa: N818 (the fault is the program's)
    """An access or a step that no correct program makes; ends the run. index: the threads at fault, in the CTA."""

    def __init__(self, code: str, message: str, index: Bits | None = None, **witness: object) -> None:
        super().__init__(message)
        self.code, self.message, self.index, self.witness = code, message, index, witness
        self.location: Any = None
        """The code and the number of the step in it, once it is known."""
        self.cta: Any = None


@dataclass(slots=True)
class ViolationReport:
    """The findings of a run so far: each once for a place and code, however often it happens."""

    findings: list[Violation] = field(default_factory=list)
    seen: set[tuple[object, ...]] = field(default_factory=set)

    def add(self, finding: Violation, *key: object) -> None:
        """Keep a finding, unless there is one of this code and place (and key) already."""
        mark = (finding.code, finding.offset, *key)
        if mark not in self.seen:
            self.seen.add(mark)
            self.findings.append(finding)
