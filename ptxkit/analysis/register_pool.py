"""The registers of one CTA, which `setmaxnreg` shares out anew: whether what its warps ask for is ever there.

None come in: one warp can only have more than it started with where others gave as many away. Warps that exit give
nothing back (on an H200 an increase that needs theirs waits for ever). Where all threads of the CTA meet, all have at
once what each has set last; so each stage, from one such meeting to the next, must do with what there is, whatever is
given away later.
Source: PTX ISA, "setmaxnreg".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

from ptxkit.analysis.collectives import WARP, WARPGROUP
from ptxkit.analysis.kernel import World
from ptxkit.analysis.register_counts import MOST, operands_of
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event, Opaque, Trace
from ptxkit.isa.effects import Barrier, RegisterCount
from ptxkit.records import dataclass


class Pool:
    """The registers of one CTA, by what its warps give away and take. start: what a thread starts with, at most."""

    def __init__(self, world: World, start: int) -> None:
        self._world = world
        self._threads = world.scenario.launch.threads
        self.start = start

    def most_for(self, thread: Thread, position: int, count: int) -> int | None:
        """The registers that each thread of a thread's warpgroup may get at a position, at most, where these are fewer
        than the `count` that it asks for there: all others have given away what they give in that stage, or keep what
        they end it with."""
        if not self._stages:
            return None
        held = self._stages[self._stage_of(thread, position)]
        first = thread.tid // WARPGROUP * (WARPGROUP // WARP)
        team = [warp for warp in held if first <= warp < first + WARPGROUP // WARP]
        given = sum(self.start - each.fewest for warp, each in held.items() if warp not in team)
        most = self.start + given // len(team)
        if count > most:
            return most
        missing = sum(each.last for each in held.values()) - self.start * len(held)
        takers = [each.last for each in held.values() if each.last > each.first]
        return min(count, max(takers)) - -(-missing // len(takers)) if missing > 0 and takers else None

    def _stage_of(self, thread: Thread, position: int) -> int:
        met = sum(
            at < position and _waits_for_all(event, self._threads) is True for at, event in thread.positions(Barrier)
        )
        return min(met, len(self._stages) - 1)

    @cached_property
    def _stages(self) -> list[dict[int, _Held]]:
        """What each warp has, by stage; the last one is all that follows where somebody's way is not known."""
        everyone = self._world.everyone(RegisterCount, Barrier) or []
        paths = {thread.tid: _path_of(thread.trace, self._threads) for thread in everyone}
        lowest = min(operands_of(self._world.program), default=self.start)
        common = _common_meetings([*paths.values()])
        stages: list[dict[int, _Held]] = []
        for stage in range(common + 1 if paths else 0):
            held: dict[int, _Held] = {}
            for tid, path in paths.items():
                first = stages[-1][tid // WARP].last if stages else self.start
                counts = [first, *path.counts_in(stage, common)]
                if stage == common and not path.known:
                    counts.append(lowest)
                other = held.get(tid // WARP, _Held(first, MOST, MOST))
                held[tid // WARP] = _Held(first, min(other.fewest, *counts), min(other.last, counts[-1]))
            stages.append(held)
        return stages


@dataclass(frozen=True, slots=True)
class _Held:
    """The registers that each thread of a warp has in a stage, at least: as it begins, the fewest, and as it ends."""

    first: int
    fewest: int
    last: int


@dataclass(frozen=True, slots=True)
class _Path:
    """What one thread sets, and where it meets all others.

    met: the numbers of those barriers. counts: what it sets before the first, between two, and behind the last. known:
    whether that is all that it does.
    """

    met: list[int]
    counts: list[list[int]]
    known: bool

    def counts_in(self, stage: int, last: int) -> list[int]:
        """What is set in a stage, of which the last one takes all that follows."""
        return list(chain(*self.counts[stage : None if stage == last else stage + 1]))


def _path_of(trace: Trace, threads: int) -> _Path:
    met: list[int] = []
    counts: list[list[int]] = [[]]
    for position, event in enumerate(trace.events):
        if isinstance(event, Opaque) or not trace.is_sure(position):
            return _Path(met, counts, known=False)
        sets, waits = isinstance(event.effect, RegisterCount), _waits_for_all(event, threads)
        if not sets and waits is None:
            continue
        if not isinstance(event.amount, int) or waits is False:
            return _Path(met, counts, known=False)
        if sets:
            counts[-1].append(event.amount)
        else:
            met.append(event.amount)
            counts.append([])
    return _Path(met, counts, trace.ended == "exit" and trace.is_sure())


def _common_meetings(paths: Sequence[_Path]) -> int:
    """How many meetings come for all threads alike; those that have ended need not come any more."""
    longest = max((path.met for path in paths), key=len, default=[])
    kept = [len(longest)]
    for path in paths:
        pairs = zip(path.met, longest, strict=False)
        same = next((at for at, (one, other) in enumerate(pairs) if one != other), len(path.met))
        kept.append(len(longest) if path.known and same == len(path.met) else same)
    return min(kept)


def _waits_for_all(event: Event, threads: int) -> bool | None:
    """Whether a thread waits at a barrier of all threads of its CTA, or only arrives; None of anything else."""
    effect = event.effect
    if not isinstance(effect, Barrier) or effect.level != "cta":
        return None
    return effect.action == "sync" if effect.threads is None or event.size == threads else None
