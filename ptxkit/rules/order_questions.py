"""Questions about the accesses to shared memory whose order nothing proves, and that no rule has reported.

In a kernel in which only barriers of all threads and waits for groups can order accesses, `IntervalProofs` proves each
order that exists, unless an address or a path is unknown to it. What it does not prove is an open question, so that no
wrong kernel of this kind is clean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptxkit.analysis.intervals.interval_accesses import StateAccess
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.phase_order.interval_proofs import IntervalProofs
from ptxkit.diagnostics.catalogue import ptx3xx, ptx4xx, ptx6xx
from ptxkit.diagnostics.order_codes import ORDER_CODES
from ptxkit.rules.model import OpenObligation, Rule
from ptxkit.rules.verdict_builder import VerdictBuilder


def has_order_question(builder: VerdictBuilder) -> bool:
    """Returns whether a question about an order is open at every launch.

    The kernel is not clean then, and what settles that question may settle others.
    """
    return any(item.code in ORDER_CODES and not item.conditions for item in builder.undecided)


def ask_about_pair(builder: VerdictBuilder, rule: Rule, step: Step, other: Step) -> None:
    """Adds the question of a rule about an access whose order with another one, or proxy fence, is not proven."""
    reason = ptx4xx.NO_FENCE_PROVEN() if rule.code == ptx4xx.MISSING_PROXY_FENCE else ptx6xx.NO_ORDER_PROVEN()
    builder.add_observations(rule, [OpenObligation(step, reason, others=(other,))])


def ask_unordered(builder: VerdictBuilder, intervals: IntervalProofs, rules: Mapping[str, Rule]) -> None:
    """Adds a question for each instruction that is not proven to be ordered with another one.

    rules: those that check the kernel, by code. Nothing is asked where a violation is reported, and no pair is
    asked about if there is a question at one of its instructions.
    """
    if builder.has_violation or ORDER_CODES.isdisjoint(rules) or not intervals.orders_alone:
        return
    reported = {item.span for item in builder.undecided}
    asked: set[Step] = set()
    for code, step, other in (*_unordered_pairs(intervals), *_unfenced_reads(intervals)):
        spans = {builder.span_of(step), builder.span_of(other)}
        if code in rules and step not in asked and reported.isdisjoint(spans):
            asked.add(step)
            ask_about_pair(builder, rules[code], step, other)


def _unordered_pairs(intervals: IntervalProofs) -> Iterator[tuple[str, Step, Step]]:
    """Yields the pairs without an order: the code that is about them, and the instruction at which it reports."""
    for pairs in list(intervals.all_pairs()):
        for first, second in sorted(pairs, key=lambda pair: (pair[0].step.index, pair[1].step.index)):
            if first.step.index >= second.step.index:
                yield str(_code_of(first, second)), first.step, second.step


def _code_of(access: StateAccess, other: StateAccess) -> object:
    copies = [each for each in (access, other) if each.group is not None]
    if not copies:
        return ptx6xx.SHARED_MEMORY_RACE
    if len(copies) == 2 and access.writes and other.writes:
        return ptx3xx.OVERLAPPING_COPIES
    return ptx3xx.SOURCE_REUSED_IN_FLIGHT if access.writes else ptx3xx.READ_BEFORE_WAIT


def _unfenced_reads(intervals: IntervalProofs) -> Iterator[tuple[str, Step, Step]]:
    for step, writes in intervals.all_unfenced():
        for write in sorted(writes, key=lambda each: each.index):
            yield str(ptx4xx.MISSING_PROXY_FENCE), step, write
