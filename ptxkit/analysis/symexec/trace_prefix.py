"""The events of a group before it diverged from others, collected once after its execution has ended.

Copying the events at each divergence would be expensive, because threads may diverge one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent, UnknownCall
from ptxkit.fast_dataclasses import dataclass

Events: TypeAlias = "list[TraceEvent | GroupEvent | UnknownCall]"


@dataclass(frozen=True, slots=True, eq=False)
class TracePrefix:
    """The `events` of a larger group between its own divergence and that of a smaller group.

    indices: the threads of the smaller group among those of the larger one. first_guess: as in `ThreadTrace`, among
    these events; 0 where the guess came earlier. parent: the prefix of the larger group.
    """

    events: Events
    first_guess: int | None
    indices: Sequence[int]
    parent: TracePrefix | None


def build_full_trace(past: TracePrefix, events: Events, guessed: int | None) -> tuple[Events, int | None]:
    """Returns all events of a group and the position of its first guess, given the events since it last diverged."""
    chosen: list[tuple[TracePrefix, Sequence[int]]] = []
    each: TracePrefix | None = past
    indices = past.indices
    while each is not None:
        chosen.append((each, indices))
        each = each.parent
        if each is not None:
            indices = [each.indices[index] for index in indices]
    whole: Events = []
    first: int | None = None
    for part, among in reversed(chosen):
        for position, event in enumerate(part.events):
            if first is None and position == part.first_guess:
                first = len(whole)
            own = event.subset(among) if isinstance(event, GroupEvent) else event
            if own is not None:
                whole.append(own)
        if first is None and part.first_guess is not None:
            first = len(whole)
    if first is None and guessed is not None:
        first = len(whole) + guessed
    whole.extend(events)
    return whole, first
