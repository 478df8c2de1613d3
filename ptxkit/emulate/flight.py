"""Bytes that asynchronous operations in flight read or write, and accesses that meet them.

For each pool that has any, a number for each four bytes: how many operations in flight read them, how many write them,
and whether they belong to an mbarrier object. Where an access finds one that is not zero, the operations are asked
themselves.

Source: PTX ISA, "Asynchronous Operations", "Completion Mechanisms for Asynchronous Copy Operations".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import Finding, Witness
from ptxkit.emulate.mbarriers import SIZE
from ptxkit.emulate.memory import Pool

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.machine import Machine
    from ptxkit.emulate.mbarriers import Mbarrier
    from ptxkit.emulate.operations import Operation
    from ptxkit.emulate.program import Code

_WORD = 4
_READS, _WRITES, _OBJECT = 1, 1 << 12, 1 << 24
_SIDES = (("source", _READS), ("target", _WRITES))


class Flight:
    """What is in flight, by the bytes that it touches."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._marks: dict[Pool, Any] = {}
        self._operations: dict[Pool, list[Operation]] = {}

    def forget(self, pool: Pool) -> None:
        """A pool is gone."""
        self._marks.pop(pool, None)
        self._operations.pop(pool, None)

    # -------------------------------------------------------------------------------------------------- marking

    def begins(self, operation: Operation) -> None:
        """An operation may read its sources and write its targets from now on."""
        self._meets_others(operation)
        for each in operation.transfers:
            everything = numpy.ones(each.rows, bool)
            for side, step in _SIDES:
                pool, words = each.pool(side), each.words(side, everything)
                if pool is None or not len(words):
                    continue
                numpy.add.at(self._marks_of(pool), words, numpy.uint32(step))
                known = self._operations.setdefault(pool, [])
                if operation not in known:
                    known.append(operation)

    def _marks_of(self, pool: Pool) -> Any:
        found = self._marks.get(pool)
        if found is None:
            found = self._marks[pool] = numpy.zeros(len(pool.data) // _WORD, numpy.uint32)
        return found

    def holds_object(self, barrier: Mbarrier) -> None:
        """An mbarrier begins or ends its life."""
        words = slice(barrier.place // _WORD, (barrier.place + SIZE) // _WORD)
        marks = self._marks_of(barrier.cta.cluster.pool)
        if barrier.is_live:
            marks[words] |= numpy.uint32(_OBJECT)
        else:
            marks[words] &= ~numpy.uint32(_OBJECT)

    def ends(self, operation: Operation, rows: Any, which: int) -> None:
        """Of rows it is known that sources were read (which 0), or targets written (1)."""
        side, step = _SIDES[which]
        for each in operation.transfers:
            pool = each.pool(side)
            if pool is not None and pool in self._marks:
                numpy.subtract.at(self._marks[pool], each.words(side, rows), numpy.uint32(step))

    def is_over(self, operation: Operation) -> None:
        """It is complete."""
        for each in operation.transfers:
            for pool in (each.source, each.target):
                if pool is not None and operation in self._operations.get(pool, ()):
                    self._operations[pool].remove(operation)

    # ------------------------------------------------------------------------------------------------- accesses

    def accessed(self, group: Group, kind: str, pool: Pool, places: Any, size: int) -> None:
        """Threads read, write or update bytes: none of them may be in flight."""
        marks = self._marks.get(pool)
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
            place = (group.activation.code, group.pc, group.cta, thread)
            if kind != "read" and (met[lane] >= _OBJECT).any():
                self._touches_object(place, pool, start, size)
                return
            for operation, side in self._at(pool, octets):
                if self._conflict(kind, operation, side):
                    self._report(place, kind, pool, start, size, operation, side)
                    return

    @staticmethod
    def _conflict(kind: str, operation: Operation, side: str) -> bool:
        if side == "source":
            return kind != "read"
        return not (kind == "update" and operation.is_combining)

    def _at(self, pool: Pool, octets: Any) -> Iterator[tuple[Operation, str]]:
        """The operations in flight that touch bytes, and by which side."""
        for operation in self._operations.get(pool, ()):
            for each in operation.transfers:
                for side, rows in (("target", operation.writing), ("source", operation.reading)):
                    if each.pool(side) is pool and numpy.isin(each.octets(side, rows), octets).any():
                        yield operation, side

    def _meets_others(self, operation: Operation) -> None:
        """Whether it is about bytes that another one in flight writes, or reads."""
        everything = operation.writing
        for each in operation.transfers:
            for side, _ in _SIDES:
                pool = each.pool(side)
                if pool is None or pool not in self._marks:
                    continue
                met = self._marks[pool][each.words(side, everything)]
                if not (met & (_OBJECT - _WRITES) if side == "source" else met).any():
                    continue
                octets = each.octets(side, everything)
                if side == "target" and (met >= _OBJECT).any():
                    thread = int(operation.threads[0])
                    place = (operation.code, operation.pc, operation.cta, thread)
                    self._touches_object(place, pool, int(octets.min()), len(octets))
                    return
                for other, at in self._at(pool, octets):
                    if (side == "source" and at == "source") or (other.is_combining and operation.is_combining):
                        continue
                    self._report_both(operation, side, other, at, pool, octets)
                    return

    # ------------------------------------------------------------------------------------------------ reporting

    def _report(
        self, place: tuple[Code, int, Cta, int], kind: str, pool: Pool, start: int, size: int, by: Operation, side: str
    ) -> None:
        code, pc, cta, thread = place
        own = self.witness(code, pc, cta, thread, pool, start, size)
        other = self.of_operation(by, _row_at(by, side, pool, start, size), pool, start, size)
        does = {"read": "reads", "write": "writes", "update": "updates"}[kind]
        if side == "source":
            what = f"{does} bytes that `{by.name}` at line {other.line} may still read"
        else:
            what = f"{does} bytes that `{by.name}` at line {other.line} may still write"
        rule = "PTX302" if kind == "read" else _overwritten(by) if side == "source" else "PTX303"
        missing = "a wait that tells the thread that the copy is complete"
        message = f"`{own.action}` {what}"
        self._add(Finding(rule, message, own.line, code.offsets[pc], (own, other), missing), by)

    def _touches_object(self, place: tuple[Code, int, Cta, int], pool: Pool, start: int, size: int) -> None:
        own = self.witness(*place, pool, start, size)
        found = next(
            each
            for each in place[2].cluster.mbarriers.values()
            if each.is_live and each.place + SIZE > start and each.place < start + size
        )
        message = f"`{own.action}` writes over {found.name}, which is live: only operations of mbarriers may touch it"
        self.machine.report.add(Finding("PTX502", message, own.line, place[0].offsets[place[1]], (own,)))

    def _report_both(self, operation: Operation, side: str, by: Operation, at: str, pool: Pool, octets: Any) -> None:
        start = int(octets.min())
        own = self.of_operation(operation, 0, pool, start, len(octets))
        other = self.of_operation(by, 0, pool, start, len(octets))
        if side == "target" and at == "target":
            rule, what = "PTX304", "writes bytes that {} may still write"
        elif side == "target":
            rule, what = _overwritten(by), "writes bytes that {} may still read"
        else:
            rule, what = "PTX302", "reads bytes that {} may still write"
        message = f"`{own.action}` " + what.format(f"`{by.name}` at line {other.line}")
        missing = "a wait for the earlier copy, between the two"
        offset = operation.code.offsets[operation.pc]
        self._add(Finding(rule, message, own.line, offset, (own, other), missing), by)

    def _add(self, finding: Finding, by: Operation) -> None:
        self.machine.report.add(finding, by.code.offsets[by.pc])

    def of_operation(self, operation: Operation, row: int, pool: Pool, start: int, size: int) -> Witness:
        """An asynchronous operation as a witness."""
        thread = int(operation.threads[row]) if len(operation.threads) else 0
        return self.witness(operation.code, operation.pc, operation.cta, thread, pool, start, size)

    def witness(self, code: Code, pc: int, cta: Cta, thread: int, pool: Pool, start: int, size: int) -> Witness:
        """An access of bytes of a pool as a witness."""
        machine = self.machine
        address = start
        if pool.name == "shared":
            address = start % cta.cluster.stride
        else:
            arena = next((each for each in machine.memory.arenas.values() if each.pool is pool), None)
            address += arena.start if arena is not None else 0
        offset = code.offsets[pc]
        text = code.instructions[pc].opcode
        line, at = machine.line_of(offset), machine.thread_of(thread)
        return Witness(text, line, at, cta.ctaid, pool.name, address, size)


def _overwritten(by: Operation) -> str:
    """The rule that is broken by who writes what an operation may still read."""
    return "PTX314" if by.completion == "wgmma" else "PTX303"


def _row_at(operation: Operation, side: str, pool: Pool, start: int, size: int) -> int:
    """The first row in flight that reads its source, or writes its target, among some bytes."""
    rows = operation.writing if side == "target" else operation.reading
    for each in operation.transfers:
        if each.pool(side) is pool:
            octets = (each.targets if side == "target" else each.sources) * each.unit
            found = numpy.flatnonzero(rows & ((octets < start + size) & (octets + each.unit > start)).any(axis=1))
            if len(found):
                return int(found[0])
    return int(numpy.flatnonzero(rows)[0])
