"""What led to a finding of the reference machine, as a picture shows it: plain data that the verifier fills in.

Threads that do the same share one column; each step is one instruction of some threads, or something that the
machine did by itself; a bar is an asynchronous operation from its issue until its completion is known.
"""

from __future__ import annotations

from enum import StrEnum

from ptxkit.fast_dataclasses import dataclass
from ptxkit.source import SourceFile

Dim3 = tuple[int, int, int]


class StepKind(StrEnum):
    """What happens in a step."""

    READ = "read"
    WRITE = "write"
    UPDATE = "update"
    ARRIVE = "arrive"
    """Threads come to a barrier of their CTA, of their cluster, or to an mbarrier."""
    JOIN = "join"
    """A barrier lets threads go: all they did before is known to all of them."""
    PHASE = "phase"
    """A phase of an mbarrier is complete, or threads see that it is."""
    FENCE = "fence"
    ISSUE = "issue"
    COMMIT = "commit"
    WAIT = "wait"
    COMPLETE = "complete"


class FindingRole(StrEnum):
    """What a step, or an access, has to do with the finding."""

    FAULT = "fault"
    """The access at fault."""
    OTHER = "other"
    """The access that it conflicts with."""
    NONE = ""


@dataclass(frozen=True, slots=True)
class TraceAccess:
    """One of the accesses of a finding. thread, cta: places in the CTA and in the grid; line: of the PTX, from 1.

    space, start, size: the bytes, size 0 where it is about none. old, new: values as hexadecimal digits from the lowest
    address on, None where they are not known.
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


@dataclass(frozen=True, slots=True)
class ThreadColumn:
    """Threads of a CTA that do the same in all steps shown. part: of a thread that the finding names."""

    label: str
    cta: Dim3
    count: int
    role: FindingRole = FindingRole.NONE


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One moment. number: of accesses and synchronisations recorded in the run so far, from 1; columns: who takes part.

    touching: those of them that use the bytes of the finding. left_out: how many steps between the one before and this
    one are not shown.
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


@dataclass(frozen=True, slots=True)
class TraceBar:
    """An asynchronous operation. column: of a thread that issued it; first, last: positions of steps.

    last is None where it is not known complete by the end of the picture; is_complete: whether it is so at some time.
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
    """A finding as a picture. missing: the ordering that lacks, in words. left_out: what the picture leaves out.

    launch: how the run can be seen again, in words. steps is empty where a second run did not show the finding.
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
