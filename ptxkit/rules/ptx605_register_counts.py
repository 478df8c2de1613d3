"""PTX605: a `setmaxnreg` diverges within a warpgroup, changes the count in the wrong direction, follows another one
without synchronization, or requests too many registers.

What it does
    Finds a `setmaxnreg` that only some warps of a warpgroup, or only some lanes of a warp, execute; a second one
    without a synchronization of the warpgroup after the first one; a `.dec` to more registers than the thread can have,
    and an `.inc` to fewer than it has; and an `.inc` that never gets its registers, because the other warps of the CTA
    do not release enough. `--policy strict` also warns if the warps of a warpgroup set different numbers, and if no
    directive determines the initial number of registers, because the instruction may then have no effect.

Why it matters
    The register pool of a CTA is fixed: registers only move between warpgroups. An `.inc` blocks until enough registers
    are free: if the sum over all roles exceeds the pool, the kernel hangs. In the other cases the behavior is
    undefined.

Example
    .reqntid 384, 1, 1
    @%p1 setmaxnreg.dec.sync.aligned.u32 40;            // %p1: of the first warp

    // and the other three warps of the group continue

Use instead
    @%p2 setmaxnreg.dec.sync.aligned.u32 40;            // %p2: of the first four warps

ISA section
    "setmaxnreg", "Performance-Tuning Directives". Catalogue: BR9.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.collective_participation import WARPGROUP
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.registers.register_pool import RegisterPool
from ptxkit.analysis.registers.setmaxnreg_counts import (
    REGISTER_STEP,
    SetmaxnregExecution,
    has_setmaxnreg,
    max_initial_registers,
    may_synchronize_between,
    setmaxnreg_executions_of,
)
from ptxkit.diagnostics import Message, Severity
from ptxkit.diagnostics.catalogue import fix_titles, ptx6xx
from ptxkit.isa.effects import Effect, RegisterCount
from ptxkit.rules.model import Finding, FixCandidate, Observation, Rule, StepEdit, add_statement, replace_constant
from ptxkit.rules.obligation_sites import is_a, sites_of
from ptxkit.rules.warp_participation import check_whole_warps

_STRICT = "strict"

_WARPGROUP_BARRIER = f"bar.sync 1, {WARPGROUP};"
"""The barrier of the threads of a warpgroup."""


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks the counts of each thread, and those of each warp and warpgroup."""
    if not has_setmaxnreg(kernel.program):
        return
    for number, facts in enumerate(kernel.scenarios):
        yield from check_whole_warps(number, facts, _is_setmaxnreg, ptx6xx.BRANCH_UNIFORMLY())
        yield from _check_warpgroups(number, facts, kernel.policy == _STRICT)
        yield from _check_sequence(number, facts, kernel.policy == _STRICT)
        if kernel.policy == _STRICT and max_initial_registers(kernel.program, facts.scenario.launch.threads) is None:
            for setting in (s for thread in facts.threads.values() for s in setmaxnreg_executions_of(thread)):
                yield Observation((setting.event.step, None), number, True, _unknown_initial_count(setting.event.step))


def _is_setmaxnreg(effect: Effect) -> bool:
    return isinstance(effect, RegisterCount)


