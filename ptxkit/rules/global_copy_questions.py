"""Questions about asynchronous accesses to global memory whose order with other accesses of the kernel nothing proves.

A kernel that copies from a buffer which it also writes, or the reverse, needs an order of the two, and a proxy fence
after a generic write. Such an order is shown to be missing where an execution shows it (PTX302, PTX621); nothing proves
that it exists, also between CTAs, so that it is a question. Two buffers are one if both addresses are derived from the
same argument or variable, and apart if the bytes that they may use are.

Source: PTX ISA, "Async Proxy", "Conflict and Data-races", "Causality Order".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.intervals.accessed_bytes import largest_size
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.copy_completion import CopyStatus
from ptxkit.analysis.memory.global_copy_reads import find_global_copy_reads
from ptxkit.diagnostics.catalogue import ptx3xx, ptx4xx, ptx6xx
from ptxkit.isa.effects import Access
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import Rule
from ptxkit.rules.obligation_judge import ObligationJudge
from ptxkit.rules.order_questions import ask_about_pair, has_order_question
from ptxkit.rules.verdict_builder import VerdictBuilder


def ask_global_copies(
    builder: VerdictBuilder, judge: ObligationJudge, kernel: KernelFacts, rules: Mapping[str, Rule]
) -> None:
    """Adds a question for each asynchronous access that may conflict with another access to global memory.

    rules: those that check the kernel, by code. Nothing is added where a violation is reported, or another
    question about an order is open, nor about a read that follows the end of the copy in each execution.
    """
    if builder.has_violation or has_order_question(builder):
        return
    conflicts = list(_conflicts(judge.proofs[0]))
    statuses: dict[tuple[Step, Step], set[CopyStatus]] = defaultdict(set)
    if any(code == ptx3xx.READ_BEFORE_WAIT for code, _, _ in conflicts):
        for _, _, found in find_global_copy_reads(kernel):
            statuses[found.event.step, found.copy.event.step].add(found.status)
    asked: set[Step] = set()
    for code, step, other in conflicts:
        if code in rules and step not in asked and statuses[step, other] != {CopyStatus.COMPLETE}:
            asked.add(step)
            ask_about_pair(builder, rules[code], step, other)


def _conflicts(proofs: FunctionProofs) -> Iterator[tuple[str, Step, Step]]:
    """Yields the code of the rule that a pair of accesses is about, the step at which it reports, and the other one."""
    accesses = [
        (step, effect)
        for step in proofs.program.own_effectful_steps
        for effect in step.effects
        if isinstance(effect, Access)
        and effect.space in ("global", "generic")
        and effect.via == "address"
        and effect.proxy != "tensormap"  # PTX403 is about tensor maps
    ]
    for step, access in accesses:
        for other_step, other in accesses if access.completion is not None else ():
            is_once = step is not other_step and (other.completion is None or step.index < other_step.index)
            kinds = {access.kind, other.kind}
            may_conflict = "write" in kinds or len(kinds) > 1
            if not (is_once and may_conflict and _may_overlap(proofs.values, step, access, other_step, other)):
                continue
            first, last = sorted((step, other_step), key=lambda each: each.index)
            if kinds != {"read", "write"} or "async" not in (access.proxy, other.proxy):
                yield str(ptx6xx.SHARED_MEMORY_RACE), last, first
            elif other.kind == "read":
                yield str(ptx3xx.READ_BEFORE_WAIT), other_step, step
            elif other.completion is None:
                yield str(ptx4xx.MISSING_PROXY_FENCE), step, other_step
            else:
                yield str(ptx3xx.READ_BEFORE_WAIT), step, other_step


def _may_overlap(values: AbstractRegisters, step: Step, access: Access, other_step: Step, other: Access) -> bool:
    """Returns whether two accesses are of one argument or variable, and perhaps of the same bytes of it."""
    return any(
        base == other_base and (high is None or other_low < high) and (other_high is None or low < other_high)
        for base, low, high in _places(values, step, access)
        for other_base, other_low, other_high in _places(values, other_step, other)
    )


def _places(values: AbstractRegisters, step: Step, access: Access) -> Iterator[tuple[object, int, int | None]]:
    """Yields (base, first byte, end) of what an access may use; the end is None where it is unknown."""
    size, operand = largest_size(values, step, access.size), step.operand(access.address)
    for each in values.value_at(step, operand) if operand is not None else ():
        if each.base is not None and each.base.space in ("", "global") and each.base.kind != "converted":
            low, high = each.known_offsets
            yield each.base, low, None if size is None else high + size
