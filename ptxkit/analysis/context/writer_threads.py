"""Selects further threads to trace: those that write what the representative threads read, or that a guard singles out.

They write by copies, or by stores that are read through the async proxy. A tile is filled by all threads, and usually a
thread does not read what it filled itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import zip_longest

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.shared_window import CTA_BITS
from ptxkit.analysis.limits import MAX_ADDED_THREADS, MAX_ANALYZED_CTAS
from ptxkit.analysis.symexec.access_ranges import access_range_of_lane, access_ranges_of_lanes, is_async_read
from ptxkit.analysis.symexec.exploration import Exploration
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, ThreadTrace, TraceEvent, UnknownCall
from ptxkit.analysis.values.scenario import representative_threads
from ptxkit.isa.effects import Access

#: The size in bytes of the largest `cp.async`, and its alignment.
_LINE_BYTES = 16


def select_traces(exploration: Exploration) -> dict[int, ThreadTrace]:
    """Returns the traces of representative threads of each group, and of those that write what these read.

    For what only one of the other threads executes, that thread is added.
    """
    groups = exploration.groups
    by_tid = {tid: group for group in groups for tid in group.tids}
    traces = representative_traces(groups)
    traces.update((tid, by_tid[tid].for_thread(tid)) for tid in find_guarded_threads(traces, groups))
    traces.update((tid, by_tid[tid].for_thread(tid)) for tid in find_writer_threads(traces, groups))
    if len(exploration.cluster) > 1 and writes_remote_shared(groups):
        rank = exploration.scenario.rank
        read = {
            each.scenario.rank: representative_traces(each.groups).values()
            for each in exploration.cluster[:MAX_ANALYZED_CTAS]
        }
        writers = find_remote_writer_threads(rank, groups, read, traces)
        traces.update((tid, by_tid[tid].for_thread(tid)) for tid in writers)
    return traces


def find_writer_threads(traces: dict[int, ThreadTrace], groups: Iterable[GroupTrace]) -> list[int]:
    """Returns the numbers of threads without traces that write what a traced thread reads.

    They copy the bytes, or store bytes that are read through the async proxy. The first threads are one for each
    instruction that fills memory. The numbers are linear.
    """
    groups = list(groups)
    fillers = {
        **_writers_by_step(traces, groups, _is_copy, _is_read),
        **_writers_by_step(traces, groups, _is_store, is_async_read),
    }
    found = dict.fromkeys(tid for one_each in zip_longest(*fillers.values()) for tid in one_each)
    return [tid for tid in found if tid is not None and tid not in traces][:MAX_ADDED_THREADS]


def find_guarded_threads(known: Collection[int], groups: Iterable[GroupTrace]) -> list[int]:
    """Returns one thread for each instruction that only threads without traces execute, because of its guard.

    known: the threads with traces, of which each group has some. The numbers are linear.
    """
    found: dict[int, None] = {}
    for group in groups:
        traced = [index for index, tid in enumerate(group.tids) if tid in known]
        for event in group.events:
            if isinstance(event, GroupEvent) and event.participants is not None and not event.visit:
                own = event.participants
                if not any(own[index] for index in traced):
                    tid = next(tid for tid, takes_part in zip(group.tids, own, strict=True) if takes_part)
                    found[tid] = None
    return list(found)[:MAX_ADDED_THREADS]


def writes_remote_shared(groups: Iterable[GroupTrace]) -> bool:
    """Returns whether threads of a CTA write to the memory of another CTA, by an address in it."""
    for group in groups:
        for event in group.events:
            if not isinstance(event, UnknownCall) and not event.visit and _is_write(event):
                touched = access_range_of_lane(event, len(group.tids) - 1) or access_range_of_lane(event, 0)
                if touched is not None and touched[0] >> CTA_BITS:
                    return True
    return False


def find_remote_writer_threads(
    rank: int, groups: Iterable[GroupTrace], read: Mapping[int, Iterable[ThreadTrace]], known: Collection[int]
) -> list[int]:
    """Returns the numbers of threads of CTA `rank` that write what threads of other CTAs read in their own memory.

    read: the traces of the reading threads, by rank. known: threads that are omitted. The first threads are one for
    each instruction and CTA. The numbers are linear.
    """
    wanted = {
        place
        for other, traces in read.items()
        if other != rank
        for trace in traces
        for line in _accessed_lines(trace.events, _is_read)
        if (place := _cluster_line(other, line)) is not None
    }
    found: dict[tuple[Step, int], dict[int, None]] = defaultdict(dict)
    for step, tid, low in _first_accesses(groups, _is_write) if wanted else ():
        if low // _LINE_BYTES in wanted:
            found[(step, low >> CTA_BITS)][tid] = None
    tids = dict.fromkeys(tid for one_each in zip_longest(*found.values()) for tid in one_each)
    return [tid for tid in tids if tid is not None and tid not in known][:MAX_ADDED_THREADS]


def _cluster_line(rank: int, line: int) -> int | None:
    """Returns a line of a CTA's own memory as other CTAs address it; None for a line of another CTA."""
    return None if line * _LINE_BYTES >> CTA_BITS else line + (rank + 1 << CTA_BITS) // _LINE_BYTES


