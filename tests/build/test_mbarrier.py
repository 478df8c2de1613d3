"""mbarrier objects: each operation's text, rings of them, arrivals in other CTAs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.build import Barrier, BuildTypeError, BuildValueError, Function, Kernel, Shared, b64, u32
from tests.build.support import assert_ptxas_accepts, opcodes


@pytest.fixture
def k() -> Kernel:
    return Kernel("k", threads=32)


def last(k: Kernel) -> str:
    return str(k).splitlines()[-3].strip()


def test_each_mbarrier_of_a_ring_is_initialized(k: Kernel) -> None:
    full = k.mbarrier("full", 3)
    full.init(2)
    text = str(k)
    assert ".shared .align 8 .b64 full[3];" in text
    assert [line.strip() for line in text.splitlines() if "init" in line] == [
        "mbarrier.init.shared.b64 [full], 2;",
        "mbarrier.init.shared.b64 [full+8], 2;",
        "mbarrier.init.shared.b64 [full+16], 2;",
    ]


def test_an_element_of_a_ring_is_one_mbarrier(k: Kernel) -> None:
    full = k.mbarrier("full", 3)
    full[1].init(2)
    full[0:2].inval()
    assert opcodes(k.module()).count("mbarrier.init.shared.b64") == 1
    assert opcodes(k.module()).count("mbarrier.inval.shared.b64") == 2
    with pytest.raises(BuildValueError, match="index 4 leaves"):
        full[4]


def test_arrivals_are_emitted(k: Kernel) -> None:
    bar = k.mbarrier("bar")
    assert bar.arrive().type is b64
    assert last(k) == "mbarrier.arrive.shared.b64 %rd0, [bar];"
    bar.arrive(3)
    assert last(k) == "mbarrier.arrive.shared.b64 %rd1, [bar], 3;"
    bar.arrive(scope="cluster", order="relaxed")
    assert last(k) == "mbarrier.arrive.relaxed.cluster.shared.b64 %rd2, [bar];"
    bar.arrive_expect_tx(128)
    assert last(k) == "mbarrier.arrive.expect_tx.shared.b64 %rd3, [bar], 128;"
    bar.arrive_drop()
    assert last(k) == "mbarrier.arrive_drop.shared.b64 %rd4, [bar];"
    assert Barrier.arrive_tx is Barrier.arrive_expect_tx
    token = bar.arrive_drop_expect_tx(16)
    assert last(k) == "mbarrier.arrive_drop.expect_tx.shared.b64 %rd5, [bar], 16;"
    assert bar.pending(token).type is u32
    assert last(k) == "mbarrier.pending_count.b64 %r0, %rd5;"
    bar.expect_tx(16)
    assert last(k) == "mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 16;"
    bar.complete_tx(16)
    assert last(k) == "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 16;"
    bar.track_cp_async()
    assert last(k) == "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];"
    bar.track_cp_async(counted=False)
    assert last(k) == "cp.async.mbarrier.arrive.shared.b64 [bar];"


def test_waits_loop_until_the_phase_is_complete(k: Kernel, tmp_path: Path) -> None:
    bar = k.mbarrier("bar")
    token = bar.arrive()
    bar.wait(0, hint=1000)
    bar.wait(token=token, scope="cluster")
    text = str(k)
    assert "mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0, 1000;\n\t@!%p0 bra $wait_0;" in text
    assert "mbarrier.try_wait.acquire.cluster.shared.b64 %p1, [bar], %rd0;\n\t@!%p1 bra $wait_1;" in text
    assert_ptxas_accepts(text, tmp_path)


def waiting(target: str | None) -> Kernel:
    k = Kernel("waiting", threads=32, target=target)
    bar = k.mbarrier("bar")
    with k.thread_is(0):
        bar.init(32)
    k.cta_sync()
    bar.wait(token=bar.arrive(), hint=1000)
    return k


@pytest.mark.parametrize(
    ("target", "header", "wait"),
    [
        (None, ("7.0", "sm_80"), "mbarrier.test_wait.shared.b64 %p1, [bar], %rd0;"),
        ("sm_80", ("7.0", "sm_80"), "mbarrier.test_wait.shared.b64 %p1, [bar], %rd0;"),
        ("sm_90", ("7.8", "sm_90"), "mbarrier.try_wait.shared.b64 %p1, [bar], %rd0, 1000;"),
    ],
)
def test_a_wait_uses_the_instruction_of_the_target(
    target: str | None, header: tuple[str, str], wait: str, tmp_path: Path
) -> None:
    k = waiting(target)
    lines = str(k).splitlines()
    assert lines[:2] == [f".version {header[0]}", f".target {header[1]}"]
    assert [line.strip() for line in lines if "_wait" in line and "mbarrier" in line] == [wait]
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(str(k), tmp_path)


def test_a_wait_suspends_where_another_instruction_requires_the_newer_target_anyway() -> None:
    k = waiting(None)
    k.cluster_sync(aligned=False)
    assert ".target sm_90" in str(k)
    assert "mbarrier.try_wait.shared.b64 %p1, [bar], %rd0, 1000;" in str(k)


def test_a_wait_in_a_function_uses_the_instruction_of_the_module() -> None:
    function = Function("waits")
    function.param(Shared[b64], "bar")
    bar = function.mbarrier("own")
    bar.wait(0)
    function.return_()
    for target, word in ((None, "test_wait"), ("sm_80", "test_wait"), ("sm_90", "try_wait")):
        k = Kernel("k", threads=32, target=target)
        function(k, k.shared(b64, 1))
        assert f"mbarrier.{word}.parity" in str(k)


def test_a_single_test_returns_a_predicate(k: Kernel) -> None:
    bar = k.mbarrier("bar")
    bar.test_wait(1)
    assert last(k) == "mbarrier.test_wait.parity.shared.b64 %p0, [bar], 1;"
    bar.try_wait(k.tid.x & 1, limit=20)
    assert last(k) == "mbarrier.try_wait.parity.shared.b64 %p1, [bar], %r1, 20;"


def test_a_wait_is_for_one_phase(k: Kernel) -> None:
    bar = k.mbarrier()
    with pytest.raises(BuildTypeError, match="of a parity or of a token"):
        bar.wait()
    with pytest.raises(BuildTypeError, match="of a parity or of a token"):
        bar.wait(0, token=bar.arrive())
    with pytest.raises(BuildValueError, match="a parity is 0 or 1, not 2"):
        bar.wait(2)


def test_threads_arrive_in_other_ctas(k: Kernel, tmp_path: Path) -> None:
    bar = k.mbarrier("bar", 2)
    there = bar[1].map_rank(3)
    there.arrive()
    there.arrive(2, order="relaxed")
    there.arrive_expect_tx(64)
    there.expect_tx(16)
    there.complete_tx(16)
    there.arrive_drop()
    text = str(k)
    assert "mapa.shared::cluster.u32 %r2, %r1, 3;" in text
    assert "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];" in text
    assert "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r2], 2;" in text
    assert "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r2], 16;" in text
    assert "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r2], 16;" in text
    assert "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r2];" in text
    assert_ptxas_accepts(text, tmp_path)


def test_the_scope_of_an_mbarrier_is_cta_or_cluster(k: Kernel) -> None:
    with pytest.raises(BuildValueError, match="one of cta, cluster, not 'gpu'"):
        k.mbarrier().arrive(scope="gpu")
