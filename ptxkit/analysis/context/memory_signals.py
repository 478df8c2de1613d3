"""Finds where strong accesses to memory, such as flags, may order the threads of a CTA.

A strong write of one thread may order what a strong read of another one precedes. No exploration counts the values of
flags, but a thread that has not yet arrived at a round of the CTA's barrier reads before each write that another one
makes after that round. Positions are indices into the events of a path's group.

Source: PTX ISA, "Causality Order", "Release and Acquire Patterns".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from ptxkit.analysis.cfg.reachability import Reachability, StepSet
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import is_result_used
from ptxkit.isa.effects import Access, ProxyFence
from ptxkit.semantics.ordering import ACQUIRE_ORDERS, MAY_ACQUIRE_ORDERS, MAY_RELEASE_ORDERS, RELEASE_ORDERS, is_fence

#: The barrier at which all threads of the CTA arrive.
CTA_BARRIER_KEY = ("cta", 0)


class SignalSteps:
    """The instructions of a program by which a thread may release to, or acquire from, other threads through memory.

    An access may have this order itself; a fence releases where a strong write may follow, and acquires where a strong
    read may precede it. volatile_orders: whether volatile accesses release and acquire.
    """

    def __init__(self, program: Program, *, volatile_orders: bool = True) -> None:
        reachability = program.analysis(Reachability)
        writes, reads = (
            [step for step in program.effectful_steps if _is_strong_access(program, step, kind)]
            for kind in ("write", "read")
        )
        before_writes, after_reads = reachability.steps_reaching(writes), reachability.steps_reachable_from(reads)
        release, acquire = (
            (MAY_RELEASE_ORDERS, MAY_ACQUIRE_ORDERS) if volatile_orders else (RELEASE_ORDERS, ACQUIRE_ORDERS)
        )
        signaling = [step for step in program.effectful_steps if _may_signal(step, release | acquire)]
        self.releases = frozenset(step for step in signaling if step in before_writes and _may_signal(step, release))
        self.acquires = frozenset(step for step in signaling if step in after_reads and _may_signal(step, acquire))


def _signals_without_volatile(program: Program) -> SignalSteps:
    return SignalSteps(program, volatile_orders=False)


class MemorySignals:
    """The releases and acquires by strong accesses of some paths, by the rounds of the CTA's barrier.

    A strong write orders what its thread did before its last release, and a strong read what its thread does after its
    next acquire. volatile_orders: whether volatile accesses release and acquire. end_of_known_rounds: returns the
    position of a path up to which its rounds of the barrier are those of the other threads.
    """

    def __init__(
        self,
        program: Program,
        paths: Sequence[WarpPath],
        volatile_orders: bool,
        end_of_known_rounds: Callable[[WarpPath], int],
    ) -> None:
        self._program = program
        self._paths = paths
        self._end_of_known_rounds = end_of_known_rounds
        self._reads_after_cache: dict[int, Sequence[tuple[WarpPath, int]]] = {}
        self._reach_cache: dict[tuple[frozenset[Step], bool], StepSet] = {}
        signals = program.analysis(SignalSteps if volatile_orders else _signals_without_volatile)
        self._writes = self._paths_with(signals.releases)
        self._reads = self._paths_with(signals.acquires)
        self._last_write = {path: self._last_position(path, strong) for path, strong in self._writes.items()}

    @property
    def may_order(self) -> bool:
        """Whether a strong write of one thread may order what a strong read of another thread precedes."""
        return bool(self._writes) and bool(self._reads)

    def round_of_next_write(self, path: WarpPath, since: int) -> int | None:
        """Returns how many rounds of the barrier are complete when a path may first release by a strong write.

        since: the position from which on it is to do so; None where it does not.
        """
        if since > self._last_write.get(path, -1):
            return None
        rounds = self._rounds_with(path, self._writes[path], since, path.release_acquire_points.acquires)
        return next(rounds, 0)

    def may_release(self, path: WarpPath) -> bool:
        """Returns whether a path has a strong write, so that each of its positions may decide `round_of_next_write`."""
        return path in self._last_write

    def reads_after(self, ordinal: int) -> Sequence[tuple[WarpPath, int]]:
        """Returns each path that may read what is written after a round, and its first position after such a read."""
        found = self._reads_after_cache.get(ordinal)
        if found is None:
            found = self._reads_after_cache[ordinal] = list(self._find_reads_after(ordinal))
        return found

    def _find_reads_after(self, ordinal: int) -> Iterator[tuple[WarpPath, int]]:
        for path, strong in self._reads.items():
            events, arrivals = path.group.events, path.release_acquire_points.releases
            rounds = self._rounds_with(path, strong, 0, arrivals)
            number = next((each for each in rounds if each >= ordinal), None)
            if number is not None:
                following = self._steps_near(strong, forward=True)
                first = self._rounds_of(path, arrivals)[number - 1] if number else 0
                yield path, next((at for at in range(first, len(events)) if events[at].step in following), len(events))
            elif path.is_truncated:
                yield path, len(events)

    def _rounds_with(
        self, path: WarpPath, strong: frozenset[Step], since: int, marks: Mapping[Hashable, list[int]]
    ) -> Iterator[int]:
        """Yields the numbers of rounds after which a path may execute one of some steps, from a position on.

        marks: where threads acquire from barriers, or where they release.
        """
        positions, events = self._rounds_of(path, marks), path.group.events
        first = bisect_right(positions, since)
        for number in range(first, len(positions) + 1):
            between = strong
            start = since if number == first and since < len(events) else positions[number - 1] if number else 0
            if start or number:
                after = self._steps_near(frozenset([events[start].step]), forward=True)
                between = frozenset(step for step in between if step in after)
            if number < len(positions):
                before = self._steps_near(frozenset([events[positions[number]].step]), forward=False)
                between = frozenset(step for step in between if step in before)
            if between:
                yield number

    def _rounds_of(self, path: WarpPath, marks: Mapping[Hashable, list[int]]) -> list[int]:
        """Returns the positions of a path in the known rounds of the barrier of the CTA."""
        positions = marks.get(CTA_BARRIER_KEY, [])
        return positions[: bisect_left(positions, self._end_of_known_rounds(path))]

    def _last_position(self, path: WarpPath, strong: frozenset[Step]) -> int:
        """Returns the last position from which a path may reach one of some steps."""
        events, ahead = path.group.events, self._steps_near(strong, forward=False)
        last = next((at for at in range(len(events) - 1, -1, -1) if events[at].step in ahead), -1)
        return len(events) if path.is_truncated else last

    def _steps_near(self, steps: frozenset[Step], *, forward: bool) -> StepSet:
        """Returns some steps with those that may follow one of them, or that may precede one."""
        found = self._reach_cache.get((steps, forward))
        if found is None:
            reachability = self._program.analysis(Reachability)
            find = reachability.steps_reachable_from if forward else reachability.steps_reaching
            found = self._reach_cache[steps, forward] = find(steps)
        return found

    def _paths_with(self, steps: frozenset[Step]) -> dict[WarpPath, frozenset[Step]]:
        """Maps each path that executes some of the steps to these."""
        found = {path: steps & path.group.covered_steps for path in self._paths if steps}
        return {path: executed for path, executed in found.items() if executed}


def _may_signal(step: Step, orders: frozenset[str]) -> bool:
    """Returns whether a step is an access of one of some orders, or a fence that gives another access such an order."""
    return any(
        (isinstance(effect, Access) and effect.order in orders)
        or is_fence(effect, proxy_fences=isinstance(effect, ProxyFence) and effect.scope is not None, orders=orders)
        for effect in step.effects
    )


def _is_strong_access(program: Program, step: Step, kind: str) -> bool:
    """Whether a step has a strong access of a kind; what reads a value that the kernel ignores may be any early read.

    Nothing that the kernel does shows what such an instruction has read, so it need not have observed any write.
    """
    strong = [
        effect
        for effect in step.effects
        if isinstance(effect, Access)
        and (effect.proxy, effect.completion) == ("generic", None)
        and effect.order != "weak"
        and effect.kind in (kind, "update")
    ]
    return bool(strong) and (kind == "write" or is_result_used(program, step))
