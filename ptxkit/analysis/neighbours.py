"""Threads worth walking because the representatives read what they copied.

A tile is copied by all threads and read by others than copied it. From where threads 0, 1 and 32 copy to, the
thread that copies a given byte is guessed, row by row; walking it tells whether the guess was right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.budget import MAX_NEIGHBOURS
from ptxkit.analysis.program import Step
from ptxkit.analysis.trace import Event, Trace
from ptxkit.isa.effects import Access


def neighbours(traces: dict[int, Trace], threads: int) -> list[int]:
    """Linear thread numbers, not among the traces, that probably copy bytes which a traced thread reads."""
    places = _copies(traces)
    if not places:
        return []
    found: dict[int, None] = {}
    covered = {address for by_tid in places.values() for address in by_tid.values()}
    for step_reads in _reads(traces).values():
        for address in step_reads:
            if any(start <= address < start + 16 for start in covered):
                break
        else:
            for tid in _candidates(places, step_reads[0], threads):
                if tid not in traces:
                    found[tid] = None
    return list(found)[:MAX_NEIGHBOURS]


def _copies(traces: dict[int, Trace]) -> dict[Step, dict[int, int]]:
    """By copying step: where each traced thread copies to at its first execution."""
    places: dict[Step, dict[int, int]] = defaultdict(dict)
    for tid, trace in traces.items():
        for event in trace.events:
            if isinstance(event, Event) and event.visit == 0 and isinstance(event.address, int):
                effect = event.effect
                if isinstance(effect, Access) and (effect.kind, effect.completion) == ("write", "cp.async"):
                    places[event.step][tid] = event.address
    return places


def _reads(traces: dict[int, Trace]) -> dict[Step, list[int]]:
    """By reading step: the shared addresses of its first executions."""
    reads: dict[Step, list[int]] = defaultdict(list)
    for trace in traces.values():
        for event in trace.events:
            if not isinstance(event, Event) or event.visit or not isinstance(event.address, int):
                continue
            if isinstance(event.effect, Access) and event.effect.kind == "read":
                reads[event.step].append(event.address)
    return reads


def _candidates(places: dict[Step, dict[int, int]], address: int, threads: int) -> Iterator[int]:
    for by_tid in places.values():
        if 0 not in by_tid or 1 not in by_tid:
            continue
        start = by_tid[0]
        near = by_tid[1] - start
        far = by_tid[32] - start if 32 in by_tid else 32 * near
        if near <= 0 or far <= 0 or address < start:
            continue
        warp, rest = divmod(address - start, far)
        tid = 32 * warp + rest // near
        if rest // near < 32 and tid < threads:
            yield tid
