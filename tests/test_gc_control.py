"""Memory of finished analyses is freed while a program continues with the next text."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

from ptxkit.gc_control import free_noted_memory, note_memory, pause_collection
from ptxkit.limits import MAX_UNCOLLECTED_BYTES, MAX_UNCOLLECTED_OBJECTS

ROOT = Path(__file__).resolve().parent.parent


class _Ring:
    """Refers to itself, so that only the garbage collector frees it."""

    alive = 0

    def __init__(self) -> None:
        self.own = self
        _Ring.alive += 1

    def __del__(self) -> None:
        _Ring.alive -= 1


def look_for_garbage() -> None:
    most = 0
    for _ in range(3 * MAX_UNCOLLECTED_OBJECTS // 50_000):
        with pause_collection():
            pass  # as a parse does
        kept = [_Ring() for _ in range(50_000)]  # the memory of an analysis until its end
        most = max(most, _Ring.alive)
        del kept
    gc.collect()
    assert most < 2 * MAX_UNCOLLECTED_OBJECTS
    assert _Ring.alive == 0


def test_garbage_is_collected_even_if_texts_are_read_in_between() -> None:
    """In a process that keeps nothing permanently, as that of the tests."""
    script = "from tests.test_gc_control import look_for_garbage; look_for_garbage()"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def count_collections() -> None:
    from ptxkit import gc_control

    gc_control.MAX_UNCOLLECTED_OBJECTS = 100  # type: ignore[attr-defined]
    kept: list[list[int]] = [[] for _ in range(20_000)]  # the modules and the tree of a long text
    counts: list[int] = []
    gc.callbacks.append(lambda phase, info: counts.append(info["generation"]) if phase == "start" else None)
    gc_control._LIMIT[0] = 100
    gc.set_threshold(10**9)
    blocks = 500
    for _ in range(blocks):
        with pause_collection():
            garbage = [_Ring() for _ in range(200)]
        del garbage
    made = 2 * 200 * blocks  # with their dictionaries
    assert 2 <= counts.count(2) <= made / (len(kept) / 2)


def test_more_garbage_is_collected_at_once_where_more_objects_are_alive() -> None:
    """Otherwise each kernel of a long text would take longer than the one before."""
    script = "from tests.test_gc_control import count_collections; count_collections()"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_nothing_is_collected_inside() -> None:
    with pause_collection():
        assert not gc.isenabled()
        with pause_collection():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_few_objects_with_much_memory_are_freed() -> None:
    gc.disable()
    try:
        for size, left in ((MAX_UNCOLLECTED_BYTES // 2, 1), (MAX_UNCOLLECTED_BYTES, 0)):
            gc.collect()
            free_noted_memory()
            _Ring()
            note_memory(size)
            free_noted_memory()
            assert _Ring.alive == left
    finally:
        gc.enable()
