"""PTX303: the shared memory of an asynchronous copy is reused, or given up, while the copy may still use it.

What it does
    Finds shared memory that a bulk store or reduction reads and that is written again, or that the CTA gives up by
    ending, where the issuing thread has not waited for the copy (`cp.async.bulk.wait_group`, `.read` suffices); and
    stores into the destination of a copy that is waited for only later.

Why it matters
    The bulk copy engine reads shared memory when it gets to it. What was written meanwhile is what it stores.

    Shared memory is there throughout the lifetime of its CTA, and then becomes another's; nothing in the manual says
    that a copy which nobody waits for prolongs it. Libraries that wait for the copies of earlier rounds often leave the
    last ones to the hardware, so of these only `--policy strict` warns.

Example
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 4096;
    @%p1 cp.async.bulk.commit_group;
    ret;

Use instead
    @%p1 cp.async.bulk.commit_group;
    @%p1 cp.async.bulk.wait_group.read 0;
    ret;

ISA section
    "Completion Mechanisms for Asynchronous Copy Operations", "cp.async.bulk.wait_group". Catalogue: BK7, BK8, BK12,
    PX5.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.context.collective_participation import WARP
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.access_ranges import access_range, is_async_write, is_generic_write
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.analysis.sync.warp_convergence import ConvergencePoints
from ptxkit.diagnostics import Severity
from ptxkit.isa.effects import Access, WaitGroup
from ptxkit.rules.barrier_help import barrier_fixes, find_barrier_between, format_barrier_help, release_label
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule, StepEdit

_WAIT = "cp.async.bulk.wait_group.read 0;"
_WAIT_HELP = {
    "the wait for it": "wait with `cp.async.bulk.wait_group.read` in the thread that issued the copy",
    "does not cover it": "lower the count of the wait at line {2}, or wait again in the thread that issued the copy",
    "comes before its group is committed": "commit the copy's group before the wait at line {2}",
}
"""What the first wait behind a copy is to it, and what to do then."""


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Looks at each bulk copy out of shared memory, each later write of its bytes, and the end of its thread."""
    vain, waits = _fruitless_waits(kernel), _LaterWaits(kernel)
    for number, world in enumerate(kernel.scenarios):
        if world.has_unknown_call:
            continue
        for issuer in world.threads.values():
            yield from _check_destinations(number, issuer)
            sources = _bulk_source_reads(issuer)
            if sources:
                lone = not any(
                    copy.source_free_position is not None or waits.may_follow(copy.event.step) for copy in sources
                )
                yield from _check_exit(number, issuer, sources, None if lone else vain, kernel.policy == "strict")
                for writer in world.threads.values():
                    yield from _check_overwrites(number, world, issuer, sources, writer)
    yield from _check_early_releases(kernel)


def _check_early_releases(kernel: KernelFacts) -> Iterator[Observation]:
    """Writes by threads that another one told of its copies before it had waited for them."""
    for number, conflict in kernel.races:
        world, write, read = kernel.scenarios[number], conflict.write, conflict.read
        launch = world.scenario.launch
        known = launch.is_exact or launch.is_limit
        if known and conflict.completes_late and read.completion_wait is not None and conflict.is_write_after_read:
            wait = read.path.group.events[read.completion_wait].step
            barrier = find_barrier_between(world, read, write)
            labels = (
                (read.event.step, "bulk copy out of these bytes"),
                (wait, "its thread's wait for it"),
                *release_label(barrier),
            )
            finding = Finding(
                primary=write.event.step,
                message=f"writes {world.name_of(write.event)}, which the bulk copy at line {{1}} may still be reading",
                labels=labels,
                help=format_barrier_help(
                    barrier,
                    "between the wait in the thread that issued the copy and the write",
                    "issuing threads",
                    (2, 3),
                ),
                properties={"completion": "bulk", "barrier": barrier.sole_text},
                fixes=barrier_fixes(barrier, wait, write.event.step),
            )
            exact = write.is_certain and read.is_certain
            yield Observation((write.event.step, read.event.step), number, exact, finding, 2)


def _bulk_source_reads(issuer: ThreadView) -> list[AsyncCopy]:
    """The bulk copies that a thread starts out of shared memory."""
    return [copy for copy in issuer.copies if _is_bulk_source_read(copy)]


