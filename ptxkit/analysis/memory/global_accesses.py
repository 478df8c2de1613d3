"""The accesses of threads through pointers whose targets are unknown, grouped by the terms of their addresses."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptxkit.analysis.context.happens_before import HappensBefore
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_GLOBAL_ACCESSES
from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent, UnknownCall
from ptxkit.analysis.values.symbolic_values import SymbolicValue, value_of_lane
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access

#: The number of executions of one instruction that are examined.
FIRST_EXECUTIONS = 2


@dataclass(frozen=True, slots=True)
class PointerAccess:
    """An access of one thread to the bytes `[low, high)` from a pointer; `high` is `low` where their number is unknown.

    identity: the identity of the pointer. position: the position among the events of the group of its path.
    """

    step: Step
    path: WarpPath
    position: int
    tid: int
    identity: int
    low: int
    high: int

    @property
    def is_certain(self) -> bool:
        """Whether no guess precedes the access."""
        guessed = self.path.group.first_guess
        return guessed is None or self.position < guessed


def pointer_accesses(
    facts: ScenarioFacts, happens_before: HappensBefore, steps: Collection[Step]
) -> Iterator[PointerAccess]:
    """Yields the accesses of a scenario's threads at some steps, where the address is derived from a pointer."""
    left = MAX_GLOBAL_ACCESSES
    for group in facts.groups:
        for position, event in enumerate(group.events):
            if isinstance(event, UnknownCall) or event.step not in steps or event.visit >= FIRST_EXECUTIONS:
                continue
            if not isinstance(event.effect, Access):
                continue
            for index, tid in enumerate(group.tids):
                left -= 1
                if left < 0:
                    return
                place, size = _access_range(event, index)
                if isinstance(place, SymbolicValue):
                    path, low = happens_before.path_of(tid), place.offset
                    yield PointerAccess(event.step, path, position, tid, place.identity, low, low + size)


def is_maybe_earlier(happens_before: HappensBefore, path: WarpPath, position: int, other: WarpPath, until: int) -> bool:
    """Returns whether a position of a path may precede one of another path, or of the same path."""
    return position < until if path is other else happens_before.may_precede(path, position, other, until)


def _access_range(event: TraceEvent | GroupEvent, index: int) -> tuple[object, int]:
    """Returns the address of a thread's access and its size in bytes: None for no access, 0 for an unknown size."""
    if isinstance(event, GroupEvent) and event.participants is not None and not event.participants[index]:
        return None, 0
    held, size = (event.address, event.size) if isinstance(event, TraceEvent) else event.fields[:2]
    return None if held is None else value_of_lane(held, index), size if isinstance(size, int) else 0
