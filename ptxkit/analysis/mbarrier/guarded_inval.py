"""Finds mbarrier invalidations guarded by the result of an atomic, and waits that do not precede them.

An example is `if (atomicAdd(&left, -1) == 1) mbarrier.inval`, where the last thread invalidates the mbarrier that all
threads have used. The executor guesses the result of the atomic. Whichever thread receives it, the waits of the others
precede their own atomics in program order, and these atomics order nothing without a release before them.

Source: PTX ISA, "Release and Acquire Patterns", "Causality Order", "mbarrier.inval".
"""

from __future__ import annotations

from functools import cached_property

from ptxkit.analysis.context.happens_before import HappensBefore
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.dataflow.condition_inputs import ConditionInputs
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import GroupTrace, ThreadTrace
from ptxkit.isa.effects import Access
from ptxkit.syntax.constants import WARP_SIZE

#: The special registers that may also decide: they give the position of the thread, and the number of threads.
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
    """The steps that the results of a kernel's atomics guard."""

    def __init__(self, kernel: KernelFacts) -> None:
        self._kernel = kernel
        self._guarding_atomics: dict[Step, Step | None] = {}
        self._happens_before: dict[int, HappensBefore] = {}

    def guarding_atomic_of(self, end: Step) -> Step | None:
        """Returns the atomic whose result, and nothing else in memory, decides whether a step is executed."""
        if end not in self._guarding_atomics:
            self._guarding_atomics[end] = self._find_guarding_atomic(end)
        return self._guarding_atomics[end]

    def _find_guarding_atomic(self, end: Step) -> Step | None:
        program = self._kernel.program
        if not self._atomics or program.callees or not program.contains(end):
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

    @staticmethod
    def is_path_known(facts: ScenarioFacts, wait: tuple[ThreadView, int], atomic: Step) -> bool:
        """Returns whether no guess decides what precedes the atomic in any thread, and follows a wait in its thread.

        A thread that a guess leads past the atomic may release the wait on its other path.
        """
        thread, at = wait
        return _is_certain_until(thread.trace, atomic, at) and all(
            _is_certain_until(group, atomic, 0) for group in facts.groups
        )

    def may_be_ordered_after(
        self, facts: ScenarioFacts, wait: tuple[ThreadView, int], end: tuple[ThreadView, int]
    ) -> bool:
        """Returns whether anything may order one thread's wait before the invalidation by another thread."""
        (releaser, since), (acquirer, until) = wait, end
        if releaser.tid // WARP_SIZE == acquirer.tid // WARP_SIZE or not facts.is_complete:
            return True  # there are many other means by which lanes synchronize
        causality = self._happens_before.get(id(facts))
        if causality is None:
            causality = self._happens_before[id(facts)] = HappensBefore.of(facts)
        here, there = causality.path_of(releaser.tid), causality.path_of(acquirer.tid)
        start, stop = (
            _path_position(causality, here, releaser, since),
            _path_position(causality, there, acquirer, until),
        )
        return start is None or stop is None or causality.may_precede(here, start, there, stop)


def _is_certain_until(trace: ThreadTrace | GroupTrace, atomic: Step, start: int) -> bool:
    """Returns whether no guess precedes an execution of the atomic from a position on, or the end without one."""
    guess = trace.first_guess
    return guess is None or any(event.step is atomic for event in trace.events[start:guess])


def _path_position(causality: HappensBefore, path: WarpPath, thread: ThreadView, position: int) -> int | None:
    """Returns the position at which a path has an event of one of its threads; None if it has not."""
    event = thread.trace.events[position]
    return causality.positions_by_execution(path.group).get((event.step, event.visit))


def _is_returning_atomic(step: Step) -> bool:
    """Returns whether a step is an atomic that returns a result and releases nothing by itself."""
    return (
        step.match is not None
        and bool(step.match.results)
        and any(
            isinstance(e, Access) and e.kind == "update" and e.order in ("relaxed", "acquire") for e in step.effects
        )
    )
