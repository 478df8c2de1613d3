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

from ptxkit.analysis.collectives import WARP
from ptxkit.analysis.flow import Flow
from ptxkit.analysis.inflight import Copy
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.mates import Meetings
from ptxkit.analysis.program import Step
from ptxkit.analysis.ranges import RangeIndex
from ptxkit.analysis.thread import Looks, Thread
from ptxkit.analysis.touches import extent, is_async_write, is_generic_write
from ptxkit.analysis.trace import Event
from ptxkit.diagnostics import Severity
from ptxkit.isa.effects import Access, WaitGroup
from ptxkit.rules.barriers import barrier_between, mends_of, release_label, words_of
from ptxkit.rules.finding import Change, Doubt, Finding, Mend, Observation, Rule

_WAIT = "cp.async.bulk.wait_group.read 0;"
_WAITS = {
    "the wait for it": "wait with `cp.async.bulk.wait_group.read` in the thread that issued the copy",
    "does not cover it": "lower the count of the wait at line {2}, or wait again in the thread that issued the copy",
    "comes before its group is committed": "commit the copy's group before the wait at line {2}",
}
"""What the first wait behind a copy is to it, and what to do then."""


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at each bulk copy out of shared memory, each later write of its bytes, and the end of its thread."""
    vain, waits = _vain_waits(kernel), _WaitsBehind(kernel)
    for number, world in enumerate(kernel.worlds):
        if world.is_opaque:
            continue
        for issuer in world.threads.values():
            yield from _destinations(number, issuer)
            sources = _sources(issuer)
            if sources:
                lone = not any(copy.read is not None or waits.may_follow(copy.event.step) for copy in sources)
                yield from _end(number, issuer, sources, None if lone else vain, kernel.policy == "strict")
                for writer in world.threads.values():
                    yield from _rewrites(number, world, issuer, sources, writer)
    yield from _told_too_early(kernel)


def _told_too_early(kernel: Kernel) -> Iterator[Observation]:
    """Writes by threads that another one told of its copies before it had waited for them."""
    for number, conflict in kernel.conflicts:
        world, write, read = kernel.worlds[number], conflict.write, conflict.read
        launch = world.scenario.launch
        known = launch.is_exact or launch.is_limit
        if known and conflict.late and read.over is not None and conflict.returns:
            wait = read.path.group.events[read.over].step
            barrier = barrier_between(world, read, write)
            labels = (
                (read.event.step, "bulk copy out of these bytes"),
                (wait, "its thread's wait for it"),
                *release_label(barrier),
            )
            finding = Finding(
                primary=write.event.step,
                message=f"writes {world.name_of(write.event)}, which the bulk copy at line {{1}} may still be reading",
                labels=labels,
                help=words_of(
                    barrier,
                    "between the wait in the thread that issued the copy and the write",
                    "issuing threads",
                    (2, 3),
                ),
                properties={"completion": "bulk", "barrier": barrier.alone},
                mends=mends_of(barrier, wait, write.event.step),
            )
            exact = write.is_sure and read.is_sure
            yield Observation((write.event.step, read.event.step), number, exact, finding, 2)


def _sources(issuer: Thread) -> list[Copy]:
    """The bulk copies that a thread starts out of shared memory."""
    return [copy for copy in issuer.copies if _reads_source(copy)]


def _vain_waits(kernel: Kernel) -> frozenset[Step]:
    """The waits of a kernel whose waits never cover a copy; without those in loops, which may go round more often."""
    threads = [thread for world in kernel.worlds for thread in world.threads.values()]
    if any(copy.read is not None for thread in threads for copy in _sources(thread)):
        return frozenset()
    flow = Flow(kernel.program)
    waits = {event.step for thread in threads for _, event in thread.positions(WaitGroup) if _is_bulk_wait(event)}
    own = [step for step in waits if step in kernel.program.steps]
    return frozenset(step for step in own if not flow.repeats(step))


class _WaitsBehind:
    """Which instructions of a kernel a wait for bulk copies may come behind, on whichever path."""

    def __init__(self, kernel: Kernel) -> None:
        self._flow = kernel.explorer.certainty.flow
        self._own = frozenset(kernel.program.steps)
        self._waits = [step for step in kernel.program.acting if _waits_for_bulk(step)]
        self._calls_one = any(_waits_for_bulk(step) for each in kernel.program.called.values() for step in each.acting)
        self._known: dict[Step, bool] = {}

    def may_follow(self, step: Step) -> bool:
        """Whether one may; that one in a function is called behind the instruction is taken for granted."""
        if step not in self._known:
            self._known[step] = self._calls_one or step not in self._own or self._follows(step)
        return self._known[step]

    def _follows(self, step: Step) -> bool:
        flow = self._flow
        block = flow.block_of(step)
        behind = flow.reachable(flow.after[block])
        places = [(flow.block_of(wait), wait.index) for wait in self._waits]
        return any(at in behind or (at == block and index > step.index) for at, index in places)


def _waits_for_bulk(step: Step) -> bool:
    return any(isinstance(effect, WaitGroup) and effect.group == "bulk" for effect in step.effects)


def _reads_source(copy: Copy) -> bool:
    effect = copy.event.effect
    return copy.group == "bulk" and isinstance(effect, Access) and effect.kind == "read"


def _end(
    number: int, issuer: Thread, sources: list[Copy], vain: Set[Step] | None, strict: bool
) -> Iterator[Observation]:
    """The end of a thread whose copies may still read. vain: None where no wait comes behind any of them.

    The manual says that the source must not be modified, not how long a CTA's memory outlives it; libraries leave their
    last copies to the hardware. A thread that leaves all of them is an error: one that never waits, or waits in vain
    after its copy, or only before its first one. One that leaves the last is not, except under `strict`.
    """
    if issuer.trace.ended != "exit":
        return
    waits = [(at, event.step) for at, event in issuer.positions(WaitGroup) if _is_bulk_wait(event)]
    for copy in sources:
        if copy.committed is None:
            continue  # PTX301 speaks of it
        left = not waits or vain is None or any(at > copy.position and step in vain for at, step in waits)
        finding = None
        if copy.read is None and (strict or left):
            finding = _left_behind(issuer, copy, Severity.ERROR if left else Severity.WARNING)
        yield Observation((copy.event.step, None), number, issuer.trace.is_sure(), finding)


def _rewrites(number: int, world: World, issuer: Thread, sources: list[Copy], writer: Thread) -> Iterator[Observation]:
    index: RangeIndex[Copy] = RangeIndex()
    for copy in sources:
        touched = extent(copy.event)
        if touched is not None:
            index.add(*touched, copy)
    looks = Looks(world.budget)
    for position, event in writer.accesses:
        if world.budget.is_over:
            return
        if not (is_generic_write(event) or is_async_write(event)):
            continue
        for copy in index.overlapping(*(extent(event) or (0, 1))):
            if not looks.allow((event.step, copy.event.step)):
                continue
            safe = _is_safe(world, issuer, copy, writer, position)
            exact = issuer.trace.is_sure(copy.position) and writer.trace.is_sure(position)
            if safe is not None:
                finding = None if safe else _rewritten(world.name_of(event), issuer, copy, event)
                threads = 1 if issuer is writer else 2
                yield Observation((event.step, copy.event.step), number, exact, finding, threads)


def _destinations(number: int, issuer: Thread) -> Iterator[Observation]:
    """The thread's own stores into the destination of a copy of its own that it has not waited for."""
    if not issuer.fills:
        return
    for position, event in issuer.accesses:
        effect = event.effect
        if not is_generic_write(event) or (isinstance(effect, Access) and effect.completion is not None):
            continue
        for copy in issuer.fills.overlapping(*(extent(event) or (0, 1))):
            if copy.position < position and copy.done is not None:
                finding = None if copy.done < position else _overwritten(copy, event)
                yield Observation((event.step, copy.event.step), number, issuer.trace.is_sure(position), finding)


