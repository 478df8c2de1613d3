"""Requests to cancel other clusters: the responses that an execution assumes, and the CTAs that a request reaches."""

from __future__ import annotations

from ptxkit.isa.effects import ALL, Cancellation, MbarrierComplete
from tests.analysis.support import explorer_of, module_of, walk

START = (
    ".shared .align 16 .b8 answer[16]; .shared .align 8 .b64 bar; .reg .b128 %rq<3>;"
    "mov.u32 %r2, answer; mov.u32 %r5, bar; mov.u32 %r6, 0;"
)
READ = "ld.shared.b128 %rq{0}, [%r2];"
ASK = "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p{0}, %rq{1};"
REQUEST = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{}.b128 [%r2], [%r5];"


def answers(body: str) -> list[object]:
    """Returns the values that a thread stores, in order."""
    return [event.amount for event in walk(module_of(START + body)).events(Cancellation)]


def test_the_first_two_requests_are_granted_and_the_next_is_not() -> None:
    rounds = f"next: {READ.format(1)} {ASK.format(1, 1)} add.u32 %r6, %r6, 1; setp.lt.u32 %p5, %r6, 4; @%p5 bra next;"
    assert answers(rounds) == [1, 1, 0, 0]


def test_one_response_has_one_value() -> None:
    assert answers(READ.format(1) + ASK.format(1, 1) + ASK.format(2, 1)) == [1, 1]


def test_a_refusal_ends_a_loop_without_a_guess() -> None:
    loop = f"next: {READ.format(1)} {ASK.format(1, 1)} @%p1 bra next;"
    (group,) = explorer_of(module_of(START + loop)).explorations[0].groups
    assert (group.end_reason, group.first_guess) == ("exit", None)


def test_a_request_may_be_for_all_ctas_of_the_cluster() -> None:
    pair = ".reqntid 32\n.reqnctapercluster 2, 1, 1"
    for spelling, ctas, multicast in (("", None, None), (".multicast::cluster::all", 0b11, ALL)):
        module = module_of(START + REQUEST.format(spelling), bounds=pair)
        (complete,) = walk(module).events(MbarrierComplete)
        assert isinstance(complete.effect, MbarrierComplete)
        assert (complete.ctas, complete.effect.multicast) == (ctas, multicast)
