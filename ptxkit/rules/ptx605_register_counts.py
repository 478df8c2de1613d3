"""PTX605: `setmaxnreg` that parts a warpgroup, goes the wrong way, follows another at once, or asks for too much.

What it does
    Finds a `setmaxnreg` that some warps of a warpgroup execute and others never do, or some lanes of a warp only; a
    second one with no synchronisation of the warpgroup after the first; a `.dec` to more registers than the thread can
    have, an `.inc` to fewer than it has; and an `.inc` that never gets what it asks for, as the other warps of the CTA
    do not give away enough. The policy `strict` also warns where the warps of a warpgroup set different numbers, and
    where no directive says how many registers the kernel starts with, as the instruction may then do nothing.

Why it matters
    Registers are moved between warpgroups, and none come in. An `.inc` blocks until enough of them are free: where the
    numbers of the roles together are more than the CTA has, the kernel hangs. In the other cases the behaviour is
    undefined.

Example
    .reqntid 384, 1, 1
    @%p1 setmaxnreg.dec.sync.aligned.u32 40;            // %p1: of the first warp

    // and the other three warps of the group go on

Use instead
    @%p2 setmaxnreg.dec.sync.aligned.u32 40;            // %p2: of the first four warps

ISA section
    "setmaxnreg", "Performance-Tuning Directives". Catalogue: BR9.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.collective_participation import WARP, WARPGROUP, UnevenExecution, compare_executions
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
from ptxkit.diagnostics import Severity
from ptxkit.isa.effects import Effect, RegisterCount
from ptxkit.rules.model import Finding, FixCandidate, Observation, Rule, StepEdit, replace_constant

_STRICT = "strict"

_WARPGROUP_BARRIER = f"bar.sync 1, {WARPGROUP};"
"""Where the threads of a warpgroup meet."""


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Looks at what each thread sets, and at each warp and warpgroup."""
    if not has_setmaxnreg(kernel.program):
        return
    for number, world in enumerate(kernel.scenarios):
        yield from _check_warps(number, world)
        yield from _check_warpgroups(number, world, kernel.policy == _STRICT)
        yield from _check_sequence(number, world, kernel.policy == _STRICT)
        if kernel.policy == _STRICT and max_initial_registers(kernel.program, world.scenario.launch.threads) is None:
            for setting in (s for thread in world.threads.values() for s in setmaxnreg_executions_of(thread)):
                yield Observation((setting.event.step, None), number, True, _unknown_initial_count(setting.event.step))


def _is_setmaxnreg(effect: Effect) -> bool:
    return isinstance(effect, RegisterCount)


def _check_warps(number: int, world: ScenarioFacts) -> Iterator[Observation]:
    """The lanes of a warp execute the same one together."""
    for step, uneven in compare_executions(world, _is_setmaxnreg, WARP):
        exact = uneven is None or (uneven.most_frequent.trace.is_certain() and uneven.least_frequent.trace.is_certain())
        yield Observation((step, None), number, exact, None if uneven is None else _partial_warp(uneven), 2)