def _is_safe(world: World, issuer: Thread, copy: Copy, writer: Thread, position: int) -> bool | None:
    if copy.committed is None:
        return None
    if writer is issuer:
        if copy.position > position:
            return None
        return copy.read is not None and copy.read < position
    ways = list(world.order(issuer, copy.position, writer, position))
    if not ways:
        return None
    if copy.read is not None and any(copy.read < way.released for way in ways):
        return True
    if _have_met(issuer, copy, writer, position):
        return None
    # A thread that waits for what comes of its own going on waits for ever: PTX504 speaks of it.
    return None if any(world.is_circular(issuer, way, writer) for way in ways) else False


def _have_met(issuer: Thread, copy: Copy, writer: Thread, position: int) -> bool:
    """Whether two lanes do something together between the wait of both and the write of the one: then each has come so
    far, and a copy that was waited for has read its bytes."""
    if copy.read is None or issuer.tid // WARP != writer.tid // WARP:
        return False
    wait = issuer.trace.events[copy.read]
    own = [at for at, event in writer.positions(WaitGroup) if (event.step, event.visit) == (wait.step, wait.visit)]
    return any(at < position and Meetings(writer.trace).joins(at, position) for at in own)


def _is_bulk_wait(event: Event) -> bool:
    return isinstance(event.effect, WaitGroup) and event.effect.group == "bulk"


