"""Waits whose arrivals the analysis does not see are open: of unknown CTAs, or in code that it does not reach."""

from __future__ import annotations

from ptxkit.diagnostics import Severity, Verdict
from ptxkit.linter import lint

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n)
.reqntid 64, 1, 1
{cluster}
{{
	.shared .align 8 .b64 bar;
	.shared .align 8 .b64 other;
	.reg .pred %p, %first, %done;
	.reg .b32 %t, %n, %m, %bar, %there;
	ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
	setp.eq.u32 %first, %t, 0;
	@%first mbarrier.init.shared::cta.b64 [bar], {count};
	@%first mbarrier.init.shared::cta.b64 [other], 1;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	mov.u32 %bar, bar;
	mapa.shared::cluster.u32 %there, %bar, 0;
	{arrive}
	mul.lo.u32 %m, %n, %n;
	setp.ne.u32 %p, %m, 3;
	@%p bra wait;
	mbarrier.arrive.shared::cta.b64 _, [other];
wait:
	mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0;
	@!%done bra wait;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	ret;
}}
"""
ARRIVE = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%there];"


def verdict(cluster: str, arrive: str = ARRIVE, count: int = 64) -> Verdict:
    return lint(KERNEL.format(cluster=cluster, arrive=arrive, count=count))


def open_questions(found: Verdict, reason: str) -> list[str]:
    lines = [each.source.position(each.span.start)[0] for each in found.undecided if reason in each.reason]
    return [found.undecided[0].source.text.splitlines()[line - 1].split()[0] for line in lines]


def findings(found: Verdict) -> list[tuple[str, Severity]]:
    return [(str(each.code), each.severity) for each in found.diagnostics]


def test_phases_of_a_cluster_of_unknown_size_are_open() -> None:
    questions = open_questions(verdict(""), "cluster size unknown")
    assert "mbarrier.try_wait.parity.shared::cta.b64" in questions
    assert any(each.startswith("mbarrier.arrive") for each in questions)


def test_a_wait_at_which_all_threads_stay_is_reported_although_unreached_code_has_an_arrival() -> None:
    assert findings(verdict("", "")) == [("PTX503", Severity.WARNING)]
    assert findings(verdict(".reqnctapercluster 1, 1, 1", "")) == [("PTX503", Severity.ERROR)]


def test_the_size_of_the_cluster_answers_the_question() -> None:
    assert not open_questions(verdict(".reqnctapercluster 1, 1, 1"), "cluster size unknown")
