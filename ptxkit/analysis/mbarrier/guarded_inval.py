"""Ends of mbarriers' lives for which an atomic's result selects one thread, and waits of others that do not precede
them.

`if (atomicAdd(&left, -1) == 1) mbarrier.inval`: the last thread invalidates what all have used. The executor guesses
the result. But whichever thread gets it, the others' waits come before their own atomics, and those order nothing
without a release before them.
Source: PTX ISA, "Release and Acquire Patterns", "Causality Order", "mbarrier.inval".
"""

from __future__ import annotations

from functools import cached_property

from ptxkit.analysis.context.collective_participation import WARP
from ptxkit.analysis.context.happens_before import HappensBefore
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.dataflow.condition_inputs import ConditionInputs
from ptxkit.analysis.ir.program import Step
from ptxkit.isa.effects import Access

#: Special registers that may decide, too: which thread it is, and how many there are.
_THREAD_POSITION_REGISTERS = (
    "%tid",
    "%laneid",
    "%lanemask",
    "%warpid",
    "%ntid",
    "%nwarpid",
    "%ctaid",
    "%nctaid",
    "WARP_SZ",
)


class AtomicGuardedInval:
    """What atomics of a kernel decide."""

    def __init__(self, kernel: KernelFacts) -> None:
        self._kernel = kernel
        self._guarding_atomics: dict[Step, Step | None] = {}
        self._happens_before: dict[int, HappensBefore] = {}

    def guarding_atomic_of(self, end: Step) -> Step | None:
        """The atomic whose answer, and nothing else that is in memory, decides whether a step is executed."""
        if end not in self._guarding_atomics:
            self._guarding_atomics[end] = self._find_guarding_atomic(end)
        return self._guarding_atomics[end]

    def _find_guarding_atomic(self, end: Step) -> Step | None:
        program = self._kernel.program
        if not self._atomics or program.callees or not any(step is end for step in program.steps):
            return None
        found = self._condition_inputs.inputs_of(end, None)
        places = all(name.startswith(_THREAD_POSITION_REGISTERS) for name in found.special_registers)
        return next(iter(found.atomics)) if len(found.atomics) == 1 and places and not found.is_data else None

    @cached_property
    def _atomics(self) -> set[Step]:
        return {step for step in self._kernel.program.steps if _is_returning_atomic(step)}

    @cached_property
    def _condition_inputs(self) -> ConditionInputs:
        return ConditionInputs(self._kernel.program, self._kernel.explorer.input_independence, self._atomics)

    def may_be_ordered_after(
        self, facts: ScenarioFacts, wait: tuple[ThreadView, int], end: tuple[ThreadView, int]
    ) -> bool:
        """Whether anything may order one thread's wait before another's end of the object's life."""
        (releaser, since), (acquirer, until) = wait, end
        if releaser.tid // WARP == acquirer.tid // WARP or not facts.is_complete:
            return True  # lanes synchronize in many ways
        causality = self._happens_before.get(id(facts))
        if causality is None:
            causality = self._happens_before[id(facts)] = HappensBefore(facts, facts.budget, released=True)
        here, there = causality.path_of(releaser.tid), causality.path_of(acquirer.tid)
        start, stop = (
            _path_position(causality, here, releaser, since),
            _path_position(causality, there, acquirer, until),
        )
        return start is None or stop is None or causality.may_precede(here, start, there, stop)


def _path_position(causality: HappensBefore, path: WarpPath, thread: ThreadView, position: int) -> int | None:
    """Where a path has an event of one of its threads."""
    event = thread.trace.events[position]
    return causality.positions_by_execution(path.group).get((event.step, event.visit))


def _is_returning_atomic(step: Step) -> bool:
    """Whether a step is an atomic that gives an answer, and releases nothing by itself."""
    return (
        step.match is not None
        and bool(step.match.results)
        and any(
            isinstance(e, Access) and e.kind == "update" and e.order in ("relaxed", "acquire") for e in step.effects
        )
    )
