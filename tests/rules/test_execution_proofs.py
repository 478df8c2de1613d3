"""What is proven about the threads and CTAs that execute an instruction, and what makes the proof fail."""

from __future__ import annotations

import pytest

from ptxkit.diagnostics.obligation import ObligationVerdict
from tests.rules.test_address_proofs import TID, kernel
from tests.rules.test_obligations import judge_text

PARAMETER = "ld.param.u32 %r2, [n]; setp.gt.u32 %p1, %r2, 4;"
FIRST_THREAD = f"{TID} setp.eq.u32 %p1, %r1, 0;"
LOADED = "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; ld.global.u32 %r2, [%rd1]; setp.gt.u32 %p1, %r2, 4;"
ELECTED = "elect.sync _|%p1, -1;"
ROUNDS = "mov.u32 %r3, 0;\nagain: bar.sync 0; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r2; @%p2 bra again;"
TILE = "mov.u32 %r3, tile; mov.u32 %r4, bar;"
COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 64, [%r4];"
BAR = ".shared .align 8 .b64 bar; .shared .align 16 .b8 other[1024];"


def verdicts(body: str, code: str, *, variables: str = "") -> list[ObligationVerdict]:
    found = judge_text(kernel(body, variables=variables)).obligations
    assert found is not None
    return [each.verdict for each in found if each.code == code]


OPEN, PROVEN = ObligationVerdict.OPEN, ObligationVerdict.DISCHARGED


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("bar.sync 0;", PROVEN),
        ("bar.sync 0, 64;", PROVEN),
        ("barrier.sync 1;", PROVEN),
        (f"{PARAMETER} @%p1 bar.sync 0;", PROVEN),
        (f"{PARAMETER} @%p1 bra on; bar.sync 0;\non:", PROVEN),
        (f"{PARAMETER} {ROUNDS}", PROVEN),
        ("bar.sync 0, 32;", OPEN),
        (f"{PARAMETER} bar.sync %r2;", OPEN),
        (f"{LOADED} @%p1 bar.sync 0;", OPEN),
        (f"{LOADED} {ROUNDS}", OPEN),
        (f"{TID} and.b32 %r2, %r1, 3; {ROUNDS}", OPEN),
        (f"{FIRST_THREAD} bar.sync 0; @%p1 bar.sync 0;", OPEN),
        (f"{FIRST_THREAD} @%p1 ret; bar.sync 0;", OPEN),
        (f"{ELECTED} @%p1 bar.sync 0;", OPEN),
    ],
)
def test_a_barrier_is_proven_if_all_threads_execute_it_equally_often(body: str, verdict: ObligationVerdict) -> None:
    found = verdicts(body, "PTX601")
    assert found
    assert found[-1] is verdict or (verdict is OPEN and found[-1] is ObligationVerdict.VIOLATED)


def test_a_barrier_is_open_where_threads_may_wait_at_another_one() -> None:
    assert verdicts(f"{FIRST_THREAD} bar.sync 0; @%p1 bar.sync 1;", "PTX601")[0] is OPEN


def test_whole_warps_execute_an_aligned_barrier_that_only_arguments_decide() -> None:
    assert verdicts(f"{PARAMETER} @%p1 bar.sync 0;", "PTX603") == [PROVEN]
    assert verdicts(f"{LOADED} @%p1 bar.sync 0;", "PTX603") == [OPEN]


@pytest.mark.parametrize(
    ("mask", "verdict"),
    [("-1", PROVEN), ("0xffffffff", PROVEN), ("%r5", PROVEN), ("%r2", OPEN)],
)
def test_a_mask_of_all_lanes_includes_each_lane(mask: str, verdict: ObligationVerdict) -> None:
    assert verdicts(f"{PARAMETER} mov.u32 %r5, -1; bar.warp.sync {mask};", "PTX607") == [verdict]


def test_the_operands_of_a_copy_are_in_its_cta_unless_they_are_mapped_or_multicast() -> None:
    assert set(verdicts(f"{TILE} {COPY}", "PTX611", variables=BAR)) == {PROVEN}
    assert set(verdicts(f"{TILE} {COPY}", "PTX404", variables=BAR)) == {PROVEN}
    mapped = f"{TILE} mapa.shared::cluster.u32 %r3, %r3, 1; {COPY}"
    assert set(verdicts(mapped, "PTX611", variables=BAR)) == {ObligationVerdict.VIOLATED}
    assert set(verdicts(mapped, "PTX404", variables=BAR)) == {OPEN}
    sums = f"{TILE} {TID} mov.u32 %r5, %cluster_ctarank; ld.param.u32 %r6, [n]; shl.b32 %r1, %r1, 4;"
    for term, verdict in (("%r1", PROVEN), ("%r5", OPEN), ("%r6", OPEN)):
        moved = f"{sums} mad.lo.u32 %r3, {term}, 16777216, %r3; {COPY}"
        assert (set(verdicts(moved, "PTX611", variables=BAR)) == {PROVEN}) is (verdict is PROVEN)
        assert set(verdicts(moved, "PTX404", variables=BAR)) == {verdict}
    multicast = COPY.replace("::bytes [", "::bytes.multicast::cluster [").replace("];", "], %h1;")
    assert ObligationVerdict.VIOLATED in verdicts(f"{TILE} mov.u16 %h1, 3; {multicast}", "PTX612", variables=BAR)


@pytest.mark.parametrize(
    ("load", "verdict"),
    [
        ("mov.u32 %r6, other; ld.shared.u32 %r7, [%r6];", PROVEN),
        ("mov.u32 %r6, tile; ld.shared.u32 %r7, [%r6+64];", PROVEN),
        ("mov.u32 %r6, tile; ld.shared.u32 %r7, [%r6+60];", OPEN),
        ("mov.u32 %r6, tile; ld.param.u32 %r2, [n]; add.u32 %r6, %r6, %r2; ld.shared.u32 %r7, [%r6+64];", OPEN),
        ("ld.param.u32 %r6, [n]; ld.shared.u32 %r7, [%r6];", OPEN),
    ],
)
def test_a_load_of_other_bytes_needs_no_wait_for_a_copy(load: str, verdict: ObligationVerdict) -> None:
    found = verdicts(f"{TILE} {COPY} {load}", "PTX302", variables=BAR)
    assert found
    assert found[-1] is verdict or (verdict is OPEN and found[-1] is ObligationVerdict.VIOLATED)


def test_nothing_is_apart_from_code_that_is_not_seen() -> None:
    load = "mov.u32 %r6, other; ld.shared.u32 %r7, [%r6];"
    calls = ".extern .func unknown;"
    text = kernel(f"{TILE} {COPY} call unknown; {load}", variables=BAR).replace(
        ".extern .shared", f"{calls}\n.extern .shared"
    )
    found = judge_text(text).obligations
    assert found is not None
    assert [each.verdict for each in found if each.code == "PTX302"][-1] is OPEN
