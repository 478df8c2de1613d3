"""Which register fence, or earlier multiplication, orders an asynchronous multiplication after register accesses.

From an issue the code is searched backwards, path by path. A path is in order up to the nearest fence, or up to an
earlier multiplication that uses the same registers; a touch of one of the registers met before is out of order, and so
is the start of the function. A plain move gives a register another name. What an execution showed last before the issue
(a fence, a multiplication, nothing) then says whether the path that it took was in order.

Source: PTX ISA, "wgmma.fence".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_FENCE_STEPS, MAX_STEPS_PER_ISSUE
from ptxkit.analysis.registers.wgmma_events import WgmmaEvent, WgmmaEventKind, WgmmaEvents
from ptxkit.fast_dataclasses import dataclass, field


@dataclass(slots=True)
class ReachingAccesses:
    """How control comes to an issue with these registers.

    ordering_steps: fences and multiplications from which a path comes without an access. accesses: the nearest ones,
    with the register. is_unclear: the search met unknown code, or took too long.
    """

    issue: Step
    registers: frozenset[str]
    ordering_steps: set[Step] = field(default_factory=set)
    accesses: dict[Step, str] = field(default_factory=dict)
    reaches_entry: bool = False
    is_unclear: bool = False


class WgmmaFences:
    """The approaches to one function's issues."""

    def __init__(self, flow: ControlFlowGraph, parts: WgmmaEvents) -> None:
        self._cfg = flow
        self._events = parts
        self._remaining_steps = MAX_FENCE_STEPS

    def reaching_accesses(self, issue: Step) -> Iterator[ReachingAccesses]:
        """One for the accumulators, one for the fragments of A where there are any."""
        part = self._events[issue]
        for registers in (part.accumulators, part.fragments):
            if registers:
                yield self._search(issue, registers)

    def __contains__(self, step: Step) -> bool:
        """Whether a step is a fence."""
        return self._events[step].kind is WgmmaEventKind.FENCE

    def is_relevant(self, step: Step, approach: ReachingAccesses) -> bool:
        """Whether a step is a fence, or a multiplication that has to do with the registers."""
        part = self._events[step]
        if part.kind is WgmmaEventKind.ISSUE:
            return step in approach.ordering_steps or not part.registers.isdisjoint(approach.registers)
        return step in self

    def _search(self, issue: Step, registers: frozenset[str]) -> ReachingAccesses:
        found = ReachingAccesses(issue, registers)
        flow = self._cfg
        home = flow.block_of(issue)
        seen: set[tuple[int, frozenset[str]]] = set()
        steps = [step for step in flow.steps_of_block(home) if step.index < issue.index]
        waiting = [(home, self._scan_backwards(steps, registers, found))]
        looked = 0
        while waiting:
            block, wanted = waiting.pop()
            if wanted is None:
                continue
            found.reaches_entry = found.reaches_entry or block == 0
            for earlier in flow.predecessors[block]:
                if (earlier, wanted) not in seen:
                    seen.add((earlier, wanted))
                    looked += len(flow.steps_of_block(earlier))
                    waiting.append((earlier, self._scan_backwards(flow.steps_of_block(earlier), wanted, found)))
            if looked > MAX_STEPS_PER_ISSUE or self._remaining_steps < 0:
                found.is_unclear = True
                break
        self._remaining_steps -= looked
        return found

    def _scan_backwards(
        self, steps: Collection[Step], wanted: frozenset[str], found: ReachingAccesses
    ) -> frozenset[str] | None:
        """Goes back through steps of one block; the registers to look for before it, None where the path ends."""
        for step in reversed(tuple(steps)):
            part = self._events[step]
            match part.kind:
                case WgmmaEventKind.FENCE:
                    found.ordering_steps.add(step)
                    return None
                case WgmmaEventKind.UNKNOWN:
                    found.is_unclear = True
                    return None
                case WgmmaEventKind.ISSUE if not part.registers.isdisjoint(wanted):
                    found.ordering_steps.add(step)
                    return None
                case WgmmaEventKind.COPY if part.target in wanted:
                    wanted = _rename_through_move(part, wanted)
                case WgmmaEventKind.OTHER if not part.registers.isdisjoint(wanted):
                    found.accesses.setdefault(step, min(part.registers & wanted))
                    return None
        return wanted


def _rename_through_move(part: WgmmaEvent, wanted: frozenset[str]) -> frozenset[str]:
    """The registers before a move. A constant comes from nowhere: compilers place its move where they like."""
    rest = wanted if part.is_guarded else wanted - {part.target}
    return rest | {part.source} if part.source is not None else rest
