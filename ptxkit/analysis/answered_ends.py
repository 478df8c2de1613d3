"""Ends of mbarriers' lives to which an atomic's answer sends one thread, and waits of others that it is not behind.

`if (atomicAdd(&left, -1) == 1) mbarrier.inval`: who comes last ends what all have used. Walks guess the answer. But
whoever gets it, the others' waits come before their own atomics, and those order nothing without a release before them.
Source: PTX ISA, "Release and Acquire Patterns", "Causality Order", "mbarrier.inval".
"""

from __future__ import annotations

from functools import cached_property

from ptxkit.analysis.causality import Causality, Path
from ptxkit.analysis.collectives import WARP
from ptxkit.analysis.deciders import Deciders
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.program import Step
from ptxkit.analysis.thread import Thread
from ptxkit.isa.effects import Access

#: Special registers that may decide, too: which thread it is, and how many there are.
_PLACES = ("%tid", "%laneid", "%lanemask", "%warpid", "%ntid", "%nwarpid", "%ctaid", "%nctaid", "WARP_SZ")


class AnsweredEnds:
    """What atomics of a kernel decide."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._decided: dict[Step, Step | None] = {}
        self._causality: dict[int, Causality] = {}

    def atomic_of(self, end: Step) -> Step | None:
        """The atomic whose answer, and nothing else that is in memory, decides whether a step is executed."""
        if end not in self._decided:
            self._decided[end] = self._decide(end)
        return self._decided[end]

    def _decide(self, end: Step) -> Step | None:
        program = self._kernel.program
        if not self._atomics or program.called or not any(step is end for step in program.steps):
            return None
        found = self._deciders.of(end, None)
        places = all(name.startswith(_PLACES) for name in found.specials)
        return next(iter(found.answers)) if len(found.answers) == 1 and places and not found.is_data else None

    @cached_property
    def _atomics(self) -> set[Step]:
        return {step for step in self._kernel.program.steps if _answers(step)}

    @cached_property
    def _deciders(self) -> Deciders:
        return Deciders(self._kernel.program, self._kernel.explorer.certainty, self._atomics)

    def is_behind(self, world: World, wait: tuple[Thread, int], end: tuple[Thread, int]) -> bool:
        """Whether anything may order one thread's wait before another's end of the object's life."""
        (giver, since), (taker, until) = wait, end
        if giver.tid // WARP == taker.tid // WARP or not world.is_whole:
            return True  # lanes tell each other in many ways
        causality = self._causality.get(id(world))
        if causality is None:
            causality = self._causality[id(world)] = Causality(world, world.budget, released=True)
        here, there = causality.path_of(giver.tid), causality.path_of(taker.tid)
        start, stop = _place(causality, here, giver, since), _place(causality, there, taker, until)
        return start is None or stop is None or causality.may_precede(here, start, there, stop)


def _place(causality: Causality, path: Path, thread: Thread, position: int) -> int | None:
    """Where a path has an event of one of its threads."""
    event = thread.trace.events[position]
    return causality.places(path.group).get((event.step, event.visit))


def _answers(step: Step) -> bool:
    """Whether a step is an atomic that gives an answer, and releases nothing by itself."""
    return (
        step.match is not None
        and bool(step.match.results)
        and any(
            isinstance(e, Access) and e.kind == "update" and e.order in ("relaxed", "acquire") for e in step.effects
        )
    )
