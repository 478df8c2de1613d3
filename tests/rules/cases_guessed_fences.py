"""Fences, and other instructions that settle what two threads do, under a condition that holds for all data.

The analysis does not know that two loads return the same value, and may take the path without the instruction. That is
no proof, although neither of the two instructions of the finding comes after the guess in its own thread.
"""

from __future__ import annotations

from tests.rules import cases_clusters as clusters
from tests.rules import cases_maps as maps
from tests.rules import cases_strict as strict
from tests.rules.support import Case

_SAME = "ld.global.u32 %r31, [%rd1]; ld.global.u32 %r32, [%rd1]; setp.ne.u32 %p6, %r31, %r32;"


def _hide(code: str, label: str) -> str:
    """Returns code that each thread executes, for all data."""
    return f"{_SAME} @%p6 bra {label}; {code} {label}:"


_CLUSTER = strict.BOUNDS
#: A thread fences after its store to the other CTA, and once more after both have met.
_ROUNDS = f"""setp.eq.u32 %p7, %r20, 0; and.pred %p7, %p7, %p2; @!%p7 bra others; {strict.REMOTE} mov.u32 %r10, 0;
round: {_SAME} @!%p6 bra fence; bra fenced; fence: {strict.FENCE} fenced:
setp.ne.u32 %p7, %r10, 0; @%p7 bra met; {clusters.MEET} mov.u32 %r10, 1; bra round;
others: {clusters.MEET} {strict.OUT} {strict.DONE} met: {clusters.MEET}"""

CASES = (
    Case(
        "a thread fences what it has read, and another one copies over it",
        f"""{strict.SETUP} setp.lt.u32 %p7, %r1, 32; @%p7 bra copy;
ld.shared.u32 %r12, [%r4]; st.global.u32 [%rd2], %r12;
{_hide(strict.FENCE, "met")} bar.sync 0; bra full;
copy: bar.sync 0; @!%p1 bra full; {strict.EXPECT} {strict.COPY} {strict.FULL}""",
        policy="strict",
        undecided=("PTX402",),
    ),
    Case(
        "the guess comes after the barrier",
        f"""{strict.SETUP} setp.lt.u32 %p7, %r1, 32; @%p7 bra copy;
ld.shared.u32 %r12, [%r4]; st.global.u32 [%rd2], %r12; //= read
bar.sync 0; {_hide(strict.FENCE, "met")} bra full;
copy: bar.sync 0; //= sync
@!%p1 bra full; {strict.EXPECT}
{strict.COPY} //? PTX402 read sync
{strict.FULL}""",
        policy="strict",
    ),
    Case(
        "a thread changes a map and releases it, and another one acquires it",
        f"""@!%p1 bra met; {maps.REPLACE} {_hide(maps.RELEASE, "met")} bar.sync 0; @!%p2 bra end;
{maps.ACQUIRE} {maps.COPY} {maps.WAIT} end:""",
        undecided=("PTX403",),
    ),
    Case(
        "a third thread releases a changed map",
        f"""@%p1 {maps.REPLACE} bar.sync 0; setp.ne.u32 %p7, %r1, 64; @%p7 bra met;
{_hide(maps.RELEASE, "met")} bar.sync 0; @!%p2 bra end; {maps.ACQUIRE} {maps.COPY} {maps.WAIT} end:""",
        undecided=("PTX403",),
    ),
    Case(
        "a third thread guesses after the copy",
        f"""@%p1 {maps.REPLACE} //= change
bar.sync 0; @!%p2 bra met; {maps.ACQUIRE}
{maps.COPY} //! PTX403 change
{maps.WAIT} met: bar.sync 0; setp.ne.u32 %p7, %r1, 64; @%p7 bra end; {_hide(maps.RELEASE, "end")}""",
    ),
    Case(
        "a thread fences its stores to the other CTA before that copies them",
        f"{strict.PEER} {_ROUNDS}",
        bounds=_CLUSTER,
        undecided=("PTX404",),
    ),
    Case(
        "the thread that waited for a product fences before others store its operands",
        f"""{strict.TENSOR}
{strict.PRODUCT} {strict.COMMIT} {strict.FIRST} @!%p1 bra met; {_hide(strict.FENCE, "met")} bar.sync 0;
setp.eq.u32 %p7, %r1, 64; @%p7 st.shared.b32 [%r2], %r3;
{strict.FREE}""",
        target="sm_100a",
        policy="strict",
        undecided=("PTX405",),
    ),
    Case(
        "another thread ends the life of an mbarrier before it is initialized again",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0; @!%p2 bra met;
{_hide("mbarrier.inval.shared::cta.b64 [%r5];", "met")} bar.sync 0; @%p1 mbarrier.init.shared::cta.b64 [%r5], 2;""",
        undecided=("PTX502",),
    ),
    Case(
        "a thread publishes an mbarrier that threads of the other CTA use",
        f"""{clusters.PEER} @!%p1 bra met; mbarrier.init.shared::cta.b64 [%r5], 1;
{_hide("fence.mbarrier_init.release.cluster;", "met")}
bar.sync 0; barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire; @%p2 {clusters.ARRIVE} {clusters.MEET}""",
        bounds=_CLUSTER,
        undecided=("PTX611",),
    ),
    Case(
        "another thread has observed that the other CTA has started",
        f"""{clusters.PEER} barrier.cluster.arrive.release; setp.lt.u32 %p7, %r1, 64; @%p7 bra waits;
{_SAME} @%p6 bra early; barrier.cluster.wait.acquire; bar.sync 0; bra end; early: bar.sync 0; bra after;
waits: bar.sync 0; @%p2 st.shared::cluster.u32 [%r10], 1;
after: barrier.cluster.wait.acquire; end: {clusters.MEET}""",
        bounds=_CLUSTER,
        undecided=("PTX611",),
    ),
)
