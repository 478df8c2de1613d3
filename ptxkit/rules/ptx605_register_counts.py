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

from ptxkit.analysis.collectives import WARP, WARPGROUP, Uneven, compared
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.program import Step
from ptxkit.analysis.register_counts import (
    STEP,
    Setting,
    most_at_start,
    sets_registers,
    settings_of,
    synchronises_between,
)
from ptxkit.analysis.register_pool import Pool
from ptxkit.analysis.thread import Thread
from ptxkit.diagnostics import Severity
from ptxkit.isa.effects import Effect, RegisterCount
from ptxkit.rules.finding import Change, Finding, Mend, Observation, Rule, other_constant

_STRICT = "strict"

_MEETING = f"bar.sync 1, {WARPGROUP};"
"""Where the threads of a warpgroup meet."""


def check(kernel: Kernel) -> Iterator[Observation]:
    """Looks at what each thread sets, and at each warp and warpgroup."""
    if not sets_registers(kernel.program):
        return
    for number, world in enumerate(kernel.worlds):
        yield from _in_warps(number, world)
        yield from _in_warpgroups(number, world, kernel.policy == _STRICT)
        yield from _in_turn(number, world, kernel.policy == _STRICT)
        if kernel.policy == _STRICT and most_at_start(kernel.program, world.scenario.launch.threads) is None:
            for setting in (s for thread in world.threads.values() for s in settings_of(thread)):
                yield Observation((setting.event.step, None), number, True, _undeclared(setting.event.step))


def _is_setting(effect: Effect) -> bool:
    return isinstance(effect, RegisterCount)


def _in_warps(number: int, world: World) -> Iterator[Observation]:
    """The lanes of a warp execute the same one together."""
    for step, uneven in compared(world, _is_setting, WARP):
        exact = uneven is None or (uneven.more.trace.is_sure() and uneven.less.trace.is_sure())
        yield Observation((step, None), number, exact, None if uneven is None else _parted(uneven), 2)


def _in_warpgroups(number: int, world: World, strict: bool) -> Iterator[Observation]:
    """The warps of a warpgroup set the same; roles of single warps may each have an instruction of their own."""
    teams: dict[int, list[Thread]] = {}
    for thread in world.threads.values():
        if thread.trace.ended == "exit" and not thread.trace.opaque:
            teams.setdefault(thread.tid // WARPGROUP, []).append(thread)
    for team in teams.values():
        told = [(thread, settings_of(thread)) for thread in team]
        some = next(((thread, settings) for thread, settings in told if settings), None)
        if some is None:
            continue
        step = some[1][0].event.step
        other = next((thread for thread, settings in told if not settings), None)
        finding = None if other is None else _missed(step, some[0], other)
        if finding is None and strict and len({tuple(s.count for s in settings) for _, settings in told}) > 1:
            finding = _different(step)
        exact = all(thread.trace.is_sure() for thread, _ in told)
        yield Observation((step, step), number, exact, finding, 2)


def _in_turn(number: int, world: World, strict: bool) -> Iterator[Observation]:
    """What a thread sets, one after the other, fits what it has, and what the CTA has."""
    start = most_at_start(world.program, world.scenario.launch.threads)
    pool = Pool(world, start) if start is not None and world.is_whole and world.scenario.launch.is_limit else None
    for thread in world.threads.values():
        for setting in settings_of(thread):
            step, before = setting.event.step, setting.before
            exact = thread.trace.is_sure(setting.position)
            finding = _backwards(setting, start)
            if before is not None and not synchronises_between(thread, before.position, setting.position):
                # To set again what is set moves nothing: compilers do that where a loop begins.
                again = before.count == setting.count
                finding = finding or (None if again and not strict else _at_once(setting, before))
            if pool is not None and finding is None and setting.increases:
                most = pool.most_for(thread, setting.position, setting.count)
                finding = None if most is None else _too_much(setting, most, pool)
            other = before.event.step if before is not None else None
            yield Observation((step, other), number, exact, finding)


def _backwards(setting: Setting, start: int | None) -> Finding | None:
    """A decrease to more than there are, or an increase to fewer."""
    has = start if setting.before is None else setting.before.count
    if has is None or (setting.increases and setting.before is None):
        return None
    if setting.count == has or setting.increases == (setting.count > has):
        return None
    most = "at most " if setting.before is None else ""
    suffix, other = (".inc", "`.dec`") if setting.increases else (".dec", "`.inc`")
    return Finding(
        primary=setting.event.step,
        message=f"`setmaxnreg{suffix}` to {setting.count} registers, and the thread has {most}{has}",
        labels=_before(setting),
        help=f"use {other}, or another number",
        properties={"registers": has, "wanted": setting.count},
    )


def _before(setting: Setting) -> tuple[tuple[Step, str], ...]:
    return () if setting.before is None else ((setting.before.event.step, f"sets {setting.before.count} registers"),)


def _at_once(setting: Setting, before: Setting) -> Finding:
    return Finding(
        primary=setting.event.step,
        message="a `setmaxnreg` after that of line {1}, and the warpgroup has not synchronised in between",
        labels=_before(setting),
        help="add a `bar.sync` of the warpgroup's 128 threads, with a number of its own, before line {0}",
        severity=Severity.WARNING if before.count == setting.count else Severity.ERROR,
        cause=before.event.step,
        mends=(Mend(f"add `{_MEETING}`", (Change(setting.event.step, _MEETING),), safe=False),),
    )


def _too_much(setting: Setting, most: int, pool: Pool) -> Finding:
    fitting = most // STEP * STEP
    changes = other_constant(setting.event.step, setting.count, fitting)
    return Finding(
        primary=setting.event.step,
        message=f"waits for ever: threads start with {pool.start} registers at most, and what others give away is not "
        f"enough for all that ask for more; {setting.count} are asked for here",
        help=f"ask for {fitting} registers at most, or let other warpgroups have fewer",
        properties={"start": pool.start, "most": most},
        mends=(Mend(f"ask for {fitting} registers", changes, safe=False),) if changes else (),
    )


def _parted(uneven: Uneven) -> Finding:
    return Finding(
        primary=uneven.step,
        message=f"all lanes of a warp must execute this together: thread {uneven.more.tid} does, and thread "
        f"{uneven.less.tid} does not, or not as often",
        help="branch on what is the same for all 128 threads of the warpgroup",
        properties={"executes": uneven.more.tid, "misses": uneven.less.tid},
    )


def _missed(step: Step, more: Thread, less: Thread) -> Finding:
    return Finding(
        primary=step,
        message=f"all warps of a warpgroup must execute `setmaxnreg`: thread {more.tid} does, {less.tid} does not",
        help="branch on what is the same for all 128 threads of the warpgroup",
        properties={"executes": more.tid, "misses": less.tid},
    )


def _different(step: Step) -> Finding:
    return Finding(
        primary=step,
        message="the warps of a warpgroup set different numbers of registers, and should execute the same `setmaxnreg`",
        help="let all four warps of the warpgroup set the same number",
        severity=Severity.WARNING,
    )


def _undeclared(step: Step) -> Finding:
    return Finding(
        primary=step,
        message="no directive says how many registers a thread starts with, so that this may do nothing",
        help="give the kernel `.maxnreg`, or `.minnctapersm 1` beside `.maxntid` or `.reqntid`",
        severity=Severity.WARNING,
        cause="undeclared",
    )


RULE = Rule("PTX605", "register-counts", ("setmaxnreg", "Performance-Tuning Directives"), check)