def _left_behind(issuer: Thread, copy: Copy, severity: Severity) -> Finding:
    lack = "no wait of its thread covers it" if _waits(issuer, copy) else "its thread never waits for it"
    return Finding(
        primary=copy.event.step,
        message="the CTA may end while this bulk copy still reads its shared memory, which then goes to another CTA: "
        f"{lack}",
        labels=_waits(issuer, copy),
        help="wait with `cp.async.bulk.wait_group.read 0;` in the thread that issued it, before it ends",
        severity=severity,
        properties={"completion": "bulk"},
        mends=_mends(issuer, copy),
    )


def _mends(issuer: Thread, copy: Copy) -> tuple[Mend, ...]:
    """A wait behind the commit."""
    if copy.committed is None:
        return ()
    commit = issuer.trace.events[copy.committed].step
    return (Mend(f"add `{_WAIT}`", (Change(commit, _WAIT, "after"),)),)


def _rewritten(name: str, issuer: Thread, copy: Copy, event: Event) -> Finding:
    waits = _waits(issuer, copy)
    return Finding(
        primary=event.step,
        message=f"writes {name}, which the bulk copy at line {{1}} may still be reading",
        labels=((copy.event.step, "bulk copy out of these bytes"), *waits),
        help=f"{_WAITS[waits[0][1] if waits else 'the wait for it']}, and then a barrier, before the write",
        properties={"completion": "bulk"},
        mends=_mends(issuer, copy),
    )


def _overwritten(copy: Copy, event: Event) -> Finding:
    return Finding(
        primary=event.step,
        message="writes shared memory that the asynchronous copy at line {1} may still be writing",
        labels=((copy.event.step, "asynchronous copy into these bytes"),),
        help="wait for the copy before the store, or store before the copy starts",
        properties={"completion": copy.group},
    )


def _waits(issuer: Thread, copy: Copy) -> tuple[tuple[Step, str], ...]:
    """The first wait behind a copy, with what it is to it."""
    waits = ((at, e.step) for at, e in issuer.positions(WaitGroup) if at > copy.position and _is_bulk_wait(e))
    found = next(waits, None)
    if found is None:
        return ()
    at, step = found
    whose, vain, early = _WAITS
    return ((step, whose if at == copy.read else early if copy.committed is None or at < copy.committed else vain),)


RULE = Rule(
    "PTX303",
    "source-reused-in-flight",
    ("Completion Mechanisms for Asynchronous Copy Operations", "cp.async.bulk.wait_group"),
    check,
    asynchronous=True,
)