def _fruitless_waits(kernel: KernelFacts) -> frozenset[Step]:
    """The waits of a kernel whose waits never cover a copy; without those in loops, which may go round more often."""
    threads = [thread for world in kernel.scenarios for thread in world.threads.values()]
    if any(copy.source_free_position is not None for thread in threads for copy in _bulk_source_reads(thread)):
        return frozenset()
    flow = ControlFlowGraph(kernel.program)
    waits = {event.step for thread in threads for _, event in thread.positions(WaitGroup) if _is_bulk_wait(event)}
    own = [step for step in waits if step in kernel.program.steps]
    return frozenset(step for step in own if not flow.may_repeat(step))


class _LaterWaits:
    """Which instructions of a kernel a wait for bulk copies may come behind, on whichever path."""

    def __init__(self, kernel: KernelFacts) -> None:
        self._cfg = kernel.explorer.input_independence.cfg
        self._own_steps = frozenset(kernel.program.steps)
        self._waits = [step for step in kernel.program.effectful_steps if _is_bulk_wait_step(step)]
        self._calls_waiting_function = any(
            _is_bulk_wait_step(step) for each in kernel.program.callees.values() for step in each.effectful_steps
        )
        self._cache: dict[Step, bool] = {}

    def may_follow(self, step: Step) -> bool:
        """Whether one may; that one in a function is called behind the instruction is taken for granted."""
        if step not in self._cache:
            self._cache[step] = (
                self._calls_waiting_function or step not in self._own_steps or self._is_wait_reachable(step)
            )
        return self._cache[step]

    def _is_wait_reachable(self, step: Step) -> bool:
        flow = self._cfg
        block = flow.block_of(step)
        behind = flow.reachable(flow.successors[block])
        places = [(flow.block_of(wait), wait.index) for wait in self._waits]
        return any(at in behind or (at == block and index > step.index) for at, index in places)


def _is_bulk_wait_step(step: Step) -> bool:
    return any(isinstance(effect, WaitGroup) and effect.group == "bulk" for effect in step.effects)


def _is_bulk_source_read(copy: AsyncCopy) -> bool:
    effect = copy.event.effect
    return copy.group == "bulk" and isinstance(effect, Access) and effect.kind == "read"


def _check_exit(
    number: int, issuer: ThreadView, sources: list[AsyncCopy], vain: Set[Step] | None, strict: bool
) -> Iterator[Observation]:
    """The end of a thread whose copies may still read. vain: None where no wait comes behind any of them.

    The manual says that the source must not be modified, not how long a CTA's memory outlives it; libraries leave their
    last copies to the hardware. A thread that leaves all of them is an error: one that never waits, or waits in vain
    after its copy, or only before its first one. One that leaves the last is not, except under `strict`.
    """
    if issuer.trace.end_reason != "exit":
        return
    waits = [(at, event.step) for at, event in issuer.positions(WaitGroup) if _is_bulk_wait(event)]
    for copy in sources:
        if copy.commit_position is None:
            continue  # PTX301 speaks of it
        left = not waits or vain is None or any(at > copy.position and step in vain for at, step in waits)
        finding = None
        if copy.source_free_position is None and (strict or left):
            finding = _pending_at_exit(issuer, copy, Severity.ERROR if left else Severity.WARNING)
        yield Observation((copy.event.step, None), number, issuer.trace.is_certain(), finding)


def _check_overwrites(
    number: int, world: ScenarioFacts, issuer: ThreadView, sources: list[AsyncCopy], writer: ThreadView
) -> Iterator[Observation]:
    index: IntervalIndex[AsyncCopy] = IntervalIndex()
    for copy in sources:
        touched = access_range(copy.event)
        if touched is not None:
            index.add(*touched, copy)
    looks = PairBudget(world.budget)
    for position, event in writer.accesses:
        if world.budget.is_exhausted:
            return
        if not (is_generic_write(event) or is_async_write(event)):
            continue
        for copy in index.overlapping(*(access_range(event) or (0, 1))):
            if not looks.allow((event.step, copy.event.step)):
                continue
            safe = _is_safe(world, issuer, copy, writer, position)
            exact = issuer.trace.is_certain(copy.position) and writer.trace.is_certain(position)
            if safe is not None:
                finding = None if safe else _source_overwrite(world.name_of(event), issuer, copy, event)
                threads = 1 if issuer is writer else 2
                yield Observation((event.step, copy.event.step), number, exact, finding, threads)


def _check_destinations(number: int, issuer: ThreadView) -> Iterator[Observation]:
    """The thread's own stores into the destination of a copy of its own that it has not waited for."""
    if not issuer.copies_by_range:
        return
    for position, event in issuer.accesses:
        effect = event.effect
        if not is_generic_write(event) or (isinstance(effect, Access) and effect.completion is not None):
            continue
        for copy in issuer.copies_by_range.overlapping(*(access_range(event) or (0, 1))):
            if copy.position < position and copy.completion_position is not None:
                finding = None if copy.completion_position < position else _destination_overwrite(copy, event)
                yield Observation((event.step, copy.event.step), number, issuer.trace.is_certain(position), finding)


