"""Controls Python's garbage collection: it is paused while a large structure without garbage is built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from ptxkit.limits import MAX_UNCOLLECTED_BYTES, MAX_UNCOLLECTED_OBJECTS

_YOUNG_GENERATIONS = 1
"""The oldest of the generations of objects that did not yet survive many collections."""
_LIVE_OBJECTS_PER_GARBAGE = 2
"""The number of live objects that are traversed for each object that may be garbage."""
_FREEZE_COUNTS: list[int] = []
"""The numbers of objects that `freeze_all` froze each time, because Python can only count them by traversing them."""
_UNCOLLECTED = [0]
"""The largest number of objects that were created and not freed since the last collection here."""
_LIMIT = [MAX_UNCOLLECTED_OBJECTS]
"""The number of such objects after which garbage is collected again."""

_UNCOLLECTED_BYTES = [0]
"""The bytes of `note_memory` since `free_noted_memory` last collected garbage."""


def freeze_all() -> None:
    """Exempts all current objects from garbage collection until the process ends."""
    gc.collect()
    gc.freeze()
    _FREEZE_COUNTS.append(gc.get_freeze_count())


def note_memory(size: int) -> None:
    """Counts bytes that a few objects use: Python collects garbage by the number of objects only."""
    _UNCOLLECTED_BYTES[0] += size


def free_noted_memory() -> None:
    """Frees what is garbage of the objects with the bytes that were counted, if these are many.

    It is called before new ones are made. Objects that survived many collections are not traversed.
    """
    if _UNCOLLECTED_BYTES[0] > MAX_UNCOLLECTED_BYTES:
        gc.collect(_YOUNG_GENERATIONS)
        _UNCOLLECTED_BYTES[0] = 0


@contextmanager
def pause_collection() -> Iterator[None]:
    """Pauses garbage collection in the block, because a parse or an analysis keeps its objects to the end, and
    traversing them repeatedly takes a third of the time. If collection was disabled, it remains so.

    Python traverses the oldest generation after a number of collections of the younger ones, and resets that count if
    objects are moved there explicitly: a program that parses and analyzes many texts would never free cyclic garbage.
    So this module counts the objects that it moves. It collects garbage when a block begins, not when one ends: most
    programs analyze nothing after a large text. As Python does, it waits for more garbage where more objects are alive,
    or the time for a text with thousands of kernels would grow with the square of its length.
    """
    enabled = gc.isenabled()
    moves = enabled and not _FREEZE_COUNTS and not gc.get_freeze_count()
    if moves and _UNCOLLECTED[0] >= _LIMIT[0]:
        gc.collect()
        gc.freeze()
        _LIMIT[0] = max(MAX_UNCOLLECTED_OBJECTS, gc.get_freeze_count() // _LIVE_OBJECTS_PER_GARBAGE)
        gc.unfreeze()
        _UNCOLLECTED[0] = 0
    gc.disable()
    try:
        yield
    finally:
        if moves:
            _promote_young()
        if enabled:
            gc.enable()


def _promote_young() -> None:
    """Moves new objects to the oldest generation without traversing it, and counts them."""
    young, middle, old = gc.get_count()  # objects, and the number of collections of the younger generation
    every, times, _ = gc.get_threshold()
    _UNCOLLECTED[0] += young + every * (middle + (times + 1) * old)
    gc.freeze()
    gc.unfreeze()
