"""Violations, their witnesses, and the exceptions that end an instruction or a run."""

from __future__ import annotations

from typing import Any

from ptxkit.diagnostics import DiagnosticCode, Message, Severity
from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.fast_dataclasses import dataclass, field


class UnsupportedError(Exception):
    """The machine has no semantics for an instruction, which the message names."""


class InvalidLaunchError(ValueError):
    """The launch is invalid; the message states what to change."""


class BudgetError(Exception):
    """The run will not end, or has used up its steps or seconds."""


class StepLimitError(BudgetError):
    """The run has used up its steps."""


class TimeLimitError(BudgetError):
    """The run has used up its seconds."""


@dataclass(frozen=True, slots=True)
class Witness:
    """One access of a violation.

    `thread` is the index of the thread in its CTA and `cta` that of the CTA in the grid, both (x, y, z). `line` is the
    line of the PTX, from 1. `start` and `size` are the range of bytes in `space`, or the address in Tensor Memory and
    the number of columns. `place` is the variable there, with an index, if one is known. `old` and `new` are the
    contents before and after, as hexadecimal digits from the lowest address on, if they are known. `offset` is the
    position of the instruction in the PTX, or -1.
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
    place: str = ""
    offset: int = -1

    def __str__(self) -> str:
        """Returns, for example, `thread (3, 0, 0) of CTA (0, 0, 0), tile[4] (shared bytes 0x10 to 0x13): 00000000
        became 2a000000`.
        """
        text = f"thread {self.thread} of CTA {self.cta}"
        if self.space == "tensor":
            text += f", Tensor Memory from 0x{self.start:x} on, {self.size} columns"
        elif self.size:
            octets = f"{self.space} bytes 0x{self.start:x} to 0x{self.start + self.size - 1:x}"
            text += f", {self.place} ({octets})" if self.place else f", {octets}"
        if self.old is not None and self.new is not None:
            text += f": {self.old} became {self.new}"
        return text


UNORDERED = ((0, 1), (1, 0))
"""The orders that two accesses lack: neither is before the other."""
UNAWAITED = ((1,), *UNORDERED)
"""The orders that an access and an asynchronous operation lack: also its completion, for which nothing waits."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation that the run shows. `line` and `offset` are the position of the faulty PTX instruction.

    The first of the `witnesses` is the faulty access; the lines that the message leaves open are those of the
    witnesses. `assigned_severity` is the severity if it is not the default of the code. `lacks` are the orders that are
    missing, as for a diagnostic, by the indices of the witnesses.
    """

    content: Message
    line: int
    offset: int
    witnesses: tuple[Witness, ...] = ()
    assigned_severity: Severity | None = None
    lacks: tuple[tuple[int, ...], ...] = ()

    @property
    def code(self) -> DiagnosticCode:
        """The code of the rule that is violated."""
        return self.content.code

    @property
    def message(self) -> str:
        """The description of the violation."""
        return self.content.at_lines(*(each.line for each in self.witnesses))

    @property
    def missing(self) -> str:
        """The missing synchronization that would have ordered the accesses, or empty for other violations."""
        return self.content.template.missing

    @property
    def severity(self) -> Severity:
        """The severity of the violation."""
        return self.assigned_severity or self.code.severity


class ExecutionFault(Exception):  # noqa: N818 (the fault is the program's)
    """An access or a step that no correct program makes; it ends the run.

    `index` has the faulty threads, or None if the code that raises it does not know them.
    """

    def __init__(self, content: Message, index: Bits | None = None, **witness: object) -> None:
        super().__init__(str(content))
        self.content, self.index, self.witness = content, index, witness
        self.location: Any = None
        """The function and the step, once they are known."""
        self.cta: Any = None

    def assign_threads(self, index: Bits) -> None:
        """Attributes the fault to threads, unless it is attributed to some already."""
        self.index = index if self.index is None else self.index


@dataclass(slots=True)
class ViolationReport:
    """The violations of a run so far, each once for its code and position, and the reasons why properties were not
    checked.
    """

    findings: list[Violation] = field(default_factory=list)
    seen: set[tuple[object, ...]] = field(default_factory=set)
    unchecked_reasons: dict[str, None] = field(default_factory=dict)

    def add(self, finding: Violation, *key: object) -> None:
        """Adds a violation, unless there is one with the same code, position and key."""
        mark = (finding.code, finding.offset, *key)
        if mark not in self.seen:
            self.seen.add(mark)
            self.findings.append(finding)