def _check_warpgroups(number: int, world: ScenarioFacts, strict: bool) -> Iterator[Observation]:
    """The warps of a warpgroup set the same; roles of single warps may each have an instruction of their own."""
    teams: dict[int, list[ThreadView]] = {}
    for thread in world.threads.values():
        if thread.trace.end_reason == "exit" and not thread.trace.has_unknown_call:
            teams.setdefault(thread.tid // WARPGROUP, []).append(thread)
    for team in teams.values():
        told = [(thread, setmaxnreg_executions_of(thread)) for thread in team]
        some = next(((thread, settings) for thread, settings in told if settings), None)
        if some is None:
            continue
        step = some[1][0].event.step
        other = next((thread for thread, settings in told if not settings), None)
        finding = None if other is None else _partial_warpgroup(step, some[0], other)
        if finding is None and strict and len({tuple(s.count for s in settings) for _, settings in told}) > 1:
            finding = _different_counts(step)
        exact = all(thread.trace.is_certain() for thread, _ in told)
        yield Observation((step, step), number, exact, finding, 2)


def _check_sequence(number: int, world: ScenarioFacts, strict: bool) -> Iterator[Observation]:
    """What a thread sets, one after the other, fits what it has, and what the CTA has."""
    start = max_initial_registers(world.program, world.scenario.launch.threads)
    pool = (
        RegisterPool(world, start)
        if start is not None and world.is_complete and world.scenario.launch.is_limit
        else None
    )
    for thread in world.threads.values():
        for setting in setmaxnreg_executions_of(thread):
            step, before = setting.event.step, setting.previous
            exact = thread.trace.is_certain(setting.position)
            finding = _wrong_direction(setting, start)
            if before is not None and not may_synchronize_between(thread, before.position, setting.position):
                # To set again what is set moves nothing: compilers do that where a loop begins.
                again = before.count == setting.count
                finding = finding or (None if again and not strict else _missing_sync(setting, before))
            if pool is not None and finding is None and setting.is_increase:
                most = pool.max_available(thread, setting.position, setting.count)
                finding = None if most is None else _pool_exhausted(setting, most, pool)
            other = before.event.step if before is not None else None
            yield Observation((step, other), number, exact, finding)


def _wrong_direction(setting: SetmaxnregExecution, start: int | None) -> Finding | None:
    """A decrease to more than there are, or an increase to fewer."""
    has = start if setting.previous is None else setting.previous.count
    if has is None or (setting.is_increase and setting.previous is None):
        return None
    if setting.count == has or setting.is_increase == (setting.count > has):
        return None
    most = "at most " if setting.previous is None else ""
    suffix, other = (".inc", "`.dec`") if setting.is_increase else (".dec", "`.inc`")
    return Finding(
        primary=setting.event.step,
        message=f"`setmaxnreg{suffix}` to {setting.count} registers, and the thread has {most}{has}",
        labels=_previous_label(setting),
        help=f"use {other}, or another number",
        properties={"registers": has, "wanted": setting.count},
    )


def _previous_label(setting: SetmaxnregExecution) -> tuple[tuple[Step, str], ...]:
    return (
        () if setting.previous is None else ((setting.previous.event.step, f"sets {setting.previous.count} registers"),)
    )


def _missing_sync(setting: SetmaxnregExecution, before: SetmaxnregExecution) -> Finding:
    return Finding(
        primary=setting.event.step,
        message="a `setmaxnreg` after that of line {1}, and the warpgroup has not synchronised in between",
        labels=_previous_label(setting),
        help="add a `bar.sync` of the warpgroup's 128 threads, with a number of its own, before line {0}",
        severity=Severity.WARNING if before.count == setting.count else Severity.ERROR,
        group_key=before.event.step,
        fixes=(
            FixCandidate(
                f"add `{_WARPGROUP_BARRIER}`", (StepEdit(setting.event.step, _WARPGROUP_BARRIER),), safe=False
            ),
        ),
    )


def _pool_exhausted(setting: SetmaxnregExecution, most: int, pool: RegisterPool) -> Finding:
    fitting = most // REGISTER_STEP * REGISTER_STEP
    changes = replace_constant(setting.event.step, setting.count, fitting)
    return Finding(
        primary=setting.event.step,
        message=(
            f"waits for ever: threads start with {pool.initial_count} registers at most, and what others give "
            f"away is not enough for all that ask for more; {setting.count} are asked for here"
        ),
        help=f"ask for {fitting} registers at most, or let other warpgroups have fewer",
        properties={"start": pool.initial_count, "most": most},
        fixes=(FixCandidate(f"ask for {fitting} registers", changes, safe=False),) if changes else (),
    )


def _partial_warp(uneven: UnevenExecution) -> Finding:
    return Finding(
        primary=uneven.step,
        message=f"all lanes of a warp must execute this together: thread {uneven.most_frequent.tid} does, and thread "
        f"{uneven.least_frequent.tid} does not, or not as often",
        help="branch on what is the same for all 128 threads of the warpgroup",
        properties={"executes": uneven.most_frequent.tid, "misses": uneven.least_frequent.tid},
    )


def _partial_warpgroup(step: Step, more: ThreadView, less: ThreadView) -> Finding:
    return Finding(
        primary=step,
        message=f"all warps of a warpgroup must execute `setmaxnreg`: thread {more.tid} does, {less.tid} does not",
        help="branch on what is the same for all 128 threads of the warpgroup",
        properties={"executes": more.tid, "misses": less.tid},
    )


def _different_counts(step: Step) -> Finding:
    return Finding(
        primary=step,
        message="the warps of a warpgroup set different numbers of registers, and should execute the same `setmaxnreg`",
        help="let all four warps of the warpgroup set the same number",
        severity=Severity.WARNING,
    )


def _unknown_initial_count(step: Step) -> Finding:
    return Finding(
        primary=step,
        message="no directive says how many registers a thread starts with, so that this may do nothing",
        help="give the kernel `.maxnreg`, or `.minnctapersm 1` beside `.maxntid` or `.reqntid`",
        severity=Severity.WARNING,
        group_key="undeclared",
    )


RULE = Rule("PTX605", "register-counts", ("setmaxnreg", "Performance-Tuning Directives"), check)