def _is_safe(
    world: ScenarioFacts, issuer: ThreadView, copy: AsyncCopy, writer: ThreadView, position: int
) -> bool | None:
    if copy.commit_position is None:
        return None
    if writer is issuer:
        if copy.position > position:
            return None
        return copy.source_free_position is not None and copy.source_free_position < position
    ways = list(world.sync_edges(issuer, copy.position, writer, position))
    if not ways:
        return None
    if copy.source_free_position is not None and any(copy.source_free_position < way.release_position for way in ways):
        return True
    if _have_converged(issuer, copy, writer, position):
        return None
    # A thread that waits for what comes of its own going on waits for ever: PTX504 speaks of it.
    return None if any(world.is_cyclic_edge(issuer, way, writer) for way in ways) else False


def _have_converged(issuer: ThreadView, copy: AsyncCopy, writer: ThreadView, position: int) -> bool:
    """Whether two lanes do something together between the wait of both and the write of the one: then each has come so
    far, and a copy that was waited for has read its bytes."""
    if copy.source_free_position is None or issuer.tid // WARP != writer.tid // WARP:
        return False
    wait = issuer.trace.events[copy.source_free_position]
    own = [at for at, event in writer.positions(WaitGroup) if (event.step, event.visit) == (wait.step, wait.visit)]
    return any(at < position and ConvergencePoints(writer.trace).converges_between(at, position) for at in own)


def _is_bulk_wait(event: TraceEvent) -> bool:
    return isinstance(event.effect, WaitGroup) and event.effect.group == "bulk"


def _pending_at_exit(issuer: ThreadView, copy: AsyncCopy, severity: Severity) -> Finding:
    lack = "no wait of its thread covers it" if _first_wait_label(issuer, copy) else "its thread never waits for it"
    return Finding(
        primary=copy.event.step,
        message="the CTA may end while this bulk copy still reads its shared memory, which then goes to another CTA: "
        f"{lack}",
        labels=_first_wait_label(issuer, copy),
        help="wait with `cp.async.bulk.wait_group.read 0;` in the thread that issued it, before it ends",
        severity=severity,
        properties={"completion": "bulk"},
        fixes=_fixes(issuer, copy),
    )


def _fixes(issuer: ThreadView, copy: AsyncCopy) -> tuple[FixCandidate, ...]:
    """A wait behind the commit."""
    if copy.commit_position is None:
        return ()
    commit = issuer.trace.events[copy.commit_position].step
    return (FixCandidate(f"add `{_WAIT}`", (StepEdit(commit, _WAIT, "after"),)),)


def _source_overwrite(name: str, issuer: ThreadView, copy: AsyncCopy, event: TraceEvent) -> Finding:
    waits = _first_wait_label(issuer, copy)
    return Finding(
        primary=event.step,
        message=f"writes {name}, which the bulk copy at line {{1}} may still be reading",
        labels=((copy.event.step, "bulk copy out of these bytes"), *waits),
        help=f"{_WAIT_HELP[waits[0][1] if waits else 'the wait for it']}, and then a barrier, before the write",
        properties={"completion": "bulk"},
        fixes=_fixes(issuer, copy),
    )


def _destination_overwrite(copy: AsyncCopy, event: TraceEvent) -> Finding:
    return Finding(
        primary=event.step,
        message="writes shared memory that the asynchronous copy at line {1} may still be writing",
        labels=((copy.event.step, "asynchronous copy into these bytes"),),
        help="wait for the copy before the store, or store before the copy starts",
        properties={"completion": copy.group},
    )


def _first_wait_label(issuer: ThreadView, copy: AsyncCopy) -> tuple[tuple[Step, str], ...]:
    """The first wait behind a copy, with what it is to it."""
    waits = ((at, e.step) for at, e in issuer.positions(WaitGroup) if at > copy.position and _is_bulk_wait(e))
    found = next(waits, None)
    if found is None:
        return ()
    at, step = found
    whose, vain, early = _WAIT_HELP
    return (
        (
            step,
            whose
            if at == copy.source_free_position
            else early
            if copy.commit_position is None or at < copy.commit_position
            else vain,
        ),
    )


RULE = Rule(
    "PTX303",
    "source-reused-in-flight",
    ("Completion Mechanisms for Asynchronous Copy Operations", "cp.async.bulk.wait_group"),
    check,
    asynchronous=True,
)
