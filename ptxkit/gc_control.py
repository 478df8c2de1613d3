"""When Python looks for garbage: not while something large is made of which nothing is garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from ptxkit.limits import MAX_UNCOLLECTED_OBJECTS

_FREEZE_COUNTS: list[int] = []
"""What `keep_all` kept each time: to count the objects that Python keeps, it has to visit all of them."""
_UNCOLLECTED = [0]
"""Objects that were made and not freed, at most, since garbage was looked for here."""


def freeze_all() -> None:
    """All current objects live until the process ends, and are not traversed again."""
    gc.collect()
    gc.freeze()
    _FREEZE_COUNTS.append(gc.get_freeze_count())


@contextmanager
def pause_collection() -> Iterator[None]:
    """What a parse or an analysis makes is kept to its end; looking through it again and again costs a third of the
    time. What was off stays off.

    Python traverses the oldest generation after so many collections of the younger ones, and restarts that count where
    objects are moved there explicitly: a program that reads and analyses one text after the other would never free what
    refers to itself. So what becomes old here is counted here.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not _FREEZE_COUNTS and not gc.get_freeze_count():
                _promote_young()
            gc.enable()


def _promote_young() -> None:
    """Moves what was made to the oldest generation, without the traversal of it that comes otherwise, until there may
    be too much garbage among it."""
    young, middle, old = gc.get_count()  # objects, and how often the younger generation was collected
    every, times, _ = gc.get_threshold()
    _UNCOLLECTED[0] += young + every * (middle + (times + 1) * old)
    if _UNCOLLECTED[0] < MAX_UNCOLLECTED_OBJECTS:
        gc.freeze()
        gc.unfreeze()
    else:
        _UNCOLLECTED[0] = 0
        gc.collect()
