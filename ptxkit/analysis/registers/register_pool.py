"""Determines whether the registers that the warps of a CTA request with `setmaxnreg` ever become available.

The total number of registers is constant: a warp can have more than its initial number only if other warps have
released as many. Warps that exit release nothing (on an H200, an increase that depends on their registers never
returns). At a barrier of all threads of the CTA, each warp has the number that it set last. Each stage, from one such
barrier to the next, must therefore use only the registers that are available in it, whatever is released later.

Source: PTX ISA, "setmaxnreg".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

from ptxkit.analysis.context.collective_participation import WARPGROUP
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.limits import MAX_THREAD_REGISTERS
from ptxkit.analysis.registers.setmaxnreg_counts import setmaxnreg_operands_of
from ptxkit.analysis.symexec.trace import ThreadTrace, TraceEvent, UnknownCall
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Barrier, RegisterCount
from ptxkit.syntax.constants import WARP_SIZE


class RegisterPool:
    """The registers of one CTA that its warps release and request.

    start: the maximum initial number of registers of a thread. trusts_guesses: whether the paths that the warps were
    seen to take count as known, although an earlier branch was guessed.
    """

    def __init__(self, facts: ScenarioFacts, start: int, *, trusts_guesses: bool = False) -> None:
        self._facts = facts
        self._threads = facts.scenario.launch.threads
        self.initial_count = start
        self.trusts_guesses = trusts_guesses

    def max_available(self, thread: ThreadView, position: int, count: int) -> int | None:
        """Returns the maximum number of registers that each thread of a thread's warpgroup may get at a position.

        The result is None if this is at least the `count` that it requests there. All other warps are assumed to have
        released what they release in that stage, or to keep what they have at its end.
        """
        if not self._stages:
            return None
        held = self._stages[self._stage_at(thread, position)]
        first = thread.tid // WARPGROUP * (WARPGROUP // WARP_SIZE)
        team = [warp for warp in held if first <= warp < first + WARPGROUP // WARP_SIZE]
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
        """The registers of each warp, by stage.

        Where the path of some warp is not known, the last stage includes everything that follows.
        """
        known_threads = self._facts.all_threads(RegisterCount, Barrier) or []
        # Most threads of a warp take the same path.
        paths = dict.fromkeys(
            (each.tid // WARP_SIZE, _sequence_of(each.trace, self._threads, self.trusts_guesses))
            for each in known_threads
        )
        lowest = min(setmaxnreg_operands_of(self._facts.program), default=self.initial_count)
        common = _count_common_barriers([path for _, path in paths])
        stages: list[dict[int, _StageRegisters]] = []
        for stage in range(common + 1 if paths else 0):
            held: dict[int, _StageRegisters] = {}
            for warp, path in paths:
                first = stages[-1][warp].last if stages else self.initial_count
                counts = [first, *path.counts_in(stage, common)]
                if stage == common and not path.is_complete:
                    counts.append(lowest)
                other = held.get(warp, _StageRegisters(first, MAX_THREAD_REGISTERS, MAX_THREAD_REGISTERS))
                held[warp] = _StageRegisters(first, min(other.minimum, *counts), min(other.last, counts[-1]))
            stages.append(held)
        return stages


@dataclass(frozen=True, slots=True)
class _StageRegisters:
    """The minimum numbers of registers of a warp's threads in a stage: at its beginning, throughout, and at its end."""

    first: int
    minimum: int
    last: int


@dataclass(frozen=True, slots=True)
class _SetmaxnregSequence:
    """The counts that one thread sets, and the barriers of all threads at which it waits.

    barriers: the numbers of the barriers. counts: the counts that it sets before the first barrier, between two
    barriers, and after the last one. is_complete: whether its whole path is known.
    """

    barriers: tuple[int, ...]
    counts: tuple[tuple[int, ...], ...]
    is_complete: bool

    def counts_in(self, stage: int, last: int) -> list[int]:
        """Returns the counts that are set in a stage; the last stage includes all that follow."""
        return list(chain(*self.counts[stage : None if stage == last else stage + 1]))


def _sequence_of(trace: ThreadTrace, threads: int, trusts_guesses: bool) -> _SetmaxnregSequence:
    met: list[int] = []
    counts: list[list[int]] = [[]]
    is_complete = trace.end_reason == "exit" and (trusts_guesses or trace.is_certain())
    for position, event in enumerate(trace.events):
        if isinstance(event, UnknownCall) or not (trusts_guesses or trace.is_certain(position)):
            is_complete = False
            break
        sets, waits = isinstance(event.effect, RegisterCount), _is_full_cta_wait(event, threads)
        if not sets and waits is None:
            continue
        if not isinstance(event.amount, int) or waits is False:
            is_complete = False
            break
        if sets:
            counts[-1].append(event.amount)
        else:
            met.append(event.amount)
            counts.append([])
    return _SetmaxnregSequence(tuple(met), tuple(map(tuple, counts)), is_complete)


def _count_common_barriers(paths: Sequence[_SetmaxnregSequence]) -> int:
    """Returns how many barriers are common to all threads; a thread that has exited need not arrive."""
    longest = max((path.barriers for path in paths), key=len, default=())
    kept = [len(longest)]
    for path in paths:
        pairs = zip(path.barriers, longest, strict=False)
        same = next((at for at, (one, other) in enumerate(pairs) if one != other), len(path.barriers))
        kept.append(len(longest) if path.is_complete and same == len(path.barriers) else same)
    return min(kept)


def _is_full_cta_wait(event: TraceEvent, threads: int) -> bool | None:
    """Returns whether a thread waits at a barrier of all threads of its CTA.

    The result is false where it only arrives, and None for anything else than a barrier of the CTA.
    """
    effect = event.effect
    if not isinstance(effect, Barrier) or effect.level != "cta":
        return None
    return effect.action == "sync" if effect.threads is None or event.size == threads else None
