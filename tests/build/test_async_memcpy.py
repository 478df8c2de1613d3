"""`memcpy_async`: the selected mechanism and its reason, the wait of each mechanism, and that all bytes are copied."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

from ptxkit.build import (
    BuildError,
    BuildTypeError,
    BuildValueError,
    BuildWarning,
    Copy,
    Global,
    Kernel,
    VerificationError,
    b8,
    f32,
    u32,
)
from tests.build.programs import even_threads, multicast_copy
from tests.build.support import assert_ptxas_accepts, marked_line, opcodes


def build_stages(
    target: str | None, align: int, size: int, *, barrier: bool, threads: int = 128, wait: bool = True
) -> tuple[Kernel, tuple[str, int, str]]:
    """A kernel in which each thread reads its neighbor's part of the copy."""
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
    assert repr(copy) == f"Copy(mechanism={copy.mechanism!r}, unit={copy.unit}, reason={copy.reason!r})"
    return k, (copy.mechanism, copy.unit, copy.reason)


CHOICES = [
    ("sm_90", 16, 4096, True, ("bulk", 0, "both addresses and the size are multiples of 16 bytes")),
    ("sm_90", 16, 4096, False, ("cp.async", 16, "no barrier is given to which a bulk copy could report its end")),
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
    k, chosen = build_stages(target, align, size, barrier=barrier)
    assert chosen == expected
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(str(k), tmp_path, target or "sm_90a")


@pytest.mark.filterwarnings("ignore::ptxkit.build.NeverWaitedWarning")
@pytest.mark.parametrize(("target", "barrier"), [("sm_90", True), ("sm_80", True), ("sm_80", False)])
def test_a_copy_that_no_thread_waits_for_is_rejected(target: str, barrier: bool) -> None:
    k, _ = build_stages(target, 16, 4096, barrier=barrier, wait=False)
    with pytest.raises(VerificationError) as caught:
        k.verify()
    assert caught.value.diagnostics[0].code == "PTX302"


def test_a_copy_of_few_iterations_is_unrolled_and_its_end_guarded() -> None:
    k, _ = build_stages("sm_80", 16, 16 * 200, barrier=False)
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


def test_one_thread_copies() -> None:
    k = Kernel("k", threads=32, target="sm_90")
    source, tile, bar = k.param(Global[f32], "source", align=16), k.shared(f32, 64, align=16), k.mbarrier("bar")
    with k.thread_is(0):
        bar.init(1)
        copy = k.memcpy_async(tile, source, 256, group=k.this_thread(), barrier=bar)
        bar.wait(token=bar.arrive())
    assert copy.mechanism == "bulk"
    assert opcodes(k.module()).count("bra") == 2  # the role, and the wait
    assert k.verify().diagnostics == ()


def out_of(target: str | None, *, align: int = 16, group: str = "cta", read: bool = False) -> tuple[Kernel, Copy]:
    """A kernel in which each thread fills its part of a tile, which is copied to global memory."""
    k = Kernel("out_of", threads=64, target=target)
    to, tile = k.param(Global[f32], "to", align=align), k.shared(f32, 128, align=16)
    tile[k.tid.x].store(1.5)
    tile[k.tid.x + 64].store(2.5)
    k.cta_sync()
    if group == "cta":
        copy = k.memcpy_async(to, tile, 512, group=k.this_cta())
        copy.wait(read=read)
    else:
        with k.role(warps=1):
            copy = k.memcpy_async(to, tile, 512, group=k.these_warps(1))
            copy.wait(read=read)
    return k, copy


@pytest.mark.parametrize(
    ("target", "align", "expected"),
    [
        ("sm_90", 16, ("bulk", 0, "both addresses and the size are multiples of 16 bytes")),
        ("sm_90", 8, ("ld/st", 8, "addresses and size are multiples of 8 bytes, and bulk copies need 16")),
        ("sm_80", 16, ("ld/st", 16, "bulk copies need sm_90, and the kernel is for sm_80")),
        (None, 16, ("ld/st", 16, "the kernel names no target, and bulk copies need sm_90")),
    ],
)
@pytest.mark.parametrize("group", ["cta", "warp"])
def test_copies_from_shared_memory_are_bulk_copies_where_possible(
    target: str | None, align: int, expected: tuple[str, int, str], group: str, tmp_path: Path
) -> None:
    k, copy = out_of(target, align=align, group=group)
    assert (copy.mechanism, copy.unit, copy.reason) == expected
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(str(k), tmp_path, target or "sm_90a")


def test_a_bulk_copy_to_global_memory_is_fenced_and_waited_for_by_the_thread_that_issued_it() -> None:
    k, _ = out_of("sm_90")
    found = opcodes(k.module())
    assert found[found.index("fence.proxy.async.shared::cta") :] == [
        "fence.proxy.async.shared::cta",
        "bar.sync",
        *("setp.eq.u32", "bra", "cp.async.bulk.global.shared::cta.bulk_group", "cp.async.bulk.commit_group"),
        *("setp.eq.u32", "bra", "cp.async.bulk.wait_group", "bar.sync", "ret"),
    ]
    assert "cp.async.bulk.wait_group.read" in opcodes(out_of("sm_90", read=True)[0].module())


def test_no_mbarrier_tracks_a_copy_to_global_memory(tmp_path: Path) -> None:
    k = Kernel("k", threads=32, target="sm_90")
    target, tile = k.param(Global[f32], "target", align=16), k.shared(f32, 128, align=16)
    copy = k.memcpy_async(target, tile, 512, group=k.this_cta(), barrier=k.mbarrier("bar"))
    assert (copy.mechanism, copy.unit) == ("ld/st", 16)
    assert copy.reason == "a bulk copy to global memory reports its end to no mbarrier: wait for the copy instead"
    assert "ld.shared.v2.b64" in str(k)
    assert_ptxas_accepts(str(k), tmp_path)


def test_a_multicast_is_issued_by_the_first_cta_and_expected_in_each(tmp_path: Path) -> None:
    k = multicast_copy().kernel
    text = str(k)
    assert text.count("expect_tx") == 1
    assert "multicast::cluster [tile], [%rd0], 512, [there], 6;" in text
    assert re.search(r"mov\.u32 (%r\d), %cluster_ctarank;.*setp\.eq\.u32 %p\d, \1, 1;", text, re.DOTALL)
    assert_ptxas_accepts(text, tmp_path)


def test_without_a_copy_engine_each_cta_of_a_multicast_copies_for_itself(tmp_path: Path) -> None:
    k = Kernel("k", threads=32, target="sm_90")
    source, tile, bar = k.param(Global[f32], "source", align=8), k.shared(f32, 128, align=16), k.mbarrier("bar")
    copy = k.memcpy_async(tile, source, 512, group=k.this_cta(), barrier=bar, multicast=3)
    assert copy.mechanism == "cp.async"
    assert_ptxas_accepts(str(k), tmp_path)


def test_a_multicast_is_to_ctas_of_a_cluster() -> None:
    k = Kernel("k", threads=32, target="sm_90")
    source, tile, bar = k.param(Global[f32], "source", align=16), k.shared(f32, 128, align=16), k.mbarrier("bar")
    for wrong in (0, -1, 1 << 16, True):
        with pytest.raises(BuildValueError, match="1 to 65535"):
            k.memcpy_async(tile, source, 512, group=k.this_cta(), barrier=bar, multicast=wrong)
    with pytest.raises(BuildTypeError, match="copies a part of global memory"):
        k.memcpy_async(source, tile, 512, group=k.this_cta(), multicast=3)


# --------------------------------------------------------------------------------------- parts of a CTA


def test_warps_of_a_role_are_a_group(tmp_path: Path) -> None:
    k = Kernel("k", threads=128)
    source, out = k.param(Global[f32], "source", align=16), k.param(Global[f32], "out")
    tile = k.shared(f32, 512, align=16)
    with k.role(warps=range(1, 4)):
        group = k.these_warps(range(1, 4), barrier=2)
        assert (group.size, group.barrier) == (96, 2)
        k.memcpy_async(tile, source, 2048, group=group).wait()
        out[k.tid.x].store(tile[k.tid.x ^ 33].load())
    assert "bar.sync 2, 96;" in str(k)
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(str(k), tmp_path)


def test_threads_of_partial_warps_copy_together_and_synchronize_at_an_mbarrier(tmp_path: Path) -> None:
    k = even_threads().kernel
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(str(k), tmp_path)


def test_a_group_has_whole_warps_or_an_mbarrier() -> None:
    k = Kernel("k", threads=80)
    source, tile = k.param(Global[f32], "source", align=16), k.shared(f32, 64, align=16)
    with pytest.raises(BuildError, match=r"these threads synchronize at an mbarrier: memcpy_async\(..., barrier=\)"):
        k.memcpy_async(tile, source, 256, group=k.these_threads(40, k.tid.x // 2)).wait()
    with pytest.raises(BuildValueError, match="synchronize at a named barrier, 1 to 15, not None"):
        k.these_warps(range(2))
    with pytest.raises(BuildValueError, match="warp 2 of the CTA is not a whole one"):
        k.these_warps(range(3), barrier=1)
    with pytest.raises(BuildValueError, match="there is no warp 3"):
        k.these_warps(3)
    with pytest.raises(BuildValueError, match="the number of threads of a group is an integer"):
        k.these_threads(0, k.tid.x)
    with pytest.raises(BuildTypeError, match="is a u32 register"):
        k.these_threads(4, 0)  # type: ignore[arg-type]


def test_groups_are_the_producers_and_consumers_of_a_pipeline() -> None:
    k = Kernel("k", threads=128)
    pipe = k.pipeline(2, producers=k.these_threads(64, k.tid.x // 2), consumers=k.this_warp())
    assert (pipe.producers, pipe.consumers) == (64, 32)


def test_a_copy_has_bytes_and_two_memories() -> None:
    k = Kernel("k", threads=32)
    tile, stack = k.shared(f32, 64), k.local(f32, 64)
    with pytest.raises(BuildValueError, match="at least 1 byte, not 0"):
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


@pytest.mark.parametrize(
    ("target", "size", "warned"), [(None, 16, 1), (None, 8, 0), ("sm_80", 512, 0), ("sm_90", 512, 0)]
)
def test_a_copy_by_one_thread_that_lacks_only_a_target_is_warned_of(target: str | None, size: int, warned: int) -> None:
    k = Kernel("k", threads=32, target=target)
    source, tile, ready = k.param(Global[f32], "source", align=16), k.shared(f32, 128, align=16), k.mbarrier()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        k.memcpy_async(tile, source, size, group=k.this_thread(), barrier=ready)  # one thread
        k.memcpy_async(tile, source, size, group=k.this_cta(), barrier=ready)
    found = [
        each for each in caught if "bulk copies need sm_90; write Kernel(..., target='sm_90')" in str(each.message)
    ]
    assert len(found) == warned
    for each in found:
        assert issubclass(each.category, BuildWarning)
        assert each.lineno == marked_line("one thread").line
