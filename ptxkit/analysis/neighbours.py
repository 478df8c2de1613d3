"""Threads worth a look because the representatives read what they copied.

A tile is copied by all threads and read by others than copied it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ptxkit.analysis.budget import MAX_NEIGHBOURS
from ptxkit.analysis.trace import Event, GroupEvent, GroupTrace, Trace
from ptxkit.isa.effects import Access

#: Bytes of the largest `cp.async`, and the alignment of all of them that size.
_LINE = 16


def neighbours(traces: dict[int, Trace], groups: Iterable[GroupTrace]) -> list[int]:
    """Linear thread numbers, not among the traces, that copy bytes which a traced thread reads."""
    copied = {address // _LINE for trace in traces.values() for address in _addresses(trace.events, _is_copy)}
    wanted: dict[int, None] = {}
    for trace in traces.values():
        wanted.update((a // _LINE, None) for a in _addresses(trace.events, _is_read) if a // _LINE not in copied)
    if not wanted:
        return []
    issuers: dict[int, int] = {}
    for group in groups:
        for tid, event in group.each(lambda event: event.visit == 0 and _is_copy(event)):
            if isinstance(event.address, int):
                issuers.setdefault(event.address // _LINE, tid)
    found = dict.fromkeys(issuers[line] for line in wanted if line in issuers)
    return [tid for tid in found if tid not in traces][:MAX_NEIGHBOURS]


def _addresses(events: Iterable[object], wanted: Callable[[Event], bool]) -> Iterator[int]:
    for event in events:
        if isinstance(event, Event) and event.visit == 0 and isinstance(event.address, int) and wanted(event):
            yield event.address


def _is_copy(event: Event | GroupEvent) -> bool:
    effect = event.effect
    return isinstance(effect, Access) and (effect.kind, effect.completion) == ("write", "cp.async")


def _is_read(event: Event) -> bool:
    return isinstance(event.effect, Access) and event.effect.kind == "read"
