"""The registers of one CTA, which `setmaxnreg` redistributes: whether what its warps request is ever available.

None come in: one warp can only have more than it started with where others gave as many away. Warps that exit release
nothing (on an H200 an increase that needs theirs never returns). Where all threads of the CTA meet, all have at once
what each has set last; so each stage, from one such meeting to the next, must use the registers that are available,
whatever is released later. Source: PTX ISA, "setmaxnreg".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

from ptxkit.analysis.context.collective_participation import WARP, WARPGROUP
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.limits import MAX_THREAD_REGISTERS
from ptxkit.analysis.registers.setmaxnreg_counts import setmaxnreg_operands_of
from ptxkit.analysis.symexec.trace import ThreadTrace, TraceEvent, UnknownCall
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Barrier, RegisterCount


class RegisterPool:
    """The registers of one CTA, by what its warps give away and take. start: what a thread starts with, at most."""

    def __init__(self, facts: ScenarioFacts, start: int) -> None:
        self._facts = facts
        self._threads = facts.scenario.launch.threads
        self.initial_count = start

    def max_available(self, thread: ThreadView, position: int, count: int) -> int | None:
        """The registers that each thread of a thread's warpgroup may get at a position, at most, where these are fewer
        than the `count` that it requests there: all others have given away what they give in that stage, or keep what
        they end it with."""
        if not self._stages:
            return None
        held = self._stages[self._stage_at(thread, position)]
        first = thread.tid // WARPGROUP * (WARPGROUP // WARP)
        team = [warp for warp in held if first <= warp < first + WARPGROUP // WARP]
        given = sum(self.initial_count - each.minimum for warp, each in held.items() if warp not in team)
        most = self.initial_count + given // len(team)
        if count > most:
            return most
        missing = sum(each.last for each in held.values()) - self.initial_count * len(held)
        readers = [each.last for each in held.values() if each.last > each.first]
        return min(count, max(readers)) - -(-missing // len(readers)) if missing > 0 and readers else None

    def _stage_at(self, thread: ThreadView, position: int) -> int:
        met = sum(
            at < position and _is_full_cta_wait(event, self._threads) is True for at, event in thread.positions(Barrier)
        )
        return min(met, len(self._stages) - 1)

    @cached_property
    def _stages(self) -> list[dict[int, _StageRegisters]]:
        """What each warp has, by stage; the last one is all that follows where the path of some warp is not known."""
        everyone = self._facts.all_threads(RegisterCount, Barrier) or []
        paths = {thread.tid: _sequence_of(thread.trace, self._threads) for thread in everyone}
        lowest = min(setmaxnreg_operands_of(self._facts.program), default=self.initial_count)
        common = _count_common_barriers([*paths.values()])
        stages: list[dict[int, _StageRegisters]] = []
        for stage in range(common + 1 if paths else 0):
            held: dict[int, _StageRegisters] = {}
            for tid, path in paths.items():
                first = stages[-1][tid // WARP].last if stages else self.initial_count
                counts = [first, *path.counts_in(stage, common)]
                if stage == common and not path.is_complete:
                    counts.append(lowest)
                other = held.get(tid // WARP, _StageRegisters(first, MAX_THREAD_REGISTERS, MAX_THREAD_REGISTERS))
                held[tid // WARP] = _StageRegisters(first, min(other.minimum, *counts), min(other.last, counts[-1]))
            stages.append(held)
        return stages


@dataclass(frozen=True, slots=True)
class _StageRegisters:
    """The registers that each thread of a warp has in a stage, at least: as it begins, the fewest, and as it ends."""

    first: int
    minimum: int
    last: int


@dataclass(frozen=True, slots=True)
class _SetmaxnregSequence:
    """What one thread sets, and where it meets all others.

    barriers: their numbers. counts: what it sets before the first, between two, and after the last. is_complete:
    whether that is all that it does.
    """

    barriers: list[int]
    counts: list[list[int]]
    is_complete: bool

    def counts_in(self, stage: int, last: int) -> list[int]:
        """What is set in a stage, of which the last one takes all that follows."""
        return list(chain(*self.counts[stage : None if stage == last else stage + 1]))


def _sequence_of(trace: ThreadTrace, threads: int) -> _SetmaxnregSequence:
    met: list[int] = []
    counts: list[list[int]] = [[]]
    for position, event in enumerate(trace.events):
        if isinstance(event, UnknownCall) or not trace.is_certain(position):
            return _SetmaxnregSequence(met, counts, is_complete=False)
        sets, waits = isinstance(event.effect, RegisterCount), _is_full_cta_wait(event, threads)
        if not sets and waits is None:
            continue
        if not isinstance(event.amount, int) or waits is False:
            return _SetmaxnregSequence(met, counts, is_complete=False)
        if sets:
            counts[-1].append(event.amount)
        else:
            met.append(event.amount)
            counts.append([])
    return _SetmaxnregSequence(met, counts, trace.end_reason == "exit" and trace.is_certain())


def _count_common_barriers(paths: Sequence[_SetmaxnregSequence]) -> int:
    """How many barriers are common to all threads; those that have ended need not come any more."""
    longest = max((path.barriers for path in paths), key=len, default=[])
    kept = [len(longest)]
    for path in paths:
        pairs = zip(path.barriers, longest, strict=False)
        same = next((at for at, (one, other) in enumerate(pairs) if one != other), len(path.barriers))
        kept.append(len(longest) if path.is_complete and same == len(path.barriers) else same)
    return min(kept)


def _is_full_cta_wait(event: TraceEvent, threads: int) -> bool | None:
    """Whether a thread waits at a barrier of all threads of its CTA, or only arrives; None of anything else."""
    effect = event.effect
    if not isinstance(effect, Barrier) or effect.level != "cta":
        return None
    return effect.action == "sync" if effect.threads is None or event.size == threads else None
