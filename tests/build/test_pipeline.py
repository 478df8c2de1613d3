"""Pipelines: stages synchronized by mbarriers, verified as whole kernels; stages of a thread's own copies."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.build import BuildError, BuildValueError, Global, Kernel, VerificationError, b16, bf16, f32, u32
from tests.build.support import assert_ptxas_accepts, opcodes

TILE = 64 * 32


def ring(*, release: bool = True, expected: int | None = None) -> Kernel:
    """A producer warp that loads boxes, and eight warps that read them."""
    k = Kernel("ring", threads=288, target="sm_90a")
    source = k.tensor_map("source", bf16, box=(64, 32), swizzle=128)
    out, tiles = k.param(Global[b16], "out"), k.param(u32, "tiles")
    boxes = k.dynamic_shared(bf16, 4 * TILE, align=1024)
    pipe = k.pipeline(4, producers=1, consumers=256)
    pipe.init()
    with k.role(warps=0), k.elect_one():
        producer = pipe.producer()
        size = source.bytes if expected is None else expected
        with k.for_range(0, tiles) as tile, producer.stage(bytes=size) as stage:
            source.load(boxes[stage.index * TILE], (tile * 64, 0), stage.full)
    with k.role(warps=range(1, 9)):
        consumer = pipe.consumer()
        with k.for_range(0, tiles):
            stage = consumer.wait()
            value = boxes[stage.index * TILE][k.tid.x].load()
            out[k.tid.x].store(value.reinterpret(b16))
            if release:
                consumer.release(stage)
            else:
                consumer.ring.advance()
    return k


def test_roles_synchronize_by_stages(tmp_path: Path) -> None:
    k = ring()
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(str(k), tmp_path)
    assert ".shared .align 8 .b64 pipeline_0_full[4];" in str(k)


def test_a_stage_that_no_thread_releases_is_rejected() -> None:
    with pytest.raises(VerificationError) as caught:
        ring(release=False).verify()
    (blame,) = caught.value.blames
    assert "at which no thread arrives" in blame.diagnostic.message
    assert blame.location is not None
    assert "producer.stage(bytes=size) as stage" in blame.location.text


def shared_ring(*, ranks: tuple[int, ...] = (0, 1)) -> Kernel:
    """Two CTAs that each load half of every tile, and multicast it to both."""
    k = Kernel("shared_ring", threads=160, target="sm_90a", cluster=2)
    source = k.tensor_map("source", bf16, box=(64, 32), swizzle=128)
    out = k.param(Global[b16], "out")
    boxes = k.dynamic_shared(bf16, 2 * 2 * TILE, align=1024)
    pipe = k.pipeline(2, producers=1, consumers=2 * 128)
    pipe.init(cluster=True)
    rank = k.cluster_ctarank
    with k.role(warps=0), k.elect_one():
        producer = pipe.producer()
        with k.for_range(0, 4) as tile, producer.stage(bytes=2 * source.bytes) as stage:
            half = boxes[stage.index * (2 * TILE)][rank * TILE]
            source.load(half, (tile * 64, rank * 32), stage.full, multicast=3)
    with k.role(warps=range(1, 5)):
        consumer = pipe.consumer()
        with k.for_range(0, 4), consumer.stage(ranks=ranks) as stage:
            out[k.tid.x].store(boxes[stage.index * (2 * TILE)][k.tid.x].load().reinterpret(b16))
    k.cluster_sync(aligned=False)
    return k


def test_stages_that_producers_of_two_ctas_fill_are_released_to_both(tmp_path: Path) -> None:
    k = shared_ring()
    verdict = k.verify()
    assert (verdict.diagnostics, verdict.undecided) == ((), ())
    assert "mbarrier.try_wait.parity.acquire.cluster.shared.b64" in opcodes(k.module())
    assert opcodes(k.module()).count("mbarrier.arrive.release.cluster.shared::cluster.b64") == 2
    assert_ptxas_accepts(str(k), tmp_path)
    with pytest.raises(VerificationError) as caught:
        shared_ring(ranks=(0,)).verify()
    assert "at which no thread arrives" in str(caught.value)


def test_stages_are_released_to_other_ctas_only_in_a_pipeline_of_the_cluster() -> None:
    k = Kernel("k", threads=32, cluster=2)
    pipe = k.pipeline(2, producers=1, consumers=64)
    pipe.init()
    consumer = pipe.consumer()
    with pytest.raises(BuildError, match=r"pipe\.init\(cluster=True\)"):
        consumer.release(consumer.wait(), ranks=(0, 1))


def build_stages(stages: int, *, pending: int | None = None) -> Kernel:
    """Copies by cp.async, each thread its own, `stages - 1` ahead."""
    k = Kernel("staged", threads=64)
    source, target, count = k.param(Global[f32], "source", align=16), k.param(Global[f32], "target"), k.param(u32, "n")
    tile = k.shared(f32, stages * 256, align=16)
    pipe = k.thread_pipeline(stages)
    mine = k.tid.x * 4
    for stage in k.unroll(stages - 1):
        k.cp_async_cg(tile[mine + stage * 256], source[mine + stage * 256], 16)
        pipe.commit()
    with k.for_range(0, count) as index:
        ahead = index + (stages - 1)
        k.cp_async_cg(tile[(ahead % stages) * 256 + mine], source[ahead * 256 + mine], 16)
        pipe.commit()
        pipe.wait(pending)
        target[index * 256 + mine].store(tile[(index % stages) * 256 + mine].load())
    pipe.wait(0)
    return k


@pytest.mark.parametrize("stages", [1, 2, 4])
def test_a_threads_own_stages_are_groups(stages: int, tmp_path: Path) -> None:
    k = build_stages(stages)
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(str(k), tmp_path)
    assert f"cp.async.wait_group {stages - 1};" in str(k)


def test_a_wait_for_one_group_too_few_is_rejected() -> None:
    with pytest.raises(VerificationError) as caught:
        build_stages(2, pending=2).verify()
    assert caught.value.diagnostics[0].code == "PTX302"


def test_copies_with_tracking_arrivals_fill_a_stage() -> None:
    k = Kernel("k", threads=64)
    source, tile = k.param(Global[f32], "source", align=16), k.shared(f32, 512, align=16)
    pipe = k.pipeline(2, producers=64, consumers=64)
    pipe.init()
    producer, consumer = pipe.producer(), pipe.consumer()
    with k.for_range(0, k.param(u32, "n")):
        with producer.stage(copies=True) as stage:
            k.cp_async_cg(tile[k.tid.x * 4 + stage.index * 256], source[k.tid.x * 4], 16)
        with consumer.stage() as stage:
            tile[k.tid.x + stage.index * 256].load()
    assert k.verify().diagnostics == ()
    assert opcodes(k.module()).count("cp.async.mbarrier.arrive.noinc.shared.b64") == 1
    with pytest.raises(BuildError, match=r"by bulk copies, which count bytes, or by cp\.async"):
        producer.commit(producer.acquire(), bytes=16, copies=True)


def test_a_ring_of_one_stage_alternates() -> None:
    k = Kernel("k", threads=32)
    pipe = k.pipeline(1, producers=32, consumers=32)
    pipe.init()
    producer, consumer = pipe.producer(), pipe.consumer()
    with k.for_range(0, 3):
        with producer.stage():
            pass
        with consumer.stage():
            pass
    assert k.verify().diagnostics == ()
    assert "rem" not in str(k)
    assert "selp" not in str(k)


def test_a_pipeline_needs_stages_and_threads(tmp_path: Path) -> None:
    k = Kernel("k")
    with pytest.raises(BuildValueError, match="at least 1, not 0"):
        k.pipeline(2, producers=0, consumers=1)
    with pytest.raises(BuildValueError, match="at least 1, not 0"):
        k.thread_pipeline(0)
    k = Kernel("k", threads=32, cluster=2)
    k.pipeline(2, producers=1, consumers=1).init(cluster=True)
    assert "fence.mbarrier_init.release.cluster;" in str(k)
    assert_ptxas_accepts(str(k), tmp_path)


def copied_ring(size: int | None, *, target: str | None = None, align: int = 16, also: bool = False) -> Kernel:
    """A producing thread that fills stages by `memcpy_async`, and optionally by another bulk copy."""
    k = Kernel("copied", threads=64, target=target)
    source, out, tiles = k.param(Global[f32], "source", align=align), k.param(Global[f32], "out"), k.param(u32, "tiles")
    boxes = k.shared(f32, 2 * 64, align=16)
    pipe = k.pipeline(2, producers=1, consumers=32)
    pipe.init()
    with k.role(warps=0), k.thread_is(0):
        producer = pipe.producer()
        with k.for_range(0, tiles) as tile, producer.stage(bytes=size) as stage:
            k.memcpy_async(boxes[stage.index * 64], source[tile * 64], 128, group=k.this_thread(), barrier=stage.full)
            if also:
                k.cp_async_bulk(boxes[stage.index * 64 + 32], source[tile * 64 + 32], 128, stage.full)
    with k.role(warps=1):
        consumer = pipe.consumer()
        with k.for_range(0, tiles), consumer.stage() as stage:
            out[k.tid.x].store(boxes[stage.index * 64 + (k.tid.x & 15)].load())
    return k


@pytest.mark.parametrize(("target", "align"), [(None, 16), ("sm_90a", 16), ("sm_80", 16), ("sm_90", 4)])
def test_a_stage_that_memcpy_async_fills_expects_no_bytes(target: str | None, align: int) -> None:
    with pytest.raises(BuildError, match="expects the bytes of this copy itself") as caught:
        copied_ring(128, target=target, align=align).module()
    assert "k.memcpy_async(boxes[stage.index * 64]" in caught.value.location.text
    assert copied_ring(None, target=target, align=align).verify().diagnostics == ()


def test_a_stage_expects_the_bytes_of_the_other_copies_in_it() -> None:
    assert "mbarrier.arrive.expect_tx" in str(copied_ring(128, target="sm_90a", also=True))


def test_bytes_are_expected_once_where_the_stage_is_committed_after_the_copy() -> None:
    k = Kernel("k", threads=32)
    source, tile = k.param(Global[f32], "source", align=16), k.shared(f32, 64, align=16)
    pipe = k.pipeline(1, producers=1, consumers=1)
    pipe.init()
    with k.thread_is(0):
        producer = pipe.producer()
        stage = producer.acquire()
        k.memcpy_async(tile, source, 256, group=k.this_thread(), barrier=stage.full)
        producer.commit(stage, bytes=256)
    with pytest.raises(BuildError, match="expects the bytes of this copy itself") as caught:
        k.module()
    assert "k.memcpy_async(tile" in caught.value.location.text
