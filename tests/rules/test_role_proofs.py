"""Which barriers and collective instructions are proven to be executed by all threads of their roles."""

from __future__ import annotations

import pytest

from ptxkit.diagnostics.obligation import LaunchNeed, ObligationVerdict
from tests.rules.test_address_proofs import TID
from tests.rules.test_mbarrier_proofs import verdicts

HALF = f"{TID} setp.ge.u32 %p1, %r1, 32; @%p1 bra M;"
LOOP = "ld.param.u32 %r8, [n]; mov.u32 %r9, 0; L: {} add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r8; @%p2 bra L;"
ROWS = tuple(LaunchNeed(f"%ntid.{axis}", "extent", 1) for axis in "yz")

RIGHT = [
    HALF + "bar.sync 1, 32; M: bar.sync 0;",
    HALF + LOOP.format("bar.sync 1, 32;") + "M: bar.sync 0;",
    HALF + "bar.sync 1, 32; bra N; M: bar.sync 2, 32; N:",
    f"{TID} shr.u32 %r2, %r1, 5; add.u32 %r3, %r2, 1; barrier.cta.sync %r3, 32;",
    f"{TID} shr.u32 %r2, %r1, 5; shfl.sync.idx.b32 %r3, %r2, 0, 31, -1; setp.eq.u32 %p1, %r3, 0; @%p1 bra M;"
    " bar.sync 1, 32; M:",
]


@pytest.mark.parametrize("body", RIGHT)
def test_barriers_of_roles_are_proven(body: str) -> None:
    for code in ("PTX601", "PTX603"):
        found = [each for each in verdicts(body, code) if each.subject == "cta"]
        assert code == "PTX603" or found
        assert {each.evidence for each in found} <= {"uniform"}


WRONG = [
    # other numbers of threads than the role has
    HALF + "bar.sync 1, 64; M: bar.sync 0;",
    f"{TID} setp.ge.u32 %p1, %r1, 16; @%p1 bra M; barrier.cta.sync 1, 32; M:",
    # not all threads of the role, or not equally often
    HALF + "setp.eq.u32 %p2, %r1, 3; @%p2 bra M; bar.sync 1, 32; M: bar.sync 0;",
    HALF + LOOP.replace("ld.param.u32 %r8, [n];", "mov.u32 %r8, %r1;").format("bar.sync 1, 32;") + "M: bar.sync 0;",
    HALF + "ld.global.u32 %r8, [%rd1];" + LOOP.partition(";")[2].format("bar.sync 1, 32;") + "M: bar.sync 0;",
    "mov.u32 %r8, 4; "
    + TID
    + "setp.eq.u32 %p3, %r1, 5; @%p3 mov.u32 %r8, 6;"
    + HALF
    + LOOP.partition(";")[2].format("bar.sync 1, 32;")
    + "M: bar.sync 0;",
    HALF + "setp.eq.u32 %p2, %r1, 3; @%p2 exit; bar.sync 1, 32; M:",
    # two roles wait at barriers in different orders
    HALF + "bar.sync 1, 64; bar.sync 2, 64; bra N; M: bar.sync 2, 64; bar.sync 1, 64; N:",
    # one number for two roles, and roles that share threads
    HALF + "bar.sync 1, 32; bra N; M: bar.sync 1, 32; N:",
    HALF + "bar.sync 1, 32; M: bar.sync 1, 64;",
    f"{TID} setp.ge.u32 %p1, %r1, 32; @%p1 bra M; bar.sync 1, 32; M: barrier.cta.sync 2, 48;",
    HALF + "bar.arrive 1, 64; bra N; M: bar.sync 1, 64; N:",
]


@pytest.mark.parametrize("body", WRONG)
def test_a_barrier_at_which_a_thread_may_be_missing_is_not_proven(body: str) -> None:
    found = [each for each in verdicts(body, "PTX601") if each.subject == "cta"]
    assert found
    assert ObligationVerdict.DISCHARGED not in [each.verdict for each in found]


def test_a_barrier_of_a_part_of_a_warp_is_not_proven_to_be_whole() -> None:
    body = f"{TID} setp.ge.u32 %p1, %r1, 16; @%p1 bra M; bar.sync 0; M:"
    assert verdicts(body, "PTX603")[-1].verdict is not ObligationVerdict.DISCHARGED


