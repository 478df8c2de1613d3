"""Warps whose lanes execute one instruction together, to exchange values.

Source: PTX ISA, "Data Movement and Conversion Instructions: shfl.sync", and the other instructions with a member mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.threads.thread_groups import BlockSignal
from ptxkit.emulator.threads.waitable import Waitable
from ptxkit.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

WARP_SIZE = 32
_LANE_BITS = (numpy.uint32(1) << numpy.arange(WARP_SIZE, dtype=numpy.uint32)).astype(numpy.uint32)


@dataclass(frozen=True, slots=True)
class WarpOperands:
    """The values of all participating lanes. warp, lane: of each executing thread. there: the lanes, (warps, 32).

    values: one matrix (warps, 32) for each operand.
    """

    warp: Any
    lane: Any
    present: Any
    values: tuple[Any, ...]

    def participant_masks(self) -> Any:
        """Return the mask of participating lanes for each executing thread."""
        return masks_of_lanes(self.present)[self.warp]


def masks_of_lanes(there: Any) -> Any:
    """Convert rows of 32 truth values to masks."""
    return (there * _LANE_BITS).sum(axis=1, dtype=numpy.uint32)


def to_lane_matrix(group: ThreadGroup, values: Any) -> Any:
    """Return values of the executing threads as a matrix (warps, 32), zero elsewhere."""
    cta = group.cta
    whole = numpy.zeros(cta.warps * WARP_SIZE, values.dtype)
    whole[group.lanes.index] = values
    return whole.reshape(cta.warps, WARP_SIZE)


class WarpRendezvous(Waitable):
    """Lanes of one warp that reach an instruction of a kind, with one mask, at different positions or times."""

    __slots__ = ("code", "cta", "is_complete", "key", "mask", "present", "values", "warp")

    def __init__(self, cta: Cta, warp: int, mask: int, key: tuple[object, ...]) -> None:
        super().__init__()
        self.cta, self.warp, self.mask, self.key = cta, warp, mask, key
        self.code = "PTX601"
        """The rule that is broken where they wait for ever."""
        self.present = numpy.zeros(WARP_SIZE, bool)
        self.values: list[Any] = []
        self.is_complete = False

    def missing_lanes(self) -> int:
        """Return the lanes that the mask names, have not exited and have not arrived."""
        lanes = self.cta.alive[self.warp * WARP_SIZE : (self.warp + 1) * WARP_SIZE]
        alive = int(sum(1 << at for at, lives in enumerate(lanes) if lives))
        return self.mask & alive & ~int(sum(1 << at for at, here in enumerate(self.present) if here))

    def on_threads_exit(self) -> None:
        """Handle the exit of threads."""
        if not self.missing_lanes():
            self.is_complete = True
            self.cta.rendezvous.pop(self.key, None)
            self.wake()

    def describe(self, _group: ThreadGroup) -> str:
        """Describe the missing lanes."""
        return f"lanes 0x{self.missing_lanes():08x} of warp {self.warp}, which its mask 0x{self.mask:08x} names"


def gather_operands(
    group: ThreadGroup, kind: str, mask: Any, values: tuple[Any, ...], code: str = "PTX601"
) -> WarpOperands | BlockSignal:
    """Return the values of all lanes that the mask names, once these have arrived. kind: distinguishes instructions.

    code: the rule that a deadlock breaks.
    """
    index = group.lanes.index
    warp, lane = index >> 5, (index & 31).astype(numpy.uint32)
    if isinstance(group.wait_token, WarpRendezvous) and group.wait_token.is_complete:
        return _take_rendezvous_operands(group, group.wait_token, warp, lane, values)
    own = (mask >> lane & numpy.uint32(1)) == 0
    if own.any():
        raise ExecutionFault("PTX607", "a lane executes this with a mask that does not name it", index[own])
    there = to_lane_matrix(group, numpy.ones(len(index), bool))
    absent = mask & ~masks_of_lanes(there)[warp]
    if absent.any():
        alive = numpy.zeros(group.cta.warps * WARP_SIZE, bool)
        alive[: group.cta.threads] = group.cta.alive
        absent &= masks_of_lanes(alive.reshape(-1, WARP_SIZE))[warp]
        if absent.any():
            found = _join_rendezvous(group, kind, mask, values, warp, lane)
            if isinstance(found.on, WarpRendezvous):
                found.on.code = code
            return found
    return WarpOperands(warp, lane, there, tuple(to_lane_matrix(group, each) for each in values))


def _join_rendezvous(
    group: ThreadGroup, kind: str, mask: Any, values: tuple[Any, ...], warp: Any, lane: Any
) -> BlockSignal:
    """Wait for lanes that arrive on other paths, or at other times."""
    cta = group.cta
    number, named = int(warp[0]), int(mask[0])
    if (warp != number).any():
        raise SingleWarpRequired
    key = (number, named, kind)
    meeting = cta.rendezvous.get(key)
    if meeting is None:
        meeting = cta.rendezvous[key] = WarpRendezvous(cta, number, named, key)
        meeting.values = [numpy.zeros(WARP_SIZE, each.dtype) for each in values]
    meeting.present[lane] = True
    for kept, each in zip(meeting.values, values, strict=True):
        kept[lane] = each
    if not meeting.missing_lanes():
        meeting.is_complete = True
        cta.rendezvous.pop(meeting.key, None)
        meeting.wake()
        return BlockSignal(meeting, is_satisfied=True)  # a converged warp executes its instruction once
    return BlockSignal(meeting)


def _take_rendezvous_operands(
    group: ThreadGroup, meeting: WarpRendezvous, warp: Any, lane: Any, values: tuple[Any, ...]
) -> WarpOperands:
    there = numpy.zeros((group.cta.warps, WARP_SIZE), bool)
    there[meeting.warp] = meeting.present
    matrices = []
    for kept, each in zip(meeting.values, values, strict=True):
        matrix = numpy.zeros((group.cta.warps, WARP_SIZE), each.dtype)
        matrix[meeting.warp] = kept
        matrices.append(matrix)
    return WarpOperands(warp, lane, there, tuple(matrices))


class SingleWarpRequired(Exception):  # noqa: N818 (not an error: the group continues warp by warp)
    """A group of several warps must continue warp by warp."""
