"""Everything that may order two warps, and accesses to the same bytes that nothing orders."""

from __future__ import annotations

from ptxkit.analysis.context.races import Race, RaceAnalysis
from tests.analysis.support import kernel_of, module_of

HEAD = """.shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 bars[2]; mov.u32 %r2, tile; mov.u32 %r5, bars;
mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r1, 32; setp.lt.u32 %p4, %r1, 64;
@%p1 mbarrier.init.shared.b64 [%r5], 1; bar.sync 0;"""
STORE, LOAD = "@%p1 st.shared.u32 [%r2], %r1;", "@!%p2 ld.shared.u32 %r9, [%r2];"
WAIT = "{label}: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], {parity}; @!%p3 bra {label};"


def conflicts(body: str, bounds: str = ".reqntid 128, 1, 1") -> list[Race]:
    """The conflicts of the first scenario."""
    return list(RaceAnalysis(kernel_of(module_of(HEAD + body, bounds=bounds)).scenarios[0]))


def test_nothing_orders_two_warps_before_a_barrier() -> None:
    (found,) = conflicts(f"{STORE} {LOAD}")
    assert (found.write.tid, found.read.tid // 32 > 0, found.is_write_after_read) == (0, True, False)
    assert conflicts(f"{STORE} bar.sync 0; {LOAD}") == []


def test_nothing_orders_two_lanes_before_a_barrier_of_their_warp() -> None:
    own, next_lane = "shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;", "xor.b32 %r6, %r3, 4; add.u32 %r6, %r2, %r6;"
    body = f"{own} {next_lane} st.shared.u32 [%r4], %r1; {{}} ld.shared.u32 %r9, [%r6];"
    (found,) = conflicts(body.format(""))
    assert (found.is_intra_warp, found.is_write_after_read) == (True, False)
    assert conflicts(body.format("bar.warp.sync -1;")) == []
    assert conflicts(body.format("bar.sync 0;")) == []


def test_collective_instructions_may_order_lanes() -> None:
    own, next_lane = "shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;", "xor.b32 %r6, %r3, 4; add.u32 %r6, %r2, %r6;"
    shuffle = "shfl.sync.idx.b32 %r7, %r1, 0, 31, -1;"
    assert conflicts(f"{own} {next_lane} st.shared.u32 [%r4], %r1; {shuffle} ld.shared.u32 %r9, [%r6];") == []


def test_a_lane_that_writes_bytes_that_another_has_read_needs_a_barrier_too() -> None:
    own, next_lane = "shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;", "xor.b32 %r6, %r3, 4; add.u32 %r6, %r2, %r6;"
    (found,) = conflicts(f"{own} {next_lane} ld.shared.u32 %r9, [%r6]; st.shared.u32 [%r4], %r9;")
    assert (found.is_intra_warp, found.is_write_after_read) == (True, True)


def test_a_fence_gives_relaxed_synchronization_its_order() -> None:
    arrive = "@%p1 mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r5];"
    wait = WAIT.format(label="one", parity=0)
    assert conflicts(f"{STORE} {arrive} {wait} {LOAD}")
    assert conflicts(f"{STORE} fence.acq_rel.cta; {arrive} {wait} {LOAD}") == []
    relaxed = wait.replace("parity.shared", "parity.relaxed.cta.shared")
    plain = arrive.replace(".relaxed.cta", "")
    assert conflicts(f"{STORE} {plain} {relaxed} {LOAD}")
    assert conflicts(f"{STORE} {plain} {relaxed} fence.acq_rel.cta; {LOAD}") == []
    assert conflicts(f"{STORE} {plain} {relaxed} fence.proxy.async; {LOAD}") == []


def test_a_barrier_of_the_warp_orders_no_other_warp() -> None:
    assert conflicts(f"{STORE} bar.warp.sync -1; {LOAD}")


def test_a_store_in_the_next_iteration_conflicts_with_the_read() -> None:
    loop = "mov.u32 %r7, 0;\nnext: {} bar.sync 0; {} {} add.u32 %r7, %r7, 1; setp.lt.u32 %p5, %r7, 4; @%p5 bra next;"
    (found,) = conflicts(loop.format(STORE, LOAD, ""))
    assert found.is_write_after_read
    assert conflicts(loop.format(STORE, LOAD, "bar.sync 0;")) == []


def test_an_mbarrier_synchronizes_in_the_phase_of_the_arrival() -> None:
    arrive = "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r5];"
    assert conflicts(f"{STORE} {arrive} {WAIT.format(label='one', parity=0)} {LOAD}") == []
    late = f"{arrive} {WAIT.format(label='one', parity=0)} {STORE} {arrive} {LOAD} {WAIT.format(label='two', parity=1)}"
    assert conflicts(late)


def test_order_is_transitive_through_lanes_of_one_warp_that_meet() -> None:
    """Thread 0 stores, thread 1 arrives for it."""
    body = f"""{STORE} {{}} setp.eq.u32 %p5, %r1, 1; @%p5 mbarrier.arrive.shared::cta.b64 _, [%r5];
{WAIT.format(label="one", parity=0)} {LOAD}"""
    assert conflicts(body.format("bar.warp.sync -1;")) == []
    assert conflicts(body.format("vote.sync.any.pred %p6, %p1, -1;")) == []
    assert conflicts(body.format(""))


def test_diverged_lanes_reconverge_at_a_barrier_of_their_warp() -> None:
    body = """@!%p1 bra behind; st.shared.u32 [%r2], %r1; behind: {} @!%p2 bra end; ld.shared.u32 %r9, [%r2]; end:"""
    assert conflicts(body.format("bar.warp.sync -1;")) == []
    assert any(found.is_intra_warp for found in conflicts(body.format("")))


def test_a_lane_waits_for_others_that_it_meets_after_its_wait() -> None:
    wait = "@!%p5 bra behind; " + WAIT.format(label="one", parity=0) + " behind: {}"
    body = f"""{STORE} @%p1 mbarrier.arrive.shared::cta.b64 _, [%r5]; setp.eq.u32 %p5, %r1, 32;
{wait} setp.lt.u32 %p6, %r1, 64; @!%p6 bra end; {LOAD} end:"""
    assert conflicts(body.format("bar.warp.sync -1;")) == []
    assert conflicts(body.format(""))


def test_a_flag_in_memory_may_order() -> None:
    flag = "@%p1 st.release.cta.shared.u32 [%r2+64], 1; ld.acquire.cta.shared.u32 %r8, [%r2+64];"
    use = "setp.eq.u32 %p5, %r8, 1; @!%p5 bra over;"
    assert conflicts(f"{STORE} {flag} {use} {LOAD} over:") == []
    assert conflicts(f"{STORE} ld.shared.u32 %r8, [%r2+128]; {use} {LOAD} over:")
    assert conflicts(f"{STORE} {flag} {LOAD}"), "what the kernel ignores shows it nothing"


def test_a_flag_that_one_thread_sets_and_reads_orders_no_other() -> None:
    counted = "atom.global.add.u32 %r7, [%rd1], 1;"
    by_one = f"setp.ne.u32 %p5, %r1, 0; @%p5 bra other; {counted} st.shared.u32 [%r2], %r7; other:"
    assert len(conflicts(f"{by_one} {LOAD} bar.sync 0; @%p1 red.global.add.u32 [%rd1], %r7;")) == 1
    assert conflicts(f"{by_one} bar.sync 0; {LOAD} bar.sync 0; @%p1 red.global.add.u32 [%rd1], %r7;") == []


def test_atomic_additions_conflict_with_plain_reads_only() -> None:
    assert conflicts("red.shared.add.u32 [%r2], 1; red.shared.add.u32 [%r2], 2;") == []
    assert conflicts("red.shared.add.u32 [%r2], 1; ld.shared.u32 %r9, [%r2];")


def test_accesses_to_other_bytes_do_not_conflict() -> None:
    assert conflicts("@%p1 st.shared.u32 [%r2], %r1; @!%p2 ld.shared.u32 %r9, [%r2+4];") == []
    assert conflicts("@%p1 st.shared.u32 [%r2], %r1; @!%p2 ld.shared.u8 %r9, [%r2+3];")


def test_each_copy_of_an_unrolled_producer_is_checked() -> None:
    """A ring of one slot that twelve instructions fill in turn, and that its consumers read in a loop."""
    fill = """mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 512, [%r5];"""
    empty = WAIT.replace("[%r5]", "[%r5+8]")

    def ring(relaxed: int | None) -> list[Race]:
        waits = [empty.format(label=f"empty{number}", parity=1 - number % 2) for number in range(12)]
        if relaxed is not None:
            waits[relaxed] = waits[relaxed].replace("parity.shared", "parity.relaxed.cta.shared")
        producer = "\n".join(f"{wait} {fill}" for wait in waits)
        return conflicts(f"""@%p1 mbarrier.init.shared.b64 [%r5+8], 96; bar.sync 0; @%p1 bra produce; @%p2 bra end;
mov.u32 %r7, 0;
next: and.b32 %r8, %r7, 1; {WAIT.format(label="full", parity="%r8")}
ld.shared.u32 %r9, [%r2]; mbarrier.arrive.shared::cta.b64 _, [%r5+8];
add.u32 %r7, %r7, 1; setp.lt.u32 %p5, %r7, 12; @%p5 bra next; bra end;
produce: {producer}
end:""")

    assert ring(None) == []
    assert ring(0) == []  # no thread has read yet
    assert all(any(found.is_write_after_read for found in ring(number)) for number in (1, 5, 8, 11))


COPY = "cp.async.ca.shared.global [%r4], [%rd1], 4; cp.async.commit_group;"
OWN = "shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; xor.b32 %r6, %r3, 128; add.u32 %r6, %r2, %r6;"


def test_synchronization_after_the_wait_publishes_a_copy() -> None:
    wait, barrier, load = "cp.async.wait_group 0;", "bar.sync 0;", "ld.shared.u32 %r9, [%r6];"
    assert conflicts(f"{OWN} {COPY} {wait} {barrier} {load}") == []
    (found,) = conflicts(f"{OWN} {COPY} {barrier} {wait} {load}")
    assert (found.completes_late, found.is_write_after_read, found.write.completion_wait is not None) == (
        True,
        False,
        True,
    )
    (found,) = conflicts(f"{OWN} {COPY} {wait} {load}")
    assert (found.completes_late, found.is_write_after_read) == (False, False)


def test_a_wait_of_some_threads_only_proves_no_completion() -> None:
    late = f"{OWN} {COPY} bar.sync 0; @%p4 cp.async.wait_group 0; ld.shared.u32 %r9, [%r6];"
    assert not any(conflict.completes_late for conflict in conflicts(late))


def test_a_copy_from_shared_memory_is_complete_after_the_wait_for_it() -> None:
    copy = """@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 4096;
@%p1 cp.async.bulk.commit_group;"""
    wait, store = "cp.async.bulk.wait_group.read 0;", "@!%p2 st.shared.u32 [%r2], %r1;"
    assert conflicts(f"{copy} {wait} bar.sync 0; {store}") == []
    assert (
        conflicts(f"{copy.replace('@%p1 cp.async.bulk.commit', 'cp.async.bulk.commit')} {wait} bar.sync 0; {store}")
        == []
    )
    found = conflicts(f"{copy.replace('@%p1 cp.async.bulk.commit', 'cp.async.bulk.commit')} bar.sync 0; {wait} {store}")
    assert [(each.completes_late, each.read.completion_wait is not None) for each in found] == [(True, True)]


def test_a_product_is_committed_to_an_mbarrier_of_the_executing_cta() -> None:
    commit = "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r5];"
    wait = WAIT.format(label="done", parity=0)
    body = f"{commit} {wait} bar.sync 0; {LOAD} {{}} {STORE}"
    assert [each.is_write_after_read for each in conflicts(body.format(""))] == [True]
    assert conflicts(body.format("bar.sync 0;")) == []


def test_a_flag_in_memory_orders_accesses_before_its_store_and_after_its_load() -> None:
    flag = "@%p1 atom.acq_rel.gpu.global.add.u32 %r7, [%rd1], 1; st.global.u32 [%rd1+4], %r7;"
    assert len(conflicts(f"{STORE} {LOAD} bar.sync 0; {flag}")) == 1
    assert len(conflicts(f"{STORE} {flag.replace('acq_rel', 'relaxed')} {LOAD}")) == 1
    assert conflicts(f"{STORE} {flag} {LOAD}") == []
    assert len(conflicts(f"{flag} bar.sync 0; {STORE} {LOAD}")) == 1


def test_threads_that_exit_early_pass_nothing_on() -> None:
    body = """.shared .align 4 .b8 tile[4]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; setp.ne.u32 %p1, %r2, 0;
@%p1 exit; setp.eq.u32 %p2, %r1, 32; @%p2 bra read; bar.sync 0; st.shared.u32 [tile], 1; exit;
read: bar.sync 0; ld.shared.u32 %r3, [tile];"""
    found = RaceAnalysis(kernel_of(module_of(body, bounds=".reqntid 64, 1, 1")).scenarios[0])
    assert [(each.write.tid, each.read.tid) for each in found] == [(0, 32)]
