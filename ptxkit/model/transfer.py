"""The transfers of a kernel and their completion: plain data that the analysis computes and reports render.

Lines are those of the PTX, from 1. Each has the location in the source program (`.loc`), where the compiler wrote one.
"""

from __future__ import annotations

from enum import StrEnum

from ptxkit.fast_dataclasses import dataclass
from ptxkit.source import SourceLine


class Unit(StrEnum):
    """The hardware unit that executes the transfer."""

    LDGSTS = "LDGSTS"
    """The load-store unit, which stores what it loads without a register: `cp.async`."""
    BULK = "TMA"
    """The bulk copy engine, given an address and a number of bytes."""
    TENSOR = "TMA, tensor map"
    """The bulk copy engine, given a box of a tensor."""
    REMOTE = "async store"
    """The load-store unit, from registers, asynchronously: `st.async`, `red.async`."""
    TENSOR_CORE = "tensor core"
    """The tensor core, into, out of or within Tensor Memory."""
    SCHEDULER = "scheduler"
    """The hardware's response to a request."""
    PLAIN = "plain"
    """Ordinary loads and stores, through a register; not asynchronous."""


@dataclass(frozen=True, slots=True)
class Size:
    """The number of bytes that one execution of the instruction by one thread moves.

    number: None where it is not the same in every execution. depends_on: a description of the inputs on which it then
    depends. zeros: the number of written bytes that are zeros instead of copied; None where it varies as well.
    """

    number: int | None
    depends_on: str = ""
    zeros: int | None = 0


@dataclass(frozen=True, slots=True)
class Wait:
    """A line that waits.

    pending: the number of groups that may still be incomplete. reads_only: whether only the sources are free then.
    """

    line: int
    pending: int | None = None
    reads_only: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """The mechanism by which a thread observes the completion of a transfer.

    mechanism: `group`, `bulk group` and `wgmma group` (closed by the commits at `lines`), `mbarrier`, `commit` (of the
    tensor core, to an mbarrier, at `lines`), `wait::ld`, `wait::st`, `at once` for a plain store, `nothing` where
    nothing signals it. object: a description of the mbarrier. lines: those of the commits, or of the arrivals that make
    an mbarrier track the transfer.
    """

    mechanism: str
    object: str | None = None
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Fence:
    """A proxy fence between the accesses to the bytes, by its line.

    between: `generic and async` or `tensormap`. line: None where bytes pass from one proxy to the other without a
    fence. other: the line of the other access, a write before a transfer or a read after one.
    """

    line: int | None
    between: str
    other: int | None = None


@dataclass(frozen=True, slots=True)
class UnitSelection:
    """The reason why the transfer is executed by this unit and not by another.

    decided: `run time`, where the kernel has alternatives and branches on addresses or sizes; else `compile time`.
    words: a description of the condition. branch: the line of the branch, at run time. alternatives: the lines of the
    alternatives.
    """

    decided: str
    words: str
    branch: int | None = None
    alternatives: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Transfer:
    """One instruction that moves bytes (for `Unit.PLAIN`, the store of loaded values).

    operation: `copy`, `reduction`, `prefetch`, `response`, and `product` where multiplications were requested. source,
    destination: `global`, `shared`, `cluster` (including shared memory of other CTAs), `tensor` (Tensor Memory),
    `registers`, `L2`, `multimem`, `generic`. variable: the shared variable that is the source or destination. reached:
    whether some execution of the analysis reached it; otherwise the properties that only executions show (waits,
    fences, objects) are unknown. loads: of a plain copy, the lines that load the stored values. function: the function
    that contains the line.
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
    """The transfers of one kernel in the order of the text, followed by those of the functions that it calls.

    kind: `entry`; `func` for a function that no explored kernel calls.
    """

    name: str
    kind: str
    transfers: tuple[Transfer, ...]


@dataclass(frozen=True, slots=True)
class TransferTable:
    """The transfers of a module.

    target: the target as it is written.
    """

    path: str
    target: str
    kernels: tuple[KernelTransfers, ...]
