"""Bytes that asynchronous operations in flight read or write, and accesses that conflict with them.

Each buffer with such operations has a counter for each four bytes, of the operations in flight that read them and that
write them, with a flag for bytes of an mbarrier object. If an access finds a counter that is not zero, the operations
themselves are examined.

Source: PTX ISA, "Asynchronous Operations", "Completion Mechanisms for Asynchronous Copy Operations".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics import DiagnosticCode
from ptxkit.diagnostics.catalogue import ptx3xx, ptx5xx
from ptxkit.emulator.core.findings import UNAWAITED, Violation
from ptxkit.emulator.races.witnesses import access_witness, memory_name, operation_witness
from ptxkit.emulator.state.memory import ByteBuffer
from ptxkit.emulator.threads.machine_observer import AccessEvent, MachineObserver
from ptxkit.semantics.object_names import MBARRIER_BYTES

if TYPE_CHECKING:
    from ptxkit.emulator.sync.async_operation import AsyncOperation
    from ptxkit.emulator.sync.mbarrier import Mbarrier
    from ptxkit.emulator.threads.machine_state import CtaState, FunctionCode, MachineState
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

_WORD = 4
_READS, _WRITES, _OBJECT = 1, 1 << 12, 1 << 24
_SIDES = (("source", _READS), ("target", _WRITES))


class InflightAccesses:
    """The operations in flight, by the bytes that they access."""

    def __init__(self, machine: MachineState) -> None:
        self.machine = machine
        self._counters: dict[ByteBuffer, Any] = {}
        self._operations: dict[ByteBuffer, list[AsyncOperation]] = {}

    def drop_buffer(self, pool: ByteBuffer) -> None:
        """Discards a buffer that no longer exists."""
        self._counters.pop(pool, None)
        self._operations.pop(pool, None)

    # -------------------------------------------------------------------------------------------------- marking

    def add(self, operation: AsyncOperation) -> None:
        """Adds an operation that may read its sources and write its targets from now on."""
        self._check_against_others(operation)
        for each in operation.transfers:
            everything = numpy.ones(each.rows, bool)
            for side, step in _SIDES:
                pool, words = each.buffer(side), each.word_offsets(side, everything)
                if pool is None or not len(words):
                    continue
                numpy.add.at(self._counters_of(pool), words, numpy.uint32(step))
                known = self._operations.setdefault(pool, [])
                if operation not in known:
                    known.append(operation)

    def _counters_of(self, pool: ByteBuffer) -> Any:
        found = self._counters.get(pool)
        if found is None:
            found = self._counters[pool] = numpy.zeros(len(pool.data) // _WORD, numpy.uint32)
        return found

    def mark_mbarrier(self, barrier: Mbarrier) -> None:
        """Marks or unmark an mbarrier whose lifetime starts or ends."""
        words = slice(barrier.buffer_offset // _WORD, (barrier.buffer_offset + MBARRIER_BYTES) // _WORD)
        marks = self._counters_of(barrier.cta.cluster.shared_buffer)
        if barrier.is_live:
            marks[words] |= numpy.uint32(_OBJECT)
        else:
            marks[words] &= ~numpy.uint32(_OBJECT)

    def release_rows(self, operation: AsyncOperation, rows: Any, which: int) -> None:
        """Releases rows whose sources are known to be read (which 0), or whose targets are known to be written (1)."""
        side, step = _SIDES[which]
        for each in operation.transfers:
            pool = each.buffer(side)
            if pool is not None and pool in self._counters:
                numpy.subtract.at(self._counters[pool], each.word_offsets(side, rows), numpy.uint32(step))

    def remove(self, operation: AsyncOperation) -> None:
        """Removes a complete operation."""
        for each in operation.transfers:
            for pool in (each.source, each.target):
                if pool is not None and operation in self._operations.get(pool, ()):
                    self._operations[pool].remove(operation)

    # ------------------------------------------------------------------------------------------------- accesses

    def check_access(self, group: ThreadGroup, kind: str, pool: ByteBuffer, places: Any, size: int) -> None:
        """Checks an access by threads: none of its bytes may be in flight."""
        marks = self._counters.get(pool)
        if marks is None:
            return
        words = places >> 2
        if size > _WORD:
            words = words[:, None] + numpy.arange(size // _WORD)
        met = marks[words]
        hit = met & (_OBJECT - _WRITES) if kind == "read" else met
        if not hit.any():
            return
        hit = hit != 0
        lanes = numpy.flatnonzero(hit if hit.ndim == 1 else hit.any(axis=1))
        for lane in lanes:
            start = int(places[lane])
            octets = numpy.arange(start, start + size)
            thread = int(group.lanes.index[lane])
            place = (group.activation.function, group.pc, group.cta, thread)
            if kind != "read" and (met[lane] >= _OBJECT).any():
                self._report_mbarrier_access(place, pool, start, size)
                return
            for operation, side in self._operations_at(pool, octets):
                if self._is_conflict(kind, operation, side):
                    self._report_access(place, kind, pool, start, size, operation, side)
                    return

    @staticmethod
    def _is_conflict(kind: str, operation: AsyncOperation, side: str) -> bool:
        if side == "source":
            return kind != "read"
        return not (kind == "update" and operation.is_combining)

    def _operations_at(self, pool: ByteBuffer, octets: Any) -> Iterator[tuple[AsyncOperation, str]]:
        """Yields the operations in flight that access bytes, each with its side."""
        for operation in self._operations.get(pool, ()):
            for each in operation.transfers:
                for side, rows in (("target", operation.pending_writes), ("source", operation.pending_reads)):
                    if each.buffer(side) is pool and numpy.isin(each.byte_offsets(side, rows), octets).any():
                        yield operation, side

    def _check_against_others(self, operation: AsyncOperation) -> None:
        """Checks whether an operation accesses bytes that another one in flight writes or reads."""
        everything = operation.pending_writes
        for each in operation.transfers:
            for side, _ in _SIDES:
                pool = each.buffer(side)
                if pool is None or pool not in self._counters:
                    continue
                met = self._counters[pool][each.word_offsets(side, everything)]
                if not (met & (_OBJECT - _WRITES) if side == "source" else met).any():
                    continue
                octets = each.byte_offsets(side, everything)
                if side == "target" and (met >= _OBJECT).any():
                    thread = int(operation.threads[0])
                    place = (operation.function, operation.pc, operation.cta, thread)
                    self._report_mbarrier_access(place, pool, int(octets.min()), len(octets))
                    return
                for other, at in self._operations_at(pool, octets):
                    if (side == "source" and at == "source") or (other.is_combining and operation.is_combining):
                        continue
                    self._report_operations(operation, side, other, at, pool, octets)
                    return

    # ------------------------------------------------------------------------------------------------ reporting

    def _report_access(
        self,
        place: tuple[FunctionCode, int, CtaState, int],
        kind: str,
        pool: ByteBuffer,
        start: int,
        size: int,
        by: AsyncOperation,
        side: str,
    ) -> None:
        code, pc, cta, thread = place
        own = access_witness(code, pc, cta, thread, pool, start, size)
        other = operation_witness(by, _inflight_row(by, side, pool, start, size), pool, start, size)
        does = {"read": "reads", "write": "writes", "update": "updates"}[kind]
        variable = memory_name(cta, pool, start)
        facts = {"action": own.action, "access": does, "operation": by.name, "variable": variable}
        if side == "target":
            rule = ptx3xx.READ_BEFORE_WAIT if kind == "read" else ptx3xx.SOURCE_REUSED_IN_FLIGHT
            content = ptx3xx.ACCESS_OF_BYTES_BEING_WRITTEN(**facts).under(rule)
        else:
            rule = ptx3xx.READ_BEFORE_WAIT if kind == "read" else _overwrite_rule(by)
            content = ptx3xx.ACCESS_OF_BYTES_BEING_READ(**facts).under(rule)
        self._add_violation(Violation(content, own.line, code.offsets[pc], (own, other), lacks=UNAWAITED), by)

    def _report_mbarrier_access(
        self, place: tuple[FunctionCode, int, CtaState, int], pool: ByteBuffer, start: int, size: int
    ) -> None:
        own = access_witness(*place, pool, start, size)
        found = next(
            each
            for each in place[2].cluster.mbarriers.values()
            if each.is_live and each.buffer_offset + MBARRIER_BYTES > start and each.buffer_offset < start + size
        )
        message = ptx5xx.LIVE_MBARRIER_OVERWRITTEN(action=own.action, barrier=found.name)
        self.machine.report.add(Violation(message, own.line, place[0].offsets[place[1]], (own,)))

    def _report_operations(
        self, operation: AsyncOperation, side: str, by: AsyncOperation, at: str, pool: ByteBuffer, octets: Any
    ) -> None:
        start = int(octets.min())
        own = operation_witness(operation, 0, pool, start, len(octets))
        other = operation_witness(by, 0, pool, start, len(octets))
        variable = memory_name(operation.cta, pool, start)
        facts = {"action": own.action, "operation": by.name, "variable": variable}
        if side == "target" and at == "target":
            content = ptx3xx.COPIES_OVERLAP(**facts)
        elif side == "target":
            content = ptx3xx.COPY_OVERWRITES_SOURCE(**facts).under(_overwrite_rule(by))
        else:
            content = ptx3xx.COPY_READS_TARGET(**facts)
        offset = operation.function.offsets[operation.pc]
        self._add_violation(Violation(content, own.line, offset, (own, other), lacks=UNAWAITED), by)

    def _add_violation(self, finding: Violation, by: AsyncOperation) -> None:
        self.machine.report.add(finding, by.function.offsets[by.pc])


class InflightAccessChecker(MachineObserver):
    """Checks accesses of threads against the operations in flight."""

    def __init__(self) -> None:
        self._inflight: InflightAccesses | None = None

    def on_launch(self, machine: MachineState) -> None:
        """Stores the launch."""
        self._inflight = machine.async_engine.inflight

    def on_access(self, event: AccessEvent) -> None:
        """Checks an access by threads: none of its bytes may be in flight."""
        if self._inflight is not None:
            self._inflight.check_access(event.group, event.kind, event.buffer, event.byte_offsets, event.size)


def _overwrite_rule(by: AsyncOperation) -> DiagnosticCode:
    """Returns the rule that is violated by a write to bytes that an operation may still read."""
    return ptx3xx.OPERANDS_REUSED if by.completion == "wgmma" else ptx3xx.SOURCE_REUSED_IN_FLIGHT


def _inflight_row(operation: AsyncOperation, side: str, pool: ByteBuffer, start: int, size: int) -> int:
    """Returns the first row in flight that reads its source, or writes its target, among some bytes."""
    rows = operation.pending_writes if side == "target" else operation.pending_reads
    for each in operation.transfers:
        if each.buffer(side) is pool:
            octets = (each.targets if side == "target" else each.sources) * each.unit
            found = numpy.flatnonzero(rows & ((octets < start + size) & (octets + each.unit > start)).any(axis=1))
            if len(found):
                return int(found[0])
    return int(numpy.flatnonzero(rows)[0])