def _writers_by_step(
    traces: dict[int, ThreadTrace],
    groups: Iterable[GroupTrace],
    fills: Callable[[TraceEvent | GroupEvent], bool],
    reads: Callable[[TraceEvent], bool],
) -> dict[Step, list[int]]:
    """Returns, by instruction, the threads that fill lines with it which a traced thread reads but does not fill."""
    if not any(_is_first_execution(event, fills) for group in groups for event in group.events):
        return {}
    wanted = dict.fromkeys(line for trace in traces.values() for line in _accessed_lines(trace.events, reads))
    for line in _written_lines(traces, fills) if wanted else ():
        wanted.pop(line, None)
    found: dict[int, tuple[Step, int]] = {}
    for step, tid, low in _first_accesses(groups, fills) if wanted else ():
        if low // _LINE_BYTES in wanted:
            found.setdefault(low // _LINE_BYTES, (step, tid))
    by_step: dict[Step, list[int]] = defaultdict(list)
    for line in wanted:
        if line in found:
            step, tid = found[line]
            by_step[step].append(tid)
    return by_step


def _first_accesses(
    groups: Iterable[GroupTrace], does: Callable[[TraceEvent | GroupEvent], bool]
) -> Iterator[tuple[Step, int, int]]:
    """Yields (instruction, thread, lowest byte) of each first access with a known address that is wanted."""
    for group in groups:
        for event in group.events:
            if isinstance(event, UnknownCall) or not _is_first_execution(event, does):
                continue
            for tid, touched in zip(group.tids, access_ranges_of_lanes(event, len(group.tids)), strict=True):
                if touched is not None:
                    yield event.step, tid, touched[0]


def _is_first_execution(
    event: TraceEvent | GroupEvent | UnknownCall, does: Callable[[TraceEvent | GroupEvent], bool]
) -> bool:
    """Returns whether an event is the first execution of its instruction and satisfies a condition."""
    return not isinstance(event, UnknownCall) and not event.visit and does(event)


def _written_lines(traces: dict[int, ThreadTrace], fills: Callable[[TraceEvent], bool]) -> Iterator[int]:
    return (line for trace in traces.values() for line in _accessed_lines(trace.events, fills))


def _accessed_lines(events: Iterable[object], wanted: Callable[[TraceEvent], bool]) -> Iterator[int]:
    for event in events:
        if isinstance(event, TraceEvent) and event.visit == 0 and isinstance(event.address, int) and wanted(event):
            yield event.address // _LINE_BYTES


def _is_copy(event: TraceEvent | GroupEvent) -> bool:
    effect = event.effect
    return isinstance(effect, Access) and (effect.kind, effect.completion) == ("write", "cp.async")


def _is_store(event: TraceEvent | GroupEvent) -> bool:
    effect = event.effect
    return isinstance(effect, Access) and (effect.kind, effect.proxy, effect.completion) == ("write", "generic", None)


def _is_write(event: TraceEvent | GroupEvent) -> bool:
    return isinstance(event.effect, Access) and event.effect.kind != "read"


def _is_read(event: TraceEvent) -> bool:
    return isinstance(event.effect, Access) and event.effect.kind == "read"


def representative_traces(groups: Iterable[GroupTrace]) -> dict[int, ThreadTrace]:
    """Returns the traces of the representative threads of groups."""
    by_tid = {tid: group for group in groups for tid in representative_threads(group.tids)}
    return {tid: by_tid[tid].for_thread(tid) for tid in sorted(by_tid)}
