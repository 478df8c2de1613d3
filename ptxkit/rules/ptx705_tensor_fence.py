"""PTX705: no `tcgen05.fence::after_thread_sync` stands between a synchronisation and the tcgen05 operation it is for.

What it does
    Finds accesses to Tensor Memory by a thread that learnt through an mbarrier or a barrier that a multiplication of
    another instruction is complete, or that another warp has allocated the memory, and executes no
    `tcgen05.fence::after_thread_sync` between that and the access. A kernel that has no such fence anywhere is reported
    under the policy `strict` only: compilers that leave them all out rely on how GPUs issue instructions.

Why it matters
    `tcgen05.ld`, `st`, `mma`, `cp` and `shift` are asynchronous: they are not ordered after the thread's earlier
    instructions, a wait on an mbarrier among them, unless the fence says so.

Example
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra wait;
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r1];

Use instead
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra wait;
    tcgen05.fence::after_thread_sync;
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r1];

ISA section
    "tcgen05.fence", "Specialized Inter-thread Synchronization for tcgen05 instructions". Catalogue: TC11, TC12.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.program import Step
from ptxkit.analysis.tensor_memory import Pairs, Use, fences_between, learns, uses_of, writes_before
from ptxkit.analysis.thread import Thread
from ptxkit.diagnostics import Severity
from ptxkit.isa.effects import TensorFence, TensorMemory
from ptxkit.rules.finding import Change, Doubt, Finding, Mend, Observation, Rule

_FENCE = "tcgen05.fence::after_thread_sync;"


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at each access to Tensor Memory whose thread had to learn of another thread's doing, or of a completion."""
    fences = any(_is_fence(step) for step in kernel.program.acting)
    if not fences and kernel.policy != "strict":
        return
    severity = Severity.ERROR if fences else Severity.WARNING
    for number, world in enumerate(kernel.worlds):
        if not world.is_opaque and world.scenario.launch.cluster_size == 1:
            yield from _world(number, world, severity)


def _is_fence(step: Step) -> bool:
    return any(isinstance(effect, TensorFence) for effect in step.effects)


def _world(number: int, world: World, severity: Severity) -> Iterator[Observation]:
    threads = world.threads.values()
    uses = [use for thread in threads for use in uses_of(thread)]
    if not uses:
        return
    writes = [use for use in uses if use.is_committed_write]
    pairs = Pairs(world)
    for use in uses:
        for source, learnt in _sources(world, use, writes, pairs):
            fenced = fences_between(use.thread, "after", min(learnt), use.position)
            finding = None if fenced else _finding(use, source, use.thread.trace.events[max(learnt)].step, severity)
            exact = use.thread.trace.is_sure(use.position)
            yield Observation((use.event.step, source), number, exact, finding, 1)


def _sources(world: World, use: Use, writes: list[Use], pairs: Pairs) -> Iterator[tuple[Step, list[int]]]:
    """What the access depends on, each with the places where its thread learnt of it."""
    if use.completion != "tcgen05":  # multiplications among themselves are pipelined
        for write in writes_before(use, writes, world.budget):
            if pairs.allow(write, use):
                learnt = [at for at in learns(world, write, use.thread, use.position) or () if at >= 0]
                if learnt:
                    yield write.event.step, learnt
    for thread in world.threads.values():
        if thread.tid // 32 != use.thread.tid // 32:
            yield from _allocation(world, thread, use, pairs)


def _allocation(world: World, thread: Thread, use: Use, pairs: Pairs) -> Iterator[tuple[Step, list[int]]]:
    for at, event in thread.positions(TensorMemory):
        if isinstance(event.effect, TensorMemory) and event.effect.action == "allocate":
            if not pairs.allow(Use(thread, at, event), use):
                continue
            learnt = [way.acquired for way in world.order(thread, at, use.thread, use.position)]
            if learnt:
                yield event.step, learnt


def _finding(use: Use, source: Step, sync: Step, severity: Severity) -> Finding:
    return Finding(
        primary=use.event.step,
        message="no `tcgen05.fence::after_thread_sync` stands between this and the synchronisation at line {2}, by "
        "which its thread learnt of line {1}",
        labels=((source, "what it depends on"), (sync, "orders the threads, not their asynchronous operations")),
        help="add `tcgen05.fence::after_thread_sync;` after line {2}",
        severity=severity,
        cause=sync,
        mends=tuple(
            Mend(f"add `{_FENCE}`", (change,))
            for change in (Change(sync, _FENCE, "after"), Change(use.event.step, _FENCE))
        ),
    )


RULE = Rule(
    "PTX705",
    "tensor-fence",
    ("tcgen05.fence", "Specialized Inter-thread Synchronization for tcgen05 instructions"),
    check,
)
