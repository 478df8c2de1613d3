"""Warps whose lanes meet in one instruction, to speak to each other.

Source: PTX ISA, "Data Movement and Conversion Instructions: shfl.sync", and the other instructions with a member mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import Fault
from ptxkit.emulate.groups import Blocked
from ptxkit.emulate.waiting import Waitable
from ptxkit.records import dataclass

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group

WARP = 32
_BITS = (numpy.uint32(1) << numpy.arange(WARP, dtype=numpy.uint32)).astype(numpy.uint32)


@dataclass(frozen=True, slots=True)
class Gathered:
    """The values of all lanes that take part. warp, lane: of each executing thread. there: which lanes, (warps, 32).

    values: one matrix (warps, 32) for each operand.
    """

    warp: Any
    lane: Any
    there: Any
    values: tuple[Any, ...]

    def masks(self) -> Any:
        """The lanes that take part as one number for each executing thread."""
        return bits_of(self.there)[self.warp]


def bits_of(there: Any) -> Any:
    """Rows of 32 truth values as numbers."""
    return (there * _BITS).sum(axis=1, dtype=numpy.uint32)


def spread(group: Group, values: Any) -> Any:
    """Values of the executing threads as a matrix (warps, 32), zero elsewhere."""
    cta = group.cta
    whole = numpy.zeros(cta.warps * WARP, values.dtype)
    whole[group.lanes.index] = values
    return whole.reshape(cta.warps, WARP)


class Meeting(Waitable):
    """Lanes of one warp that came to an instruction of a kind, with one mask, at different places or times."""

    __slots__ = ("code", "cta", "is_over", "key", "mask", "there", "values", "warp")

    def __init__(self, cta: Cta, warp: int, mask: int, key: tuple[object, ...]) -> None:
        super().__init__()
        self.cta, self.warp, self.mask, self.key = cta, warp, mask, key
        self.code = "PTX601"
        """The rule that is broken where they wait for ever."""
        self.there = numpy.zeros(WARP, bool)
        self.values: list[Any] = []
        self.is_over = False

    def missing(self) -> int:
        """The lanes that are named, have not ended and are not there."""
        lanes = self.cta.alive[self.warp * WARP : (self.warp + 1) * WARP]
        alive = int(sum(1 << at for at, lives in enumerate(lanes) if lives))
        return self.mask & alive & ~int(sum(1 << at for at, here in enumerate(self.there) if here))

    def left(self) -> None:
        """Threads have ended."""
        if not self.missing():
            self.is_over = True
            self.cta.meetings.pop(self.key, None)
            self.wake()

    def describe(self, _group: Group) -> str:
        """Who is still awaited."""
        return f"lanes 0x{self.missing():08x} of warp {self.warp}, which its mask 0x{self.mask:08x} names"


def gather(group: Group, kind: str, mask: Any, values: tuple[Any, ...], code: str = "PTX601") -> Gathered | Blocked:
    """The values of all lanes that the mask names, once these are there. kind: tells instructions apart.

    code: of the rule that is broken where they wait for ever.
    """
    index = group.lanes.index
    warp, lane = index >> 5, (index & 31).astype(numpy.uint32)
    if isinstance(group.token, Meeting) and group.token.is_over:
        return _met(group, group.token, warp, lane, values)
    own = (mask >> lane & numpy.uint32(1)) == 0
    if own.any():
        raise Fault("PTX607", "a lane executes this with a mask that does not name it", index[own])
    there = spread(group, numpy.ones(len(index), bool))
    absent = mask & ~bits_of(there)[warp]
    if absent.any():
        alive = numpy.zeros(group.cta.warps * WARP, bool)
        alive[: group.cta.threads] = group.cta.alive
        absent &= bits_of(alive.reshape(-1, WARP))[warp]
        if absent.any():
            found = _meet(group, kind, mask, values, warp, lane)
            if isinstance(found.on, Meeting):
                found.on.code = code
            return found
    return Gathered(warp, lane, there, tuple(spread(group, each) for each in values))


def _meet(group: Group, kind: str, mask: Any, values: tuple[Any, ...], warp: Any, lane: Any) -> Blocked:
    """Wait for lanes that come by other ways, or earlier or later."""
    cta = group.cta
    number, named = int(warp[0]), int(mask[0])
    if (warp != number).any():
        raise OneWarp
    key = (number, named, kind)
    meeting = cta.meetings.get(key)
    if meeting is None:
        meeting = cta.meetings[key] = Meeting(cta, number, named, key)
        meeting.values = [numpy.zeros(WARP, each.dtype) for each in values]
    meeting.there[lane] = True
    for kept, each in zip(meeting.values, values, strict=True):
        kept[lane] = each
    if not meeting.missing():
        meeting.is_over = True
        cta.meetings.pop(meeting.key, None)
        meeting.wake()
        return Blocked(meeting, is_over=True)  # a warp that is together executes its instruction once
    return Blocked(meeting)


def _met(group: Group, meeting: Meeting, warp: Any, lane: Any, values: tuple[Any, ...]) -> Gathered:
    there = numpy.zeros((group.cta.warps, WARP), bool)
    there[meeting.warp] = meeting.there
    matrices = []
    for kept, each in zip(meeting.values, values, strict=True):
        matrix = numpy.zeros((group.cta.warps, WARP), each.dtype)
        matrix[meeting.warp] = kept
        matrices.append(matrix)
    return Gathered(warp, lane, there, tuple(matrices))


class OneWarp(Exception):  # noqa: N818 (no error: the group goes on warp by warp)
    """A group of several warps must go on warp by warp."""