WGMMA = "wgmma.fence.sync.aligned;"
CONSUMERS = f"{TID} setp.lt.u32 %p1, %r1, 128; @%p1 bra M; " + WGMMA + "M:"


@pytest.mark.parametrize(
    ("body", "bounds", "needs"),
    [
        (WGMMA, ".maxntid 128, 1, 1", (LaunchNeed("%ntid.x", "multiple", 128), *ROWS)),
        (CONSUMERS, ".maxntid 256, 1, 1", (LaunchNeed("%ntid.x", "least", 256), *ROWS)),
        (CONSUMERS, ".maxntid 192, 1, 1", (LaunchNeed("%ntid.x", "least", 192), *ROWS)),
        (CONSUMERS.replace("128", "64"), ".maxntid 256, 1, 1", ()),
    ],
)
def test_warpgroups_must_be_whole(body: str, bounds: str, needs: tuple[LaunchNeed, ...]) -> None:
    text = [each for each in verdicts(body, "PTX315", bounds=bounds) if each.subject == "wgmma"]
    assert text
    assert [(each.verdict, each.needs) for each in text] == [(ObligationVerdict.OPEN, needs)] * len(text)


def test_whole_warpgroups_of_a_declared_block_are_proven() -> None:
    assert {each.evidence for each in verdicts(CONSUMERS, "PTX315", bounds=".reqntid 256, 1, 1")} == {"uniform"}


WAIT = "barrier.cluster.wait;"
PAIR = f"barrier.cluster.arrive; {WAIT}"


@pytest.mark.parametrize(
    ("body", "is_proven"),
    [
        (PAIR + PAIR, True),
        (f"{TID} setp.eq.u32 %p1, %r1, 0; @%p1 barrier.cluster.arrive; @%p1 barrier.cluster.wait; @!%p1 {PAIR}", False),
        (f"{TID} setp.eq.u32 %p1, %r1, 0; @%p1 bra M; barrier.cluster.arrive; bra N; M: barrier.cluster.arrive; N:"
         " barrier.cluster.wait;", True),
        (f"{TID} setp.eq.u32 %p1, %r1, 0; @%p1 bra M; barrier.cluster.arrive; M: barrier.cluster.wait;", False),
        (f"{TID} setp.eq.u32 %p1, %r1, 0; @%p1 barrier.cluster.arrive; @!%p1 barrier.cluster.arrive;"
         " barrier.cluster.wait;", True),
        (LOOP.format(PAIR), True),
        (LOOP.format("barrier.cluster.arrive;") + "barrier.cluster.wait;", False),
        ("barrier.cluster.arrive;" + LOOP.format("barrier.cluster.wait; barrier.cluster.arrive;") + WAIT,
         True),
        ("barrier.cluster.wait; barrier.cluster.arrive;", False),
    ],
)  # fmt: skip
def test_a_thread_arrives_at_the_barrier_of_its_cluster_and_waits_in_turn(body: str, is_proven: bool) -> None:
    found = {each.evidence for each in verdicts(body, "PTX613")}
    assert (found == {"paired"}) is is_proven


@pytest.mark.parametrize(
    ("body", "is_proven"),
    [
        (HALF + "bar.sync 1, 32; M: bar.sync 0;", True),
        ("bar.sync 1, 64; bar.sync 1, 64; bar.sync 1;", True),
        (HALF + "bar.sync 1, 32; bra N; M: bar.sync 1, 64; N:", False),
        (HALF + "bar.sync 1, 32; M: bar.sync 1;", False),
        ("ld.param.u32 %r8, [n]; bar.sync 1, %r8; bar.sync 1, 32;", False),
        ("ld.param.u32 %r8, [n]; bar.sync %r8, 32; bar.sync 1, 64;", False),
        ("ld.param.u32 %r8, [n]; bar.sync %r8, 32; bar.sync 1, 32;", True),
    ],
)
def test_barriers_with_one_number_count_as_many_threads(body: str, is_proven: bool) -> None:
    found = {each.evidence for each in verdicts(body, "PTX602")}
    assert (found == {"no other"}) is is_proven
