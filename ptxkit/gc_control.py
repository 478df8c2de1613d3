"""Controls Python's garbage collection: it is paused while a large structure without garbage is built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from ptxkit.limits import MAX_UNCOLLECTED_OBJECTS

_FREEZE_COUNTS: list[int] = []
"""The numbers of objects that `freeze_all` froze each time, because Python can only count them by traversing them."""
_UNCOLLECTED = [0]
"""The largest number of objects that were created and not freed since the last collection here."""


def freeze_all() -> None:
    """Exempts all current objects from garbage collection until the process ends."""
    gc.collect()
    gc.freeze()
    _FREEZE_COUNTS.append(gc.get_freeze_count())


@contextmanager
def pause_collection() -> Iterator[None]:
    """Pauses garbage collection in the block, because a parse or an analysis keeps its objects to the end, and
    traversing them repeatedly takes a third of the time. If collection was disabled, it remains so.

    Python traverses the oldest generation after a number of collections of the younger ones, and resets that count if
    objects are moved there explicitly: a program that parses and analyzes many texts would never free cyclic garbage.
    So this module counts the objects that it moves. It collects garbage when a block begins, not when one ends: most
    programs analyze nothing after a large text.
    """
    enabled = gc.isenabled()
    moves = enabled and not _FREEZE_COUNTS and not gc.get_freeze_count()
    if moves and _UNCOLLECTED[0] >= MAX_UNCOLLECTED_OBJECTS:
        _UNCOLLECTED[0] = 0
        gc.collect()
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
