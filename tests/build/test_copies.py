"""`memcpy_async`: which mechanism serves and why, that each waits as it must, and that all bytes are copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.build import BuildError, BuildTypeError, BuildValueError, Global, Kernel, VerificationError, b8, f32, u32
from tests.build.support import assert_ptxas_accepts, opcodes


def staged(
    target: str | None, align: int, size: int, *, barrier: bool, threads: int = 128, wait: bool = True
) -> tuple[Kernel, tuple[str, int, str]]:
    """A kernel in which each thread reads what its neighbour's part of the copy brought."""
    k = Kernel("staged", threads=threads, target=target)
    source, out = k.param(Global[b8], "source", align=align), k.param(Global[b8], "out")
    tile = k.shared(b8, max(size, threads), align=16)
    ready = k.mbarrier("ready") if barrier else None
    if ready is not None:
        with k.thread_is(0):
            ready.init(threads)
        k.cta_sync()
    copy = k.memcpy_async(tile, source, size, group=k.this_cta(), barrier=ready)
    if ready is not None:
        token = ready.arrive()
        if wait:
            ready.wait(token=token)
    elif wait:
        copy.wait()
    out[k.tid.x].store(tile[k.tid.x ^ 33].load())
    return k, (copy.mechanism, copy.unit, copy.reason)


CHOICES = [
    ("sm_90", 16, 4096, True, ("bulk", 0, "both addresses and the size are multiples of 16 bytes")),
    ("sm_90", 16, 4096, False, ("cp.async", 16, "no barrier is given, which a bulk copy would tell of its end")),
    ("sm_90", 16, 4104, True, ("cp.async", 8, "addresses and size are multiples of 8 bytes, and bulk copies need 16")),
    ("sm_90", 4, 4096, True, ("cp.async", 4, "addresses and size are multiples of 4 bytes, and bulk copies need 16")),
    ("sm_80", 16, 4096, True, ("cp.async", 16, "bulk copies need sm_90, and the kernel is for sm_80")),
    (None, 16, 4096, True, ("cp.async", 16, "the kernel names no target, and bulk copies need sm_90")),
    (
        "sm_90",
        2,
        4096,
        True,
        ("ld/st", 2, "asynchronous copies move at least 4 bytes, and only 2 divides addresses and size"),
    ),
    ("sm_75", 16, 4096, False, ("ld/st", 16, "sm_75 has no asynchronous copies")),
]


@pytest.mark.parametrize(("target", "align", "size", "barrier", "expected"), CHOICES)
def test_alignment_size_and_target_decide(
    target: str | None, align: int, size: int, barrier: bool, expected: tuple[str, int, str], tmp_path: Path
) -> None:
    k, chosen = staged(target, align, size, barrier=barrier)
    assert chosen == expected
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(str(k), tmp_path, target or "sm_90a")


@pytest.mark.filterwarnings("ignore::ptxkit.build.NeverWaitedWarning")
@pytest.mark.parametrize(("target", "barrier"), [("sm_90", True), ("sm_80", True), ("sm_80", False)])
def test_what_nobody_waits_for_is_refused(target: str, barrier: bool) -> None:
    k, _ = staged(target, 16, 4096, barrier=barrier, wait=False)
    with pytest.raises(VerificationError) as caught:
        k.verify()
    assert caught.value.diagnostics[0].code == "PTX302"


def test_a_copy_of_few_turns_is_written_out_and_its_end_guarded() -> None:
    k, _ = staged("sm_80", 16, 16 * 200, barrier=False)
    assert opcodes(k.module()).count("cp.async.cg.shared.global") == 2
    assert "setp.lt.u32 %p0, %r4, 3200;" in str(k)


def test_a_long_copy_and_one_of_unknown_length_are_loops(tmp_path: Path) -> None:
    k = Kernel("k", threads=32)
    source, tile = k.param(Global[f32], "source", align=16), k.shared(f32, 8192, align=16)
    size = k.param(u32, "words") * 4
    k.memcpy_async(tile, source, size, group=k.this_cta()).wait()
    k.memcpy_async(tile, source, 32768, group=k.this_warp()).wait()
    text = str(k)
    assert text.count("cp.async.ca.shared.global") == 1
    assert text.count("cp.async.cg.shared.global") == 1
    assert text.count("bar.warp.sync") == 1
    assert_ptxas_accepts(text, tmp_path)


def test_one_thread_copies_alone() -> None:
    k = Kernel("k", threads=32, target="sm_90")
    source, tile, bar = k.param(Global[f32], "source", align=16), k.shared(f32, 64, align=16), k.mbarrier("bar")
    with k.thread_is(0):
        bar.init(1)
        copy = k.memcpy_async(tile, source, 256, group=k.this_thread(), barrier=bar)
        bar.wait(token=bar.arrive())
    assert copy.mechanism == "bulk"
    assert opcodes(k.module()).count("bra") == 2  # the role, and the wait
    assert k.verify().diagnostics == ()


def test_stores_are_plain(tmp_path: Path) -> None:
    k = Kernel("k", threads=32)
    target, tile = k.param(Global[f32], "target", align=16), k.shared(f32, 128, align=16)
    copy = k.memcpy_async(target, tile, 512, group=k.this_cta())
    copy.wait()
    assert (copy.mechanism, copy.unit) == ("ld/st", 16)
    assert "ld.shared.v2.b64" in str(k)
    assert_ptxas_accepts(str(k), tmp_path)


def test_a_copy_has_bytes_and_two_memories() -> None:
    k = Kernel("k", threads=32)
    tile, stack = k.shared(f32, 64), k.local(f32, 64)
    with pytest.raises(BuildValueError, match="at least 1, not 0"):
        k.memcpy_async(tile, tile, 0, group=k.this_cta())
    with pytest.raises(BuildTypeError, match="between global and shared memory"):
        k.memcpy_async(tile, stack, 64, group=k.this_cta())
    with pytest.raises(BuildError, match="threads="):
        Kernel("other").this_cta()


def test_a_copy_that_a_barrier_tracks_is_waited_for_there() -> None:
    k = Kernel("k", threads=32, target="sm_90")
    source, tile, bar = k.param(Global[f32], "source", align=16), k.shared(f32, 64, align=16), k.mbarrier("bar")
    with pytest.raises(BuildTypeError, match="arrive at it and wait for its phase"):
        k.memcpy_async(tile, source, 256, group=k.this_cta(), barrier=bar).wait()
