"""Proves for all paths that a `wgmma.fence` is between the accesses to registers and a multiplication that uses them.

The domain has, as bit masks, the registers that an instruction accessed since the last fence or the last multiplication
that uses them, and those that multiplications of each shape write, which others of the same shape may use without one.
A plain move gives a value another name, and is no access.

Source: PTX ISA, "wgmma.fence".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.path_cases import path_cases
from ptxkit.analysis.abstract_interpretation.returning_calls import has_known_paths
from ptxkit.analysis.abstract_interpretation.solver import ForwardSolution
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.registers.wgmma_events import WgmmaEvent, WgmmaEventKind, WgmmaEvents

_GROUP = "wgmma"
#: The bit of a mask that is set until a fence is executed: that of a value which no register had before.
_START = 1

_Written: TypeAlias = tuple[tuple[int, int], ...]
"""The registers that multiplications write since the last fence: (number of accumulators, mask), in this order."""

_State: TypeAlias = tuple[int, _Written]
"""The registers with an access since the last fence, and those that multiplications write."""


class _RegisterFenceDomain:
    """The domain of one function."""

    def __init__(self, program: Program) -> None:
        self._events = WgmmaEvents(_GROUP)
        events = [self._events[step] for step in program.steps]
        self.issues = [each for each in events if each.kind is WgmmaEventKind.ISSUE]
        self.fences = tuple(each.step for each in events if each.kind is WgmmaEventKind.FENCE)
        sources: dict[str, list[str]] = defaultdict(list)
        for each in events:
            sources[each.target].extend(each.sources)
        names = Worklist(name for issue in self.issues for name in sorted(issue.registers))
        for name in names:
            names.add(sources.get(name, ()))
        self._bits = {name: _START << number for number, name in enumerate(sorted(names.seen), 1)}

    def is_relevant(self, step: Step) -> bool:
        event = self._events[step]
        if event.kind in (WgmmaEventKind.COMMIT, WgmmaEventKind.WAIT):
            return False
        return event.kind in (WgmmaEventKind.FENCE, WgmmaEventKind.UNKNOWN) or bool(self._mask(event.registers))

    def entry(self) -> _State:
        return (_START << len(self._bits) + 1) - 1, ()

    def join(self, first: _State, second: _State) -> _State:
        return first[0] | second[0], _merge(first[1], second[1])

    def transfer(self, step: Step, state: _State) -> _State:
        event, (accessed, written) = self._events[step], state
        match event.kind:
            case WgmmaEventKind.FENCE:
                return 0, ()
            case WgmmaEventKind.UNKNOWN:
                return self.entry()
            case WgmmaEventKind.OTHER:
                return accessed | self._mask(event.registers), written
            case WgmmaEventKind.ISSUE:  # the accesses before it are what it demands a fence for itself
                accessed &= ~(self._mask(event.registers) | _START)
                return accessed, _merge(written, ((event.accumulator_count, self._mask(event.accumulators)),))
            case WgmmaEventKind.COPY:
                target = self._bits.get(event.target, 0)
                source = sum(self._bits.get(each, 0) for each in event.sources) if event.sources else _START
                renamed = ((count, _rename(mask, source, target)) for count, mask in written)
                return _rename(accessed, source, target), tuple(renamed)
        return state

    def is_fenced(self, issue: WgmmaEvent, state: _State) -> bool:
        """Returns whether a fence follows all accesses to the registers of a multiplication, in the state before it."""
        accessed, written = state
        others = [mask for count, mask in written if count != issue.accumulator_count]
        used, read = self._mask(issue.registers), self._mask(issue.fragments)
        is_shared = any(mask & used for mask in others) or any(mask & read for _, mask in written)
        return not (accessed & (used | _START) or is_shared)

    def _mask(self, registers: Iterable[str]) -> int:
        found = 0
        for name in registers:
            found |= self._bits.get(name, 0)
        return found


def _merge(first: _Written, second: _Written) -> _Written:
    if first == second:
        return first
    found = dict(first)
    for count, mask in second:
        found[count] = found.get(count, 0) | mask
    return tuple(sorted(found.items()))


def _rename(mask: int, source: int, target: int) -> int:
    """Returns a mask in which the target of a move is what its source is."""
    return mask | target if mask & source else mask & ~target


def proof_of_register_fence(program: Program, step: Step) -> tuple[Step, ...] | None:
    """Returns the fences of which one follows all accesses to the registers of a multiplication, on each path to it.

    The result is None if there may be a path without.
    """
    fences, unfenced = program.analysis(_find_unfenced)
    return None if step in unfenced else fences


def _find_unfenced(program: Program) -> tuple[tuple[Step, ...], frozenset[Step]]:
    """Returns the fences of a function, and the multiplications for which no fence is proven."""
    domain = _RegisterFenceDomain(program)
    issues = {issue.step: issue for issue in domain.issues}
    if not has_known_paths(program):
        return domain.fences, frozenset(issues)
    cfg = program.analysis(ControlFlowGraph)
    unfenced: set[Step] = set()
    for case in path_cases(program, cfg, [*domain.fences, *issues]):
        solution = ForwardSolution(case, domain)
        for block in {cfg.block_of(step) for step in issues}:
            for step, state in solution.states_before(block):
                is_executed = step in issues and case.executes(step) is not False
                if is_executed and not domain.is_fenced(issues[step], state):
                    unfenced.add(step)
    return domain.fences, frozenset(unfenced)
