"""PTX502: an mbarrier is initialized twice.

What it does
    Finds an `mbarrier.init` of an object that is already valid: several threads execute it, or one thread executes it
    again without an `mbarrier.inval` between.

Why it matters
    Initializing a valid mbarrier is undefined behavior. A late second initialization discards arrivals that were
    already counted. If the lanes of one warp execute it in one instruction, current GPUs write it once; then the
    finding is a warning. A block whose size is not declared may be one warp.

Example
    mbarrier.init.shared::cta.b64 [bar], 1;       // by every thread

Use instead
    setp.eq.u32 %p1, %tid_x, 0;
    @%p1 mbarrier.init.shared::cta.b64 [bar], 1;

ISA section
    "mbarrier.init", "Lifecycle of the mbarrier object". Catalogue: MB2, MB4.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.mbarrier_objects import find_initializations, is_ambiguous, mbarrier_of
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx5xx
from ptxkit.isa.effects import MbarrierInit, MbarrierInvalidate
from ptxkit.rules.mbarrier_proofs import prove_initialized_once
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import is_a, sites_of
from ptxkit.syntax.constants import WARP_SIZE


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks every initialized mbarrier."""
    for number, facts in enumerate(kernel.scenarios):
        if not is_ambiguous(facts):
            yield from _check_scenario(number, facts)


def _check_scenario(number: int, facts: ScenarioFacts) -> Iterator[Observation | OpenObligation]:
    ended: dict[int | None, list[tuple[ThreadView, int]]] = defaultdict(list)
    for thread in facts.threads.values():
        for position, event in thread.positions(MbarrierInvalidate):
            ended[mbarrier_of(event)].append((thread, position))
    for address, makers in find_initializations(facts.threads.values()).items():
        (thread, made, first), *others = makers
        twice = [other for other in others if not _may_end_between(facts, ended[address], (thread, made), other[:2])]
        again = [other for other in twice if _exist_in_any_block(facts, thread, other[0])]
        if twice and not again:
            yield OpenObligation(twice[0][2].step, ptx5xx.INITIALIZING_BLOCK_MAY_BE_ONE_WARP(), "block")
            continue
        finding = None
        if again:
            together = all(_is_simultaneous((thread, first), (other, event)) for other, _, event in again)
            finding = _finding(first.step, again[0][2].step, again[0][0] is not thread, together)
        key = (first.step, again[0][2].step if again else None)
        exact = all(maker.trace.is_certain(position) for maker, position, _ in (makers[0], *again[:1]))
        if exact and again and _may_invalidate(facts):
            exact = not facts.may_guess_between(thread, made, *again[0][:2])
        yield Observation(key, number, exact, finding)


def _exist_in_any_block(facts: ScenarioFacts, *threads: ThreadView) -> bool:
    """Returns whether a block of any size that the kernel may support has these threads, or they are one thread."""
    launch, numbers = facts.scenario.launch, {thread.tid for thread in threads}
    return launch.is_exact or launch.is_limit or len(numbers) == 1 or max(numbers) < WARP_SIZE


def _may_invalidate(facts: ScenarioFacts) -> bool:
    return any(
        isinstance(effect, MbarrierInvalidate) for step in facts.program.effectful_steps for effect in step.effects
    )


def _may_end_between(
    facts: ScenarioFacts,
    ends: list[tuple[ThreadView, int]],
    first: tuple[ThreadView, int],
    second: tuple[ThreadView, int],
) -> bool:
    """Returns whether the mbarrier was, or may have been, invalidated between two initializations."""
    return any(
        (thread is not first[0] or position > first[1])
        and (position < second[1] if thread is second[0] else facts.is_ordered(thread, position, *second))
        for thread, position in ends
    )


def _is_simultaneous(first: tuple[ThreadView, TraceEvent], second: tuple[ThreadView, TraceEvent]) -> bool:
    """Returns whether two threads of one warp execute one instruction together."""
    (thread, init), (other, again) = first, second
    in_one_warp = thread is not other and thread.tid // WARP_SIZE == other.tid // WARP_SIZE
    return in_one_warp and (init.step, init.visit) == (again.step, again.visit)


def _finding(first: Step, second: Step, threads_differ: bool, at_once: bool) -> Finding:
    if threads_differ:
        return Finding(
            primary=second,
            message=ptx5xx.SEVERAL_THREADS_INITIALIZE(),
            labels=((first, ptx5xx.INITIALIZED_HERE()),) if first is not second else (),
            help=ptx5xx.INITIALIZE_IN_ONE_THREAD_ONLY(),
            severity=Severity.WARNING if at_once else Severity.ERROR,
        )
    return Finding(
        primary=second,
        message=ptx5xx.LIVE_MBARRIER_REINITIALIZED(),
        labels=((first, ptx5xx.INITIALIZED_HERE()),) if first is not second else (),
        help=ptx5xx.INITIALIZE_ONCE(),
    )


RULE = Rule(
    ptx5xx.MBARRIER_DOUBLE_INIT,
    check,
    asynchronous=True,
    sites=sites_of(is_a(MbarrierInit)),
    prove=prove_initialized_once,
)
