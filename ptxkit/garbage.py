"""When Python looks for garbage: not while something large is made of which nothing is garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_KEPT: list[int] = []
"""What `keep_all` kept each time: to ask Python how many objects it keeps takes a walk over all of them."""


def keep_all() -> None:
    """What there is now stays to the end of the process, and is never looked through again."""
    gc.collect()
    gc.freeze()
    _KEPT.append(gc.get_freeze_count())


@contextmanager
def no_collections() -> Iterator[None]:
    """What a parse or an analysis makes is kept to its end; looking through it again and again costs a third of the
    time. What was off stays off."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not _KEPT and not gc.get_freeze_count():
                # Moves what was made to the oldest generation, without the walk over it that comes otherwise.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
