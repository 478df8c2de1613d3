"""Finds the register fence or multiplication that orders an asynchronous multiplication after register accesses.

The code is searched backwards from an issue, path by path. A path is ordered up to the nearest fence, or up to an
earlier multiplication that uses the same registers. An access to one of the registers before that is unordered, as is
the start of the function. A plain move gives a register another name. The last such step (a fence, a multiplication, or
none) that an execution passed before the issue then decides whether its path was ordered.

Source: PTX ISA, "wgmma.fence".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptxkit.analysis.abstract_interpretation.path_cases import PathCase
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_FENCE_STEPS, MAX_STEPS_PER_ISSUE
from ptxkit.analysis.registers.wgmma_events import WgmmaEvent, WgmmaEventKind, WgmmaEvents
from ptxkit.fast_dataclasses import dataclass, field


@dataclass(slots=True)
class ReachingAccesses:
    """The steps from which control reaches an issue with these registers.

    ordering_steps: fences and multiplications from which a path reaches the issue without an access. accesses: the
    nearest accesses, with the register. moves: plain moves to the registers. reaches_entry: whether a path from the
    start of the function has neither. is_unclear: whether the search met unknown code, or exceeded its limit.
    """

    issue: Step
    registers: frozenset[str]
    ordering_steps: set[Step] = field(default_factory=set)
    accesses: dict[Step, str] = field(default_factory=dict)
    moves: set[Step] = field(default_factory=set)
    reaches_entry: bool = False
    is_unclear: bool = False


class WgmmaFences:
    """The accesses that reach one function's issues.

    ignored: a fence without which they are searched. case: the paths that count, or None for all.
    """

    def __init__(
        self, flow: ControlFlowGraph, parts: WgmmaEvents, ignored: Step | None = None, case: PathCase | None = None
    ) -> None:
        self._ignored = ignored
        self._cfg = flow
        self._predecessors = flow.predecessors if case is None else case.predecessors
        self._events = parts
        self._remaining_steps = MAX_FENCE_STEPS

    def reaching_accesses(self, issue: Step) -> Iterator[ReachingAccesses]:
        """Yields the result for the accumulators and, if there are any, for the fragments of A."""
        part = self._events[issue]
        for registers in (part.accumulators, part.fragments):
            if registers:
                yield self._search(issue, registers)

    def __contains__(self, step: Step) -> bool:
        """Returns whether a step is a fence."""
        return self._events[step].kind is WgmmaEventKind.FENCE

    def is_relevant(self, step: Step, approach: ReachingAccesses) -> bool:
        """Returns whether a step is a fence, or a multiplication that uses the registers."""
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
            for earlier in self._predecessors[block]:
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
        """Searches the steps of one block backwards.

        Returns the registers to search for before the block; None where the path ends.
        """
        for step in reversed(tuple(steps)):
            part = self._events[step]
            match part.kind:
                case WgmmaEventKind.FENCE if step is not self._ignored:
                    found.ordering_steps.add(step)
                    return None
                case WgmmaEventKind.UNKNOWN:
                    found.is_unclear = True
                    return None
                case WgmmaEventKind.ISSUE if not part.registers.isdisjoint(wanted):
                    found.ordering_steps.add(step)
                    return None
                case WgmmaEventKind.COPY if part.target in wanted:
                    found.moves.add(step)
                    wanted = _rename_through_move(part, wanted)
                case WgmmaEventKind.OTHER if not part.registers.isdisjoint(wanted):
                    found.accesses.setdefault(step, min(part.registers & wanted))
                    return None
        return wanted


def _rename_through_move(part: WgmmaEvent, wanted: frozenset[str]) -> frozenset[str]:
    """Returns the registers before a move. The move of a constant has no source: compilers may place it anywhere."""
    rest = wanted if part.is_guarded else wanted - {part.target}
    return rest.union(part.sources)
