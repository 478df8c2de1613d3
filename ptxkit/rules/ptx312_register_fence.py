"""PTX312: no `wgmma.fence` separates an access to registers from the multiplication that uses them.

What it does
    Finds a `wgmma.mma_async` before which the warpgroup has executed no `wgmma.fence`, or none since another
    instruction read or wrote its accumulators or its fragment of A. Consecutive multiplications of one shape into the
    same accumulators need no fence between them. Plain moves do not count as accesses.

Why it matters
    The tensor core reads registers asynchronously. Without the fence it may read values from before the last write, or
    write a register that an earlier instruction still reads.

Example
    mov.b32 %r1, %r9;
    add.f32 %f1, %f1, %f5;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, 1, 0, 0;

Use instead
    add.f32 %f1, %f1, %f5;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, 1, 0, 0;

ISA section
    "wgmma.fence". Catalogue: WG1.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.registers.wgmma_events import WgmmaEvents
from ptxkit.analysis.registers.wgmma_fences import ReachingAccesses, WgmmaFences
from ptxkit.analysis.registers.wgmma_hazards import find_issues
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.isa.effects import AsyncRegisters, RegisterFence
from ptxkit.rules.limits import MAX_FENCE_LOOKBACK
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule, StepEdit, add_statement
from ptxkit.rules.obligation_sites import is_a, sites_of
from ptxkit.rules.register_hazards import prove_register_fence

_GROUP = "wgmma"
_FENCE = "wgmma.fence.sync.aligned;"


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks which fence or multiplication each thread executed last before each multiplication."""
    issues = {issue: function for function in kernel.program.functions for issue in find_issues(function, _GROUP)}
    if not issues:
        return
    events = WgmmaEvents(_GROUP)
    own = WgmmaFences(kernel.program.analysis(ControlFlowGraph), events)
    approaches: dict[Step, list[ReachingAccesses]] = {}
    for issue, function in issues.items():
        fences = own if function is kernel.program else WgmmaFences(function.analysis(ControlFlowGraph), events)
        approaches[issue] = list(fences.reaching_accesses(issue))
    for number, facts in enumerate(kernel.scenarios):
        for thread in facts.threads.values():
            if not thread.trace.has_unknown_call:
                yield from _check_thread(number, thread, own, approaches, kernel.program)


def _check_thread(
    number: int, thread: ThreadView, fences: WgmmaFences, approaches: dict[Step, list[ReachingAccesses]], own: Program
) -> Iterator[Observation | OpenObligation]:
    """Checks the multiplications of a thread. In a function, registers of a caller may have the same names."""
    history: list[Step] = []
    fence: Step | None = None
    seen: set[tuple[int, Step | None]] = set()
    for position, event in _fences_and_issues(thread):
        for approach in approaches.get(event.step, ()):
            before = next(
                (step for step in history[: -MAX_FENCE_LOOKBACK - 1 : -1] if fences.is_relevant(step, approach)), None
            )
            unknown = approach.is_unclear or (before is None and len(history) > MAX_FENCE_LOOKBACK)
            if (id(approach), before) in seen:
                continue
            seen.add((id(approach), before))
            if unknown:
                yield OpenObligation(event.step, ptx3xx.REGISTER_FENCE_NOT_KNOWN())
            else:
                finding = _check_issue(thread, approach, before, fence)
                is_own = own.contains(event.step) and (before is None or own.contains(before))
                is_exact = is_own and thread.trace.is_certain(position)
                yield Observation((event.step, before), number, is_exact, finding)
        if not history or history[-1] is not event.step:
            history.append(event.step)
            fence = event.step if event.step in fences else fence


def _fences_and_issues(thread: ThreadView) -> list[tuple[int, TraceEvent]]:
    """Returns the fences and multiplications of a thread in order, one event each."""
    found: dict[tuple[Step, int], tuple[int, TraceEvent]] = {}
    for position, event in thread.positions(AsyncRegisters, RegisterFence):
        if isinstance(event.effect, AsyncRegisters | RegisterFence) and event.effect.group == _GROUP:
            found.setdefault((event.step, event.visit), (position, event))
    return sorted(found.values(), key=lambda item: item[0])


def _check_issue(
    thread: ThreadView, approach: ReachingAccesses, before: Step | None, fence: Step | None
) -> Finding | None:
    """Returns the violation on the path from `before` to an issue.

    before: the last step with an effect on the order; None for the start of the kernel. fence: the last fence.
    """
    if before in approach.ordering_steps or (before is None and not approach.reaches_entry):
        return None
    touches = [step for step in approach.accesses if step in thread.trace.covered_steps]
    if before is not None and not touches:
        return None
    if not touches:
        return Finding(
            primary=approach.issue,
            message=ptx3xx.NO_FENCE_BEFORE_MULTIPLICATION(),
            help=ptx3xx.ADD_FENCE_AFTER_LAST_ACCESS(),
            group_key=("fence", fence),
            fixes=(_fence_fix(approach),),
        )
    register = approach.accesses[touches[0]]
    return Finding(
        primary=approach.issue,
        message=ptx3xx.NO_FENCE_AFTER_ACCESS(),
        labels=((touches[0], ptx3xx.ACCESS_TO_REGISTER()),),
        help=ptx3xx.ADD_FENCE_AFTER_THIS_ACCESS(),
        properties={"register": register},
        group_key=("fence", fence),
        fixes=(_fence_fix(approach),),
    )


def _fence_fix(approach: ReachingAccesses) -> FixCandidate:
    return add_statement(StepEdit(approach.issue, _FENCE))


RULE = Rule(
    ptx3xx.MISSING_REGISTER_FENCE,
    check,
    asynchronous=True,
    sites=sites_of(is_a(AsyncRegisters, group=_GROUP)),
    prove=prove_register_fence,
    needs_proof=True,
    unproven=ptx3xx.PATH_WITHOUT_REGISTER_FENCE(),
)
