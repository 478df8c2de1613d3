"""Two threads access the same bytes and one of them writes: a finding where nothing orders the two, and none
elsewhere."""

from __future__ import annotations

import numpy
import pytest

from ptxkit.emulator import RunResult, run
from ptxkit.emulator.races.read_log import ReadLog
from tests.emulator.support import kernel

TILE = """ .shared .align 16 .b8 tile[1024];
 mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r4, %r3, %r2;
"""


def run_shared(body: str, threads: int = 64, **launch: object) -> RunResult:
    """%r1: the thread; %r4: its own word of `tile`; %r5: its neighbor's (the thread 32 after it, in a ring of 64)."""
    ring = " xor.b32 %r5, %r2, 128; add.u32 %r5, %r3, %r5;\n"
    found = run(kernel(TILE + ring + body), "k", block=threads, **launch)  # type: ignore[arg-type]
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.incomplete_reason
    return found


WRITE_AND_READ = [
    ("nothing", "", True),
    ("a barrier", "bar.sync 0;", False),
    ("a barrier with a number of threads", "bar.sync 3, 64;", False),
    ("a barrier of the warp", "bar.warp.sync -1;", True),
    ("a fence", "membar.cta;", True),
    ("a shuffle", "shfl.sync.idx.b32 %r9, %r1, 0, 31, -1;", True),
    ("a barrier that reduces", "setp.eq.u32 %p1, %r1, 0; bar.red.popc.u32 %r9, 0, %p1;", False),
]


@pytest.mark.parametrize("policy", ["eager", "random"])
@pytest.mark.parametrize(("between", "races"), [row[1:] for row in WRITE_AND_READ], ids=[r[0] for r in WRITE_AND_READ])
def test_a_read_of_bytes_that_another_warp_wrote_is_a_race(between: str, races: bool, policy: str) -> None:
    found = run_shared(f" st.shared.u32 [%r4], %r1; {between} ld.shared.u32 %r6, [%r5];", policy=policy)
    assert {each.code for each in found.findings} == ({"PTX621"} if races else set())


@pytest.mark.parametrize(("between", "races"), [row[1:] for row in WRITE_AND_READ], ids=[r[0] for r in WRITE_AND_READ])
def test_a_write_of_bytes_that_another_warp_reads_is_a_race(between: str, races: bool) -> None:
    found = run_shared(f" ld.shared.u32 %r6, [%r5]; {between} st.shared.u32 [%r4], %r1;")
    assert {each.code for each in found.findings} == ({"PTX621"} if races else set())


def test_a_barrier_of_the_warp_orders_its_lanes() -> None:
    lanes = " xor.b32 %r7, %r2, 4; add.u32 %r7, %r3, %r7;\n"
    without = run_shared(f"{lanes} st.shared.u32 [%r4], %r1; ld.shared.u32 %r6, [%r7];")
    between = run_shared(f"{lanes} st.shared.u32 [%r4], %r1; bar.warp.sync -1; ld.shared.u32 %r6, [%r7];")
    assert [each.code for each in without.findings] == ["PTX621"]
    assert between.findings == ()


TILES_OF_A_WARP = """ and.b32 %r8, %r1, 16; mov.u32 %r9, 65535; shl.b32 %r9, %r9, %r8;
    xor.b32 %r7, %r2, {apart}; add.u32 %r7, %r3, %r7;
    st.shared.u32 [%r4], %r1; bar.warp.sync %r9; ld.shared.u32 %r6, [%r7];"""


def test_tiles_of_a_warp_synchronize_at_one_instruction_each_by_its_own_mask() -> None:
    assert run_shared(TILES_OF_A_WARP.format(apart=4)).findings == ()
    (found,) = run_shared(TILES_OF_A_WARP.format(apart=64)).findings  # the other tile's word
    assert found.code == "PTX621"


