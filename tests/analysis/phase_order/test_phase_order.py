"""Which orders by mbarriers and roles of threads are proven, and that the proofs rest on each ordering instruction."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxkit.analysis.phase_order.counted_numbers import exit_at_number
from ptxkit.analysis.phase_order.iteration_counts import IterationCount, LoopExit, Position
from ptxkit.analysis.values.cta_values import apply
from ptxkit.analysis.values.uniform_terms import UniformTerm, atom
from ptxkit.fast_dataclasses import replace
from tests.analysis.intervals.test_interval_proofs import is_proven, proofs_of
from tests.rules import cases_phases
from tests.rules.test_address_proofs import kernel

CORPUS = Path(__file__).resolve().parents[3] / "corpus"
#: Rings whose number of iterations an argument decides, with one role or several.
RINGS = [
    "kernels/hand_ring_two_slots.sm_90.ptx",
    "kernels/wgmma_ring.sm_90a.ptx",
    "kernels/bulk_persistent.sm_90a.ptx",
    "kernels/cp_async_mbarrier_noinc.sm_90a.ptx",
    "compilers/tilelang/attn.sm_90a.ptx",
    "compilers/triton/desc_copy.sm_90a.ptx",
]
#: The instructions that order, and the tests of mbarriers, which are replaced by a predicate that is true.
ORDERING = re.compile(r"^\s*(@!?%?\w+\s+)?(bar(rier)?\.|fence\.proxy\.async|mbarrier\.arrive|cp\.async\.mbarrier)")
TEST = re.compile(r"mbarrier\.(?:try|test)_wait[\w.:]*\s+(%?\w+),[^;]*;")


def text_of(name: str) -> str:
    return (CORPUS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RINGS)
def test_the_order_of_a_ring_is_proven(name: str) -> None:
    assert is_proven(text_of(name))


def without_order(text: str) -> list[str]:
    """Returns the kernel once for each ordering instruction, without it."""
    lines = text.splitlines()
    found = []
    for at, line in enumerate(lines):
        if ORDERING.match(line):
            found.append("\n".join([*lines[:at], re.sub(r"^.*?;", "", line, count=1), *lines[at + 1 :]]))
        elif TEST.search(line):
            found.append("\n".join([*lines[:at], TEST.sub(r"setp.eq.u32 \1, 0, 0;", line), *lines[at + 1 :]]))
    return found


@pytest.mark.parametrize("name", RINGS[:2])
def test_the_proof_of_a_ring_rests_on_each_ordering_instruction(name: str) -> None:
    broken = without_order(text_of(name))
    assert len(broken) > 4
    assert [at for at, text in enumerate(broken) if is_proven(text)] == []


#: A producer and a consumer that count their iterations in different ways.
ROLES = """
.reg .pred %p4; .shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .align 16 .b8 slot[512];
mov.u32 %r1, %tid.x; mov.u32 %r2, full; mov.u32 %r3, empty; mov.u32 %r4, slot; shl.b32 %r5, %r1, 2;
ld.param.u32 %r9, [n]; ld.param.u64 %rd1, [p]; setp.ne.u32 %p1, %r1, 0; @%p1 bra READY;
mbarrier.init.shared.b64 [%r2], 1; mbarrier.init.shared.b64 [%r3], 32;
READY: bar.sync 0; setp.lt.s32 %p1, %r9, 1; @%p1 bra DONE;
setp.ge.u32 %p1, %r1, 32; @%p1 bra CONSUMER; setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;
mov.u32 %r6, %r9; mov.u32 %r7, 1;
NEXT: add.s32 %r13, %r4, 0;
FREE: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], %r7; @!%p2 bra FREE;
mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], 512, [%r2];
xor.b32 %r7, %r7, 1; sub.s32 %r6, %r6, 1; setp.gt.s32 %p3, %r6, 0; @%p3 bra NEXT; bra DONE;
CONSUMER: setp.ge.u32 %p1, %r1, 64; @%p1 bra DONE; mov.u32 %r6, 0; mov.u32 %r7, 0; add.s32 %r8, %r4, %r5;
AGAIN: add.s32 %r14, %r4, 0;
FULL: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], %r7; @!%p2 bra FULL;
ld.shared.u32 %r10, [%r8];
{release}
xor.b32 %r7, %r7, 1; add.s32 %r6, %r6, 1; setp.lt.s32 %p3, %r6, %r9; @%p3 bra AGAIN;
DONE: {last}
"""
RELEASE = "mbarrier.arrive.shared.b64 _, [%r3];"


def roles(release: str = RELEASE, last: str = "ret;") -> str:
    return kernel(ROLES.replace("{release}", release).replace("{last}", last))


def test_loops_that_count_up_and_down_have_the_same_number_of_iterations() -> None:
    """After the loops, no copy is in progress, if both run equally often."""
    store = "bar.sync 0; add.s32 %r11, %r4, %r5; st.shared.u32 [%r11], %r1;"
    assert is_proven(roles(last=store))


def test_a_slot_that_is_released_before_it_is_read_is_not_proven() -> None:
    early = roles(release="").replace("ld.shared.u32 %r10", f"{RELEASE} ld.shared.u32 %r10")
    assert is_proven(roles())
    assert not is_proven(early)


def test_one_lane_releases_a_slot_for_its_warp_only_after_a_barrier_of_the_warp() -> None:
    lane = "and.b32 %r12, %r1, 31; setp.eq.u32 %p4, %r12, 0; @%p4 mbarrier.arrive.shared.b64 _, [%r3];"
    assert is_proven(roles(f"bar.warp.sync 0xffffffff; {lane}").replace("[%r3], 32", "[%r3], 1"))
    assert not is_proven(roles(lane).replace("[%r3], 32", "[%r3], 1"))
    assert not is_proven(roles(f"bar.warp.sync 0xffff; {lane}").replace("[%r3], 32", "[%r3], 1"))


def test_an_mbarrier_that_waits_for_too_many_arrivals_is_not_proven() -> None:
    assert not is_proven(roles().replace("[%r3], 32", "[%r3], 33"))
    assert not is_proven(roles().replace("[%r3], 32", "[%r3], 31"))


def test_data_that_divides_the_threads_of_a_role_is_not_proven() -> None:
    assert not is_proven(roles(f"setp.eq.u32 %p4, %r10, 0; @%p4 {RELEASE}"))


def test_a_wait_for_the_other_parity_is_not_proven() -> None:
    assert not is_proven(roles().replace("mov.u32 %r6, 0; mov.u32 %r7, 0;", "mov.u32 %r6, 0; mov.u32 %r7, 1;"))


def test_the_evidence_names_the_waits_and_the_barriers() -> None:
    steps = proofs_of(roles()).phase_steps
    assert len(steps) == 3


def test_the_phases_of_a_ring_are_followed_to_the_end() -> None:
    assert proofs_of(roles()).follows_phases
    assert not proofs_of(roles(release="")).follows_phases
    assert not proofs_of(roles().replace("[%r3], 32", "[%r3], 33")).follows_phases


@pytest.mark.parametrize(("expected", "is_equal"), [(512, True), (496, False), (528, False)])
def test_the_bytes_of_each_phase_are_counted(expected: int, is_equal: bool) -> None:
    proofs = proofs_of(
        roles().replace("expect_tx.shared.b64 _, [%r2], 512", f"expect_tx.shared.b64 _, [%r2], {expected}")
    )
    copies = [s for s in proofs.phase_steps if s.instruction.opcode.startswith("mbarrier.try_wait")]
    assert {proofs.counts_bytes(step) for step in copies} == ({True} if is_equal else {True, False})


def test_bytes_that_are_expected_after_the_arrivals_are_not_counted() -> None:
    late = roles().replace(
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;",
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 0; mbarrier.expect_tx.relaxed.cta.shared.b64 [%r2], 512;",
    )
    proofs = proofs_of(late)
    waits = [s for s in proofs.phase_steps if s.instruction.opcode.startswith("mbarrier.try_wait")]
    assert len(waits) == 2
    assert [proofs.counts_bytes(step) for step in waits].count(True) == 1


def test_all_warps_of_a_group_meet_at_the_barriers_of_their_warps() -> None:
    """One lane of each of several warps releases a slot; thread 0 is in a separate group, since it initializes."""
    lane = "and.b32 %r12, %r1, 31; setp.eq.u32 %p4, %r12, 0; @%p4 mbarrier.arrive.shared.b64 _, [%r3];"
    text = roles(f"bar.warp.sync 0xffffffff; {lane}").replace("[%r3], 32", "[%r3], 2")
    text = text.replace("setp.ge.u32 %p1, %r1, 64; @%p1 bra DONE; mov.u32 %r6, 0", "mov.u32 %r6, 0")
    text = text.replace(".reqntid 64", ".reqntid 96")
    text = text.replace(
        "setp.ge.u32 %p1, %r1, 32; @%p1 bra CONSUMER; setp.ne.u32 %p1, %r1, 0;",
        "setp.lt.u32 %p1, %r1, 64; @%p1 bra CONSUMER; setp.ne.u32 %p1, %r1, 64;",
    )
    assert proofs_of(text).follows_phases
    assert is_proven(text)


def test_each_group_may_have_its_own_barrier() -> None:
    """Two groups of threads use one barrier instruction with different numbers, as warpgroups do."""
    text = kernel(
        "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; add.u32 %r3, %r2, 1; mov.u32 %r4, tile; shl.b32 %r5, %r1, 2;"
        "add.u32 %r6, %r4, %r5; st.shared.u32 [%r6], %r1; bar.sync %r3, 32; xor.b32 %r7, %r5, 4;"
        "add.u32 %r7, %r4, %r7; ld.shared.u32 %r8, [%r7];"
    )
    assert proofs_of(text).follows_phases
    assert is_proven(text)


TWO_COPIES = """
.reg .pred %p4; .shared .align 8 .b64 bars[2]; .shared .align 16 .b8 slots[32];
mov.u32 %r1, %tid.x; mov.u32 %r2, bars; mov.u32 %r4, slots; ld.param.u64 %rd1, [p];
setp.ne.u32 %p1, %r1, 0; @%p1 bra END;
mbarrier.init.shared.b64 [%r2], 1; mbarrier.init.shared.b64 [%r2+8], 1; mov.u32 %r6, 0;
NEXT: shl.b32 %r7, %r6, 3; add.u32 %r7, %r2, %r7; mul.lo.u32 %r8, %r6, {stride}; add.u32 %r8, %r4, %r8;
mbarrier.arrive.expect_tx.shared.b64 _, [%r7], 16;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r8], [%rd1], 16, [%r7];
add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 2; @%p3 bra NEXT;
ONE: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra ONE;
TWO: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+8], 0; @!%p2 bra TWO;
END: add.u32 %r9, %r9, 0;
"""


@pytest.mark.parametrize(("stride", "is_apart"), [(16, True), (0, False)])
def test_a_copy_that_is_executed_again_may_overlap_with_itself(stride: int, is_apart: bool) -> None:
    assert is_proven(kernel(TWO_COPIES.replace("{stride}", str(stride)))) == is_apart


def test_a_barrier_may_count_other_threads_in_its_next_phase() -> None:
    text = kernel(
        "mov.u32 %r1, %tid.x; mov.u32 %r4, tile; shl.b32 %r5, %r1, 2; add.u32 %r6, %r4, %r5; setp.ge.u32 %p1, %r1, 32;"
        "bar.sync 0; @%p1 bra END; st.shared.u32 [%r6], %r1; bar.sync 0, 32;"
        "xor.b32 %r7, %r5, 4; add.u32 %r7, %r4, %r7; ld.shared.u32 %r8, [%r7]; END: ret;"
    )
    assert is_proven(text)
    assert not is_proven(text.replace("bar.sync 0, 32;", ""))


#: A loop that arguments may lead past its ordering steps, whose counter is copied on both sides of a branch.
TILES = """
.reg .pred %p4; .reg .pred %p5; .shared .align 8 .b64 met; mov.u32 %r1, %tid.x; mov.u32 %r2, met; mov.u32 %r4, tile;
shl.b32 %r5, %r1, 2; ld.param.u32 %r9, [n]; setp.ne.u32 %p1, %r1, 0; @%p1 bra READY; mbarrier.init.shared.b64 [%r2], 64;
READY: bar.sync 0; mov.u32 %r6, %ctaid.x; mov.u32 %r7, 0; mov.u32 %r8, %nctaid.x; setp.lt.s32 %p3, %r9, 1;
TILE: and.b32 %r10, %r7, 1; @%p3 bra NONE;
shl.b32 %r11, %r10, 8; add.u32 %r11, %r11, %r4; add.u32 %r11, %r11, %r5; st.shared.u32 [%r11], %r6;
mbarrier.arrive.shared.b64 _, [%r2];
MEET: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], %r10; @!%p2 bra MEET;
xor.b32 %r12, %r11, 4; ld.shared.u32 %r13, [%r12]; add.u32 %r14, %r7, 1; bra NEXT;
NONE: add.u32 %r14, %r7, 3;
NEXT: mov.u32 %r7, %r14; add.u32 %r6, %r6, %r8; setp.lt.u32 %p4, %r6, %r9; @%p4 bra TILE;
"""


def test_a_loop_over_tiles_may_be_repeated_without_an_ordering_step() -> None:
    text = kernel(TILES)
    assert is_proven(text)
    assert not is_proven(text.replace("add.u32 %r14, %r7, 1;", "add.u32 %r14, %r7, 2;"))


def test_a_loop_begins_a_new_count_after_one_that_has_left_a_rest() -> None:
    """The number of the loop before it does not limit the next one."""
    known = IterationCount(((5, 7),), (Position(units=4, left=3),), 4)
    assert known.follow(0, 1, stays=True).at == (Position(run=1, units=1),)
    after = known.decide(0, LoopExit("count", 0, 1), (None, None), stays=True)
    assert after is not None
    assert after.at == (Position(run=1, units=1),)
    rest = known.decide(0, LoopExit("count", 0, 1, continues=3), (None, None), stays=True)
    assert rest is not None
    assert rest.at == (Position(units=5, left=3),)


def test_a_test_for_a_rest_does_not_advance_where_no_loop_has_counted_before() -> None:
    """The exit that stands for it then is a test, too."""
    leaving = LoopExit("n", 2, 1, continues=3, alone=LoopExit("n & 3", 2, 1))
    test = leaving.as_test(is_passed=True)
    assert test.alone is not None
    assert (test.offset, test.advances) == (test.alone.offset, test.alone.advances) == (1, False)


def test_a_rest_has_all_bits_that_a_shift_and_a_mask_drop() -> None:
    number = apply("shr", (32, True, apply("and", (32, UniformTerm(atom("n")), 0xFFFFFFF8)), 4))
    assert isinstance(number, UniformTerm)
    found = exit_at_number(number, 1, 0, 1, 32)
    assert found is not None
    assert (found.number, found.step, found.rest) == (UniformTerm(atom("n")), 16, 15)


def test_counts_of_iterations_that_are_far_in_the_past_repeat() -> None:
    """A predicate in a loop whose limit was passed long ago leads to no new states."""
    known = IterationCount(((0, 2),), (Position(),), 1)
    seen = {known}
    for _ in range(1000):
        (at,) = known.at
        assert at.units is not None
        known = replace(known, at=(replace(at, units=at.units + 1),)).normalize([0])
        seen.add(known)
    assert len(seen) < 100
    assert known.decide(0, LoopExit("count", 0, 1), (0, None), stays=True) is None


def test_a_wait_with_the_token_of_an_earlier_arrival_proves_no_order() -> None:
    by_token = {case.name: case.text for case in cases_phases.TOKENS}
    assert is_proven(by_token["a wait with the token of the last arrival"])
    assert not is_proven(by_token["a wait with the token of an earlier phase"])
