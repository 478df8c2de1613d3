"""What a kernel moves, and how it learns that it is there: plain data that the analysis fills in and every renderer
reads.

Lines are the PTX's, from 1. A place in the program that the PTX was compiled from comes with each (`.loc`), where the
compiler wrote one.
"""

from __future__ import annotations

from enum import StrEnum

from ptxkit.diagnostics import Diagnostic
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.fast_dataclasses import dataclass
from ptxkit.results import Status
from ptxkit.source import SourceLine


class Unit(StrEnum):
    """What does the copying."""

    LDGSTS = "LDGSTS"
    """The load-store unit, which stores what it loads without a register: `cp.async`."""
    BULK = "TMA"
    """The bulk copy engine, given an address and a number of bytes."""
    TENSOR = "TMA, tensor map"
    """The bulk copy engine, given a box of a tensor."""
    REMOTE = "async store"
    """The load-store unit, out of registers, done later: `st.async`, `red.async`."""
    TENSOR_CORE = "tensor core"
    """The tensor core, into, out of or within Tensor Memory."""
    SCHEDULER = "scheduler"
    """The hardware's answer to a request."""
    PLAIN = "plain"
    """Ordinary loads and stores, through a register; not asynchronous."""


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes that one execution of the instruction by one thread moves.

    number: None where it is not the same whenever the kernel runs. words: then, what it depends on. zeros: of the
    bytes written, those that are zeros instead of a copy; None where that depends, too.
    """

    number: int | None
    depends_on: str = ""
    zeros: int | None = 0


@dataclass(frozen=True, slots=True)
class Wait:
    """A line that waits. pending: groups that may still be unfinished. reads_only: only the sources are free then."""

    line: int
    pending: int | None = None
    reads_only: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """How one learns that the transfer is done.

    mechanism: `group`, `bulk group` and `wgmma group` (closed by the commits at `lines`), `mbarrier`, `commit` (of the
    tensor core, to an mbarrier, at `lines`), `wait::ld`, `wait::st`, `at once` for a plain store, `nothing` where
    nothing signals it. object: the mbarrier, in words. lines: of the commits, or of the arrivals that make an mbarrier
    track it.
    """

    mechanism: str
    object: str | None = None
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Fence:
    """A proxy fence between the accesses to the bytes, by its line.

    between: `generic and async` or `tensormap`. line: None where bytes pass from one proxy to the other and no fence
    lies between. other: the line of the other access, a write before a transfer or a read after one.
    """

    line: int | None
    between: str
    other: int | None = None


@dataclass(frozen=True, slots=True)
class UnitSelection:
    """Why the transfer is done by this unit and not by another.

    decided: `run time`, where the kernel holds alternatives and branches on addresses or sizes; `compile time`.
    words: what decided. branch: the line of the branch, at run time. alternatives: lines of the other ways.
    """

    decided: str
    words: str
    branch: int | None = None
    alternatives: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Transfer:
    """One instruction that moves bytes (for `Unit.PLAIN`, the store of what was loaded).

    operation: `copy`, `reduction`, `prefetch`, `response`, and `product` where multiplications were asked for.
    source, destination: `global`, `shared`, `cluster` (shared memory of other CTAs too), `tensor` (Tensor Memory),
    `registers`, `L2`, `multimem`, `generic`. variable: the shared
    variable on its near side. reached: some execution of the analysis reached it; what only executions show (waits,
    fences, objects) is known where it holds. loads: of a plain copy, the lines that load what is stored. function: that
    the line is in.
    """

    line: int
    source_line: SourceLine | None
    operation: str
    source: str
    destination: str
    unit: Unit
    size: Size
    completion: Completion
    variable: str | None = None
    waits: tuple[Wait, ...] = ()
    fences: tuple[Fence, ...] = ()
    choice: UnitSelection | None = None
    reached: bool = True
    loads: tuple[int, ...] = ()
    function: str = ""


@dataclass(frozen=True, slots=True)
class KernelTransfers:
    """The transfers of one kernel in the order of the text, those of functions it calls after its own.

    kind: `entry`; `func` for a function that no explored kernel calls.
    """

    name: str
    kind: str
    transfers: tuple[Transfer, ...]


@dataclass(frozen=True, slots=True)
class TransferTable:
    """The transfers of a module. target: as it is written."""

    path: str
    target: str
    kernels: tuple[KernelTransfers, ...]


@dataclass(frozen=True, slots=True)
class FileTransfers:
    """The result of one input. table: None where it could not be read, parsed or analysed.

    diagnostics: why there is no table, or what an assembler would refuse of a module that has one.
    """

    path: str
    table: TransferTable | None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def status(self) -> Status:
        """`failed`, `findings` (an error), or `clean`."""
        if any(item.code == ptx1xx.NO_VERDICT for item in self.diagnostics):
            return Status.FAILED
        return Status.FINDINGS if self.diagnostics else Status.CLEAN