def test_the_finding_names_both_accesses() -> None:
    (found,) = run_shared(" st.shared.u32 [%r4], %r1;\n ld.shared.u32 %r6, [%r5];").findings
    here, there = found.witnesses
    assert here.action.startswith("read: ld.shared")
    assert there.action.startswith("write: st.shared")
    assert there.line == here.line - 1 == found.line - 1
    assert abs(here.thread[0] - there.thread[0]) == 32
    assert (here.space, here.size) == ("shared", 4)
    assert "nothing orders the two" in found.message


def test_two_threads_that_write_the_same_value_do_not_race_and_others_do() -> None:
    assert run_shared(" mov.u32 %r8, 7; st.shared.u32 [%r3], %r8;").findings == ()
    assert [each.code for each in run_shared(" st.shared.u32 [%r3], %r1;").findings] == ["PTX621"]


def test_bytes_of_one_word_are_separate() -> None:
    own = " add.u32 %r8, %r3, %r1; cvt.u16.u32 %h1, %r1; st.shared.u8 [%r8], %h1;"
    assert run_shared(own).findings == ()
    near = " shr.u32 %r9, %r1, 1; add.u32 %r8, %r3, %r9; cvt.u16.u32 %h1, %r1; st.shared.u8 [%r8], %h1;"
    assert [each.code for each in run_shared(near).findings] == ["PTX621"]


def test_atomic_operations_on_one_word_do_not_race_and_a_plain_read_with_them_does() -> None:
    assert run_shared(" atom.shared.add.u32 %r8, [%r3], 1;").findings == ()
    found = run_shared(" atom.shared.add.u32 %r8, [%r3], 1; ld.shared.u32 %r9, [%r3];")
    assert [each.code for each in found.findings] == ["PTX621"]


def test_an_arrival_only_does_not_order_the_arriving_thread() -> None:
    split = " setp.lt.u32 %p1, %r1, 32;\n @%p1 bra WRITER;\n"
    reader = " bar.sync 1, 64; ld.shared.u32 %r6, [%r5]; {back} bra END;\n"
    writer = "WRITER: st.shared.u32 [%r4], %r1; bar.arrive 1, 64; {wait} st.shared.u32 [%r4], %r2;\nEND:\n"
    code = split + reader + writer
    torn = run_shared(code.format(back="", wait=""))
    whole = run_shared(code.format(back="bar.arrive 2, 64;", wait="bar.sync 2, 64;"))
    assert [each.code for each in torn.findings] == ["PTX621"]
    assert whole.findings == ()


HAND_OVER = """
 ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
 setp.ne.u32 %p1, %r1, 0; @%p1 bra END;
 setp.ne.u32 %p2, %r2, 0; @%p2 bra TAKE;
 mov.u32 %r3, 42; st.global.u32 [%d1], %r3; {before}
 mov.u32 %r4, 1; {give} bra END;
TAKE:
 {take} setp.eq.u32 %p3, %r5, 0; @%p3 bra TAKE;
 {after} ld.global.u32 %r6, [%d1]; st.global.u32 [%d1+8], %r6;
END:
"""
STORE, LOAD = "st.{}.global.u32 [%d1+4], %r4;", "ld.{}.global.u32 %r5, [%d1+4];"
ADD, ASK = "red.release.gpu.global.add.u32 [%d1+4], %r4;", "atom.acquire.gpu.global.or.b32 %r5, [%d1+4], 0;"
FENCE = "fence.acq_rel.gpu;"
FLAGS = [
    (STORE.format("release.gpu"), LOAD.format("acquire.gpu"), "", "", False),
    (STORE.format("relaxed.gpu"), LOAD.format("relaxed.gpu"), FENCE, FENCE, False),
    (STORE.format("relaxed.gpu"), LOAD.format("relaxed.gpu"), "", "", True),
    (STORE.format("relaxed.gpu"), LOAD.format("acquire.gpu"), "", "", True),
    (STORE.format("release.gpu"), LOAD.format("relaxed.gpu"), "", "", True),
    (ADD, ASK, "", "", False),
    (STORE.format("release.cta"), LOAD.format("acquire.gpu"), "", "", True),
    (STORE.format("release.gpu"), LOAD.format("acquire.cta"), "", "", True),
    (STORE.format("relaxed.gpu"), LOAD.format("relaxed.gpu"), "fence.acq_rel.cta;", FENCE, True),
    (STORE.format("relaxed.gpu"), LOAD.format("relaxed.gpu"), FENCE, "fence.acq_rel.cta;", True),
    (STORE.format("relaxed.cta"), LOAD.format("relaxed.gpu"), FENCE, FENCE, True),
    (STORE.format("volatile"), LOAD.format("volatile"), "membar.gl;", "membar.gl;", False),
]


