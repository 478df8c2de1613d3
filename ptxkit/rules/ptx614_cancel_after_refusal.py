"""PTX614: a cluster launch cancellation is requested after an earlier request failed, or the response of a failed
request is decoded.

What it does
    Finds a `clusterlaunchcontrol.try_cancel` after a `query_cancel.is_canceled` of the same thread that reported the
    failure of an earlier request, and a `query_cancel.get_first_ctaid` of a response that may indicate failure and that
    the thread has not tested. Under `--policy strict`, it warns if the thread has tested the response but decodes a
    failed one nevertheless: the manual calls this undefined, although CUTLASS does it and ignores the result.

Why it matters
    A request fails if no cluster is left to start. Another request after the CTA has observed the failure is undefined
    behavior, and so is `get_first_ctaid` of a failed request: the kernel may process tiles that do not exist.

Example
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %rq1;
    @%p1 bra WORK;
    bra NEXT;                       // requests again

Use instead
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %rq1;
    @%p1 bra WORK;
    ret;

ISA section
    "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel". Catalogue: CL7.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.isa.effects import Cancellation
from ptxkit.rules.model import Finding, Observation, Rule
from ptxkit.rules.obligation_sites import is_a, sites_of


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks the requests and queries of each thread in order."""
    for number, facts in enumerate(kernel.scenarios):
        pair_budget = PairBudget(facts.budget)
        for thread in facts.threads.values():
            for position, step, other, finding in _check_thread(thread, kernel.policy == "strict"):
                if pair_budget.allow((thread.tid, step, other, finding is None)):
                    yield Observation((step, other), number, thread.trace.is_certain(position), finding)


def _check_thread(thread: ThreadView, is_strict: bool) -> Iterator[tuple[int, Step, Step | None, Finding | None]]:
    """Yields (position, instruction, previous query, finding) for a thread's requests and decodings."""
    asked: Step | None = None
    refused: Step | None = None
    is_answer_tested = False  # whether the thread's last query was for its last request
    for position, event in thread.positions(Cancellation):
        effect = event.effect
        assert isinstance(effect, Cancellation)
        match effect.action:
            case "query":
                asked, is_answer_tested = event.step, True
                refused = asked if event.amount == 0 else None
            case "request":
                is_answer_tested = False
                if asked is not None:
                    yield (
                        position,
                        event.step,
                        asked,
                        _request_after_refusal(event.step, asked) if refused is not None else None,
                    )
            case "decode":
                is_wrong = event.amount == 0 and (is_strict or not is_answer_tested)
                yield (
                    position,
                    event.step,
                    asked,
                    _decode_of_refusal(event.step, asked if is_answer_tested else None) if is_wrong else None,
                )


def _request_after_refusal(request: Step, query: Step) -> Finding:
    return Finding(
        primary=request,
        message=ptx6xx.REQUEST_MAY_FOLLOW_REFUSAL(),
        labels=((query, ptx6xx.TESTS_WHETHER_GRANTED_BEFORE()),),
        help=ptx6xx.LEAVE_LOOP_AFTER_REFUSAL(),
        group_key=query,
    )


def _decode_of_refusal(decode: Step, query: Step | None) -> Finding:
    """Returns the finding about the decoding of a refused request.

    query: the query that reported the refusal to the thread; None if it has not queried.
    """
    labels = () if query is None else ((query, ptx6xx.TESTS_WHETHER_GRANTED()),)
    where = ptx6xx.PREDICATE_OF_LINE() if labels else ptx6xx.PREDICATE_OF_QUERY()
    return Finding(
        primary=decode,
        message=ptx6xx.RESPONSE_MAY_BE_REFUSAL(),
        labels=labels,
        help=ptx6xx.EXECUTE_IF_GRANTED(predicate=where),
        severity=Severity.WARNING if query is not None else Severity.ERROR,
    )


RULE = Rule(ptx6xx.CANCEL_AFTER_FAILURE, check, sites=sites_of(is_a(Cancellation)))
