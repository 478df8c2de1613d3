"""An asynchronous operation, from its issue until its completion is known.

Source: PTX ISA, "Asynchronous Operations", "Completion Mechanisms for Asynchronous Copy Operations".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.state.byte_transfers import ByteTransfer
from ptxkit.emulator.sync.mbarrier import Mbarrier

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import CtaState, FunctionCode
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

CP_ASYNC, BULK, WGMMA, TCGEN05 = "cp.async", "bulk", "wgmma", "tcgen05"
"""The mechanisms that signal the completion of an operation: a group of its thread, of one of these kinds, or for the
last an mbarrier.
"""

GROUPED = (CP_ASYNC, BULK, WGMMA, TCGEN05)
BY_MBARRIER, UNSIGNALED = "mbarrier", "nothing"
"""Completion through an mbarrier of the operation's own, or through nothing."""


class AsyncOperation:
    """One execution of an asynchronous instruction by some threads.

    An operation has rows, which take effect independently. `threads` has the issuer of each row, and `groups` the
    number of the row's group in that thread. `signals` are the mbarriers that the operation signals, each with a number
    of bytes. `pending_reads` and `pending_writes` are the rows whose source, or target, is not known to be free.
    `proxy` is the proxy through which the operation accesses memory.
    """

    __slots__ = (
        "completion",
        "cta",
        "function",
        "groups",
        "issue_clock",
        "pc",
        "pending_reads",
        "pending_writes",
        "proxy",
        "serial",
        "signals",
        "tensor_use",
        "threads",
        "transfers",
    )

    def __init__(
        self,
        group: ThreadGroup,
        completion: str,
        transfers: Sequence[ByteTransfer],
        threads: Any,
        *,
        proxy: str = "async",
        groups: Any = None,
        signals: Sequence[tuple[Mbarrier, int]] = (),
    ) -> None:
        self.cta: CtaState = group.cta
        self.function: FunctionCode = group.activation.function
        self.pc = group.pc
        self.completion, self.transfers, self.proxy = completion, tuple(transfers), proxy
        rows = transfers[0].rows if transfers else 0
        self.threads = numpy.broadcast_to(threads, (rows,))
        self.groups = None if groups is None else numpy.broadcast_to(groups, (rows,))
        self.signals = tuple(signals)
        self.pending_reads = numpy.ones(rows, bool)
        self.pending_writes = numpy.ones(rows, bool)
        self.serial = 0
        self.issue_clock: Any = None
        """The clocks of the threads when they issue it, in the form of the race detector."""
        self.tensor_use: Any = None
        """Its use of Tensor Memory (`TensorMemoryUse`), if the order of such uses is checked."""

    @property
    def name(self) -> str:
        """The name of its instruction."""
        return self.function.instructions[self.pc].opcode

    @property
    def is_combining(self) -> bool:
        """Whether it is a reduction, in which each element is updated separately."""
        return any(each.combine is not None for each in self.transfers)

    def read(self, rows: Any) -> None:
        """Reads the sources of rows."""
        for each in self.transfers:
            each.read(rows)

    def write(self, rows: Any) -> None:
        """Writes the targets of rows."""
        for each in self.transfers:
            each.write(rows)


class DeferredArrival:
    """Arrivals, one per thread, that occur when its operations of a kind up to a serial number are complete."""

    __slots__ = ("barrier", "cta", "function", "issue_clock", "kind", "pc", "serial", "threads")

    def __init__(self, group: ThreadGroup, threads: Any, barrier: Mbarrier, serial: int, kind: str = CP_ASYNC) -> None:
        self.kind = kind
        self.cta, self.function, self.pc = group.cta, group.activation.function, group.pc
        self.threads, self.barrier, self.serial = threads, barrier, serial
        self.issue_clock: Any = None
        """The clocks of the threads when they execute the instruction, in the form of the race detector."""
