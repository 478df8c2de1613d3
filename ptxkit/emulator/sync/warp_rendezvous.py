"""Warps whose lanes execute one instruction together, to exchange values.

Source: PTX ISA, "Data Movement and Conversion Instructions: shfl.sync", and the other instructions with a member mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics import DiagnosticCode, Message
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.threads.thread_groups import BlockSignal
from ptxkit.emulator.threads.waitable import Waitable
from ptxkit.fast_dataclasses import dataclass
from ptxkit.semantics.barrier_state import BarrierOutcome, BarrierState
from ptxkit.syntax.constants import WARP_SIZE

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import CtaState
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

_LANE_BITS = (numpy.uint32(1) << numpy.arange(WARP_SIZE, dtype=numpy.uint32)).astype(numpy.uint32)


@dataclass(frozen=True, slots=True)
class WarpOperands:
    """The operand values of all participating lanes.

    `warp` and `lane` are those of each executing thread. `present` has the participating lanes, of the shape (warps,
    32), and `values` a matrix of that shape for each operand.
    """

    warp: Any
    lane: Any
    present: Any
    values: tuple[Any, ...]


def masks_of_lanes(there: Any) -> Any:
    """Converts rows of 32 truth values to masks."""
    return (there * _LANE_BITS).sum(axis=1, dtype=numpy.uint32)


def to_lane_matrix(group: ThreadGroup, values: Any) -> Any:
    """Returns values of the executing threads as a matrix (warps, 32), zero elsewhere."""
    cta = group.cta
    whole = numpy.zeros(cta.warps * WARP_SIZE, values.dtype)
    whole[group.lanes.index] = values
    return whole.reshape(cta.warps, WARP_SIZE)


class WarpRendezvous(Waitable):
    """Lanes of one warp that reach an instruction of a kind with the same mask, at different positions or times.

    `present` has the lanes that have arrived, as the bits of an integer.
    """

    __slots__ = ("code", "cta", "is_complete", "key", "mask", "present", "state", "values", "warp")

    def __init__(self, cta: CtaState, warp: int, mask: int, alive: int, key: tuple[object, ...]) -> None:
        super().__init__()
        self.cta, self.warp, self.mask, self.key = cta, warp, mask, key
        self.code = ptx6xx.BARRIER_DEADLOCK
        """The rule that a deadlock violates."""
        self.state = BarrierState(mask & alive)
        self.present = 0
        self.values: list[Any] = []
        self.is_complete = False

    def arrive(self, lanes: int) -> None:
        """Records that lanes arrive."""
        self.state.arrive(lanes)
        self.present = self.state.arrived
        self._complete_if_ready()

    def on_threads_exit(self, threads: int) -> None:
        """Handles the exit of a set of threads."""
        self.state.exit(threads >> self.warp * WARP_SIZE)
        self._complete_if_ready()

    def _complete_if_ready(self) -> None:
        if self.state.complete_if_ready() is BarrierOutcome.PHASE_COMPLETE:
            self.is_complete = True
            self.cta.rendezvous.pop(self.key, None)
            self.wake()

    def describe(self, _group: ThreadGroup) -> Message:
        """Describes the missing lanes."""
        missing = self.state.members & ~self.state.arrived
        return ptx6xx.LANES_NOT_ARRIVED(lanes=missing, warp=self.warp, mask=self.mask).under(self.code)


def gather_operands(
    group: ThreadGroup, kind: str, mask: Any, values: tuple[Any, ...], code: DiagnosticCode = ptx6xx.BARRIER_DEADLOCK
) -> WarpOperands | BlockSignal:
    """Returns the values of all lanes in the mask, once these have arrived.

    `kind` distinguishes the instructions at which lanes may synchronize, and `code` is the rule that a deadlock
    violates.
    """
    index = group.lanes.index
    warp, lane = index >> 5, (index & 31).astype(numpy.uint32)
    if isinstance(group.wait_token, WarpRendezvous) and group.wait_token.is_complete:
        return _take_rendezvous_operands(group, group.wait_token, warp, lane, values)
    own = (mask >> lane & numpy.uint32(1)) == 0
    if own.any():
        raise ExecutionFault(ptx6xx.LANE_OUTSIDE_ITS_MASK(), index[own])
    there = to_lane_matrix(group, numpy.ones(len(index), bool))
    present = masks_of_lanes(there)
    absent = mask & ~present[warp]
    if absent.any():
        lanes = numpy.zeros(group.cta.warps * WARP_SIZE, bool)
        lanes[: group.cta.threads] = group.cta.alive
        alive = masks_of_lanes(lanes.reshape(-1, WARP_SIZE))
        absent &= alive[warp]
        if absent.any():
            found = _join_rendezvous(group, kind, mask, values, present, alive)
            if isinstance(found.on, WarpRendezvous):
                found.on.code = code
            return found
    return WarpOperands(warp, lane, there, tuple(to_lane_matrix(group, each) for each in values))


def _join_rendezvous(
    group: ThreadGroup, kind: str, mask: Any, values: tuple[Any, ...], present: Any, alive: Any
) -> BlockSignal:
    """Waits for lanes that arrive on other paths, or at other times. `present` and `alive` are lanes of each warp, as
    masks.
    """
    cta, index = group.cta, group.lanes.index
    number, named = int(index[0]) >> 5, int(mask[0])
    if int(index[-1]) >> 5 != number:
        raise SingleWarpRequired
    key = (number, named, kind)
    meeting = cta.rendezvous.get(key)
    if meeting is None:
        meeting = cta.rendezvous[key] = WarpRendezvous(cta, number, named, int(alive[number]), key)
        meeting.values = [numpy.zeros(WARP_SIZE, each.dtype) for each in values]
    for kept, each in zip(meeting.values, values, strict=True):
        kept[index & 31] = each
    meeting.arrive(int(present[number]))
    return BlockSignal(meeting, is_satisfied=meeting.is_complete)  # a converged warp executes its instruction once


def _take_rendezvous_operands(
    group: ThreadGroup, meeting: WarpRendezvous, warp: Any, lane: Any, values: tuple[Any, ...]
) -> WarpOperands:
    there = numpy.zeros((group.cta.warps, WARP_SIZE), bool)
    there[meeting.warp] = numpy.uint32(meeting.present) & _LANE_BITS != 0
    matrices = []
    for kept, each in zip(meeting.values, values, strict=True):
        matrix = numpy.zeros((group.cta.warps, WARP_SIZE), each.dtype)
        matrix[meeting.warp] = kept
        matrices.append(matrix)
    return WarpOperands(warp, lane, there, tuple(matrices))


class SingleWarpRequired(Exception):  # noqa: N818 (not an error: the group continues warp by warp)
    """A group of several warps must continue warp by warp."""
