"""The trace of a finding of the reference machine: plain data that the verifier computes and reports render.

Threads that do the same share one column; each step is one instruction of some threads, or an action of the machine
itself; a bar is an asynchronous operation from its issue until its completion is observed.
"""

from __future__ import annotations

from enum import StrEnum

from ptxkit.fast_dataclasses import dataclass
from ptxkit.source import SourceFile, SourceLine

Dim3 = tuple[int, int, int]


class StepKind(StrEnum):
    """The kind of a step."""

    READ = "read"
    WRITE = "write"
    UPDATE = "update"
    ARRIVE = "arrive"
    """Threads arrive at a barrier of their CTA, of their cluster, or at an mbarrier."""
    JOIN = "join"
    """A barrier completes, and its threads acquire each other's earlier accesses."""
    PHASE = "phase"
    """A phase of an mbarrier is complete, or threads observe that it is."""
    FENCE = "fence"
    ISSUE = "issue"
    COMMIT = "commit"
    WAIT = "wait"
    COMPLETE = "complete"


class FindingRole(StrEnum):
    """The role of a step, or of an access, in the finding."""

    FAULT = "fault"
    """The access at fault."""
    OTHER = "other"
    """The access with which it conflicts."""
    NONE = ""


@dataclass(frozen=True, slots=True)
class TraceAccess:
    """One of the accesses of a finding.

    thread, cta: positions in the CTA and in the grid. line: the line of the PTX, from 1. space, start, size: the bytes;
    the size is 0 if none exist. old, new: values as hexadecimal digits, beginning with the lowest address; None
    where they are not known. place: the variable and the index, empty where none exists. type: of the values, None
    where it is not known. old_value, new_value: in that type. origin: the line of the program.
    """

    role: FindingRole
    instruction: str
    line: int
    thread: Dim3
    cta: Dim3
    space: str = ""
    start: int = 0
    size: int = 0
    old: str | None = None
    new: str | None = None
    place: str = ""
    type: str | None = None
    old_value: str | None = None
    new_value: str | None = None
    origin: SourceLine | None = None


@dataclass(frozen=True, slots=True)
class ThreadColumn:
    """Threads of a CTA that do the same in all steps shown.

    role: that of a thread that the finding names.
    """

    label: str
    cta: Dim3
    count: int
    role: FindingRole = FindingRole.NONE


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step.

    number: the number of accesses and synchronizations recorded in the run so far, from 1. columns: those that take
    part. touching: the columns that use the bytes of the finding. omitted_before: the number of steps between the
    previous one and this one that are not shown. origin: the line of the program.
    """

    number: int
    kind: StepKind
    line: int
    instruction: str
    text: str
    columns: tuple[int, ...]
    touching: tuple[int, ...] = ()
    role: FindingRole = FindingRole.NONE
    omitted_before: int = 0
    origin: SourceLine | None = None


@dataclass(frozen=True, slots=True)
class TraceBar:
    """An asynchronous operation.

    column: that of a thread that issued it. first, last: the positions of steps; `last` is None where the operation is
    not known to be complete at the end of the trace. is_complete: whether it is complete at some time.
    """

    instruction: str
    line: int
    column: int
    first: int
    last: int | None
    role: FindingRole = FindingRole.NONE
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class FindingTrace:
    """The trace of a finding.

    launch: how to reproduce the run, in words. missing_ordering: a description of the ordering that is missing. steps:
    empty where a second run did not show the finding. omissions: descriptions of what the trace omits. origin: the line
    of the program, which the message then names, too.
    """

    code: str
    severity: str
    message: str
    kernel: str
    line: int
    source: SourceFile
    launch: tuple[str, ...] = ()
    missing_ordering: str = ""
    accesses: tuple[TraceAccess, ...] = ()
    columns: tuple[ThreadColumn, ...] = ()
    steps: tuple[TraceStep, ...] = ()
    bars: tuple[TraceBar, ...] = ()
    omissions: tuple[str, ...] = ()
    origin: SourceLine | None = None