def _check_warpgroups(number: int, facts: ScenarioFacts, strict: bool) -> Iterator[Observation]:
    """Checks that the warps of a warpgroup set the same count. Roles of single warps may have separate instructions."""
    teams: dict[int, list[ThreadView]] = {}
    for thread in facts.threads.values():
        if thread.trace.end_reason == "exit" and not thread.trace.has_unknown_call:
            teams.setdefault(thread.tid // WARPGROUP, []).append(thread)
    for team in teams.values():
        executions = [(thread, setmaxnreg_executions_of(thread)) for thread in team]
        some = next(((thread, settings) for thread, settings in executions if settings), None)
        if some is None:
            continue
        step = some[1][0].event.step
        other = next((thread for thread, settings in executions if not settings), None)
        finding = None if other is None else _partial_warpgroup(step, some[0], other)
        if finding is None and strict and len({tuple(s.count for s in settings) for _, settings in executions}) > 1:
            finding = _different_counts(step)
        exact = all(thread.trace.is_certain() for thread, _ in executions)
        yield Observation((step, step), number, exact, finding)


def _check_sequence(number: int, facts: ScenarioFacts, strict: bool) -> Iterator[Observation]:
    """Checks that each count of a thread fits the previous one, and the registers of the CTA."""
    start = max_initial_registers(facts.program, facts.scenario.launch.threads)
    is_known = start is not None and facts.is_complete and facts.scenario.launch.is_limit
    pools = [RegisterPool(facts, start, trusts_guesses=each) for each in (False, True)] if start and is_known else []
    for thread in facts.threads.values():
        for setting in setmaxnreg_executions_of(thread):
            step, before = setting.event.step, setting.previous
            exact = thread.trace.is_certain(setting.position)
            finding = _wrong_direction(setting, start)
            if before is not None and not may_synchronize_between(thread, before.position, setting.position):
                # Setting the same count again has no effect: compilers do this at the beginning of a loop.
                again = before.count == setting.count
                finding = finding or (None if again and not strict else _missing_sync(setting, before))
            for pool in pools if setting.is_increase else ():
                most = pool.max_available(thread, setting.position, setting.count) if finding is None else None
                if most is not None:
                    finding, exact = _pool_exhausted(setting, most, pool), exact and not pool.trusts_guesses
            other = before.event.step if before is not None else None
            yield Observation((step, other), number, exact, finding)


def _wrong_direction(setting: SetmaxnregExecution, start: int | None) -> Finding | None:
    """Returns the finding about a decrease to a larger count, or an increase to a smaller one."""
    has = start if setting.previous is None else setting.previous.count
    if has is None or (setting.is_increase and setting.previous is None):
        return None
    if setting.count == has or setting.is_increase == (setting.count > has):
        return None
    most = ptx6xx.AT_MOST() if setting.previous is None else ""
    suffix, other = (".inc", "`.dec`") if setting.is_increase else (".dec", "`.inc`")
    return Finding(
        primary=setting.event.step,
        message=ptx6xx.SETMAXNREG_BACKWARDS(direction=suffix, count=setting.count, registers=most, has=has),
        labels=_previous_label(setting),
        help=ptx6xx.USE_OTHER_DIRECTION(other=other),
        properties={"registers": has, "wanted": setting.count},
    )


def _previous_label(setting: SetmaxnregExecution) -> tuple[tuple[Step, Message], ...]:
    return (
        ()
        if setting.previous is None
        else ((setting.previous.event.step, ptx6xx.SETS_REGISTERS(count=setting.previous.count)),)
    )


def _missing_sync(setting: SetmaxnregExecution, before: SetmaxnregExecution) -> Finding:
    return Finding(
        primary=setting.event.step,
        message=ptx6xx.SETMAXNREG_WITHOUT_SYNC(),
        labels=_previous_label(setting),
        help=ptx6xx.ADD_WARPGROUP_BARRIER(),
        severity=Severity.WARNING if before.count == setting.count else Severity.ERROR,
        group_key=before.event.step,
        fixes=(add_statement(StepEdit(setting.event.step, _WARPGROUP_BARRIER), safe=False),),
    )


def _pool_exhausted(setting: SetmaxnregExecution, most: int, pool: RegisterPool) -> Finding:
    fitting = most // REGISTER_STEP * REGISTER_STEP
    changes = replace_constant(setting.event.step, setting.count, fitting)
    return Finding(
        primary=setting.event.step,
        message=(ptx6xx.REGISTER_POOL_TOO_SMALL(initial=pool.initial_count, count=setting.count)),
        help=ptx6xx.ASK_FOR_FEWER_REGISTERS(fitting=fitting),
        properties={"start": pool.initial_count, "most": most},
        fixes=(FixCandidate(fix_titles.REQUEST_REGISTERS(registers=fitting), changes, safe=False),) if changes else (),
    )


def _partial_warpgroup(step: Step, more: ThreadView, less: ThreadView) -> Finding:
    return Finding(
        primary=step,
        message=ptx6xx.WARPS_OF_WARPGROUP_DIVERGE(thread=more.tid, other=less.tid),
        help=ptx6xx.BRANCH_UNIFORMLY(),
        properties={"executes": more.tid, "misses": less.tid},
    )


def _different_counts(step: Step) -> Finding:
    return Finding(
        primary=step,
        message=ptx6xx.WARPS_SET_DIFFERENT_COUNTS(),
        help=ptx6xx.SET_SAME_COUNT(),
        severity=Severity.WARNING,
    )


def _unknown_initial_count(step: Step) -> Finding:
    return Finding(
        primary=step,
        message=ptx6xx.INITIAL_REGISTERS_NOT_KNOWN(),
        help=ptx6xx.DECLARE_REGISTERS(),
        severity=Severity.WARNING,
        group_key="undeclared",
    )


RULE = Rule(ptx6xx.REGISTER_COUNTS, check, sites=sites_of(is_a(RegisterCount)))