@pytest.mark.parametrize(("give", "take", "before", "after", "races"), FLAGS)
@pytest.mark.parametrize("policy", ["eager", "random"])
def test_a_flag_publishes_earlier_writes(
    give: str, take: str, before: str, after: str, races: bool, policy: str
) -> None:
    text = kernel(HAND_OVER.format(give=give, take=take, before=before, after=after), ".param .u64 a")
    found = run(text, "k", grid=2, block=32, arguments=[numpy.zeros(4, numpy.uint32)], policy=policy)
    assert found.outputs[0][2] == 42
    narrow = {"PTX622"} if ".cta.global" in give + take else set()
    assert {each.code for each in found.findings} == ({"PTX621"} | narrow if races else set())


RESET = """
 ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r4, 1; mov.u32 %r7, 0;
 setp.ne.u32 %p1, %r1, 0; @%p1 bra END;
 setp.ne.u32 %p2, %r2, 0; @%p2 bra TAKE;
 {before} {give} bra END;
TAKE:
 {take} setp.eq.u32 %p3, %r5, 0; @%p3 bra TAKE;
 {after} st.global.u32 [%d1+{reset}], %r7;
END:
"""
RESETS = [
    ("a release", STORE.format("release.gpu"), LOAD.format("acquire.gpu"), "", "", 4, ""),
    ("fences", STORE.format("relaxed.gpu"), LOAD.format("relaxed.gpu"), FENCE, FENCE, 4, ""),
    ("observation alone", STORE.format("relaxed.gpu"), LOAD.format("relaxed.gpu"), "", "", 4, ""),
    ("an atomic release", ADD, LOAD.format("acquire.gpu"), "", "", 4, ""),
    ("a plain read", STORE.format("release.gpu"), "ld.global.u32 %r5, [%d1+4];", "", "", 4, "PTX621"),
    ("a narrow scope", STORE.format("relaxed.cta"), LOAD.format("relaxed.gpu"), "", "", 4, "PTX621 PTX622"),
    ("another word", STORE.format("relaxed.gpu"), LOAD.format("relaxed.gpu"), "st.global.u32 [%d1], %r4;", "", 0,
     "PTX621"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("give", "take", "before", "after", "reset", "codes"), [row[1:] for row in RESETS], ids=[row[0] for row in RESETS]
)
@pytest.mark.parametrize("policy", ["eager", "random"])
def test_a_thread_that_has_read_a_flag_may_reset_it_plainly(
    give: str, take: str, before: str, after: str, reset: int, codes: str, policy: str
) -> None:
    text = kernel(RESET.format(give=give, take=take, before=before, after=after, reset=reset), ".param .u64 a")
    found = run(text, "k", grid=2, block=32, arguments=[numpy.zeros(4, numpy.uint32)], policy=policy)
    assert found.outputs[0][reset // 4] == 0
    assert {each.code for each in found.findings} == set(codes.split())


OBSERVED_BY_ANOTHER = """
 ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r4, 1; mov.u32 %r7, 0;
 setp.ne.u32 %p1, %r1, 0; @%p1 bra END;
 setp.eq.u32 %p2, %r2, 1; @%p2 bra PASS;
 setp.eq.u32 %p2, %r2, 2; @%p2 bra TAKE;
 st.relaxed.gpu.global.u32 [%d1], %r4; bra END;
PASS:
 ld.relaxed.gpu.global.u32 %r5, [%d1]; setp.eq.u32 %p3, %r5, 0; @%p3 bra PASS;
 st.{give}.gpu.global.u32 [%d1+4], %r4; bra END;
TAKE:
 ld.acquire.gpu.global.u32 %r5, [%d1+4]; setp.eq.u32 %p3, %r5, 0; @%p3 bra TAKE;
 st.global.u32 [%d1], %r7;
END:
"""


@pytest.mark.parametrize(("give", "races"), [("release", False), ("relaxed", True)])
def test_a_thread_that_a_reader_of_a_flag_synchronizes_with_may_reset_it(give: str, races: bool) -> None:
    text = kernel(OBSERVED_BY_ANOTHER.format(give=give), ".param .u64 a")
    found = run(text, "k", grid=3, block=32, arguments=[numpy.zeros(4, numpy.uint32)])
    assert {each.code for each in found.findings} == ({"PTX621"} if races else set())


def test_without_race_detection_nothing_is_found() -> None:
    found = run_shared(" st.shared.u32 [%r4], %r1; ld.shared.u32 %r6, [%r5];", races=False)
    assert found.findings == ()


IN_TURN = """
 ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra END;
 setp.eq.u32 %p2, %r2, 4; @%p2 bra WRITE;
TURN:
 ld.relaxed.gpu.global.u32 %r5, [%d1+4]; setp.ne.u32 %p3, %r5, %r2; @%p3 bra TURN;
 ld.global.u32 %r6, [%d1];
 setp.eq.u32 %p4, %r2, {silent}; @!%p4 red.release.gpu.global.add.u32 [%d1+8], 1;
 add.u32 %r7, %r2, 1; st.relaxed.gpu.global.u32 [%d1+4], %r7; bra END;
WRITE:
 ld.acquire.gpu.global.u32 %r5, [%d1+8]; setp.lt.u32 %p3, %r5, {told}; @%p3 bra WRITE;
 ld.relaxed.gpu.global.u32 %r5, [%d1+4]; setp.ne.u32 %p3, %r5, 4; @%p3 bra WRITE;
 st.global.u32 [%d1], %r2;
END:
"""


@pytest.mark.parametrize("silent", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("policy", ["eager", "random"])
def test_a_writer_must_be_ordered_after_each_of_several_readers(silent: int, policy: str) -> None:
    text = kernel(IN_TURN.format(silent=silent, told=4 if silent == 9 else 3), ".param .u64 a")
    found = run(text, "k", grid=5, block=32, arguments=[numpy.zeros(4, numpy.uint32)], policy=policy)
    assert found.outputs[0][0] == 4
    assert {each.code for each in found.findings} == (set() if silent == 9 else {"PTX621"})


def test_the_log_of_reads_keeps_reads_that_no_write_has_ended() -> None:
    log = ReadLog(8, 4)
    log.add(numpy.array([1, 1, 2]), numpy.array([0x13, 0x14, 0x15]), 7)
    log.clear(numpy.array([2]))
    log.add(numpy.array([2]), numpy.array([0x26]), 8)
    found = log.reads_of(numpy.array([2, 3, 1]))
    assert found is not None
    assert sorted(zip(*(each.tolist() for each in found), strict=True)) == [(0, 0x26, 8), (2, 0x13, 7), (2, 0x14, 7)]
    log.refine(4)
    found = log.reads_of(numpy.array([7]))
    assert found is not None
    assert found[1].tolist() == [0x13, 0x14]
    assert log.reads_of(numpy.array([12])) is None
    for time in range(1, 40_000):
        log.add(numpy.array([0, 1]), numpy.array([time << 4 | 1, time << 4 | 2]), 9)
    found = log.reads_of(numpy.array([0]))
    assert found is not None
    assert found[1][0] == 1 << 4 | 1
    assert found[1][-1] == 39_999 << 4 | 1
    assert len(found[1]) < 39_999
