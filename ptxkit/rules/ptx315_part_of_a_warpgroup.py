"""PTX315: a warpgroup's instruction is executed by some of its threads only.

What it does
    Finds `wgmma.mma_async`, `wgmma.fence`, `wgmma.commit_group` and `wgmma.wait_group` that one thread of a warpgroup
    executes and another one does not, or not as often; and blocks whose last warpgroup is incomplete.

Why it matters
    These instructions are `.sync.aligned`: four warps with a first rank that is a multiple of four, all 128 threads,
    take part in each. What happens otherwise is undefined; mostly the kernel hangs.

Example
    setp.eq.u32 %p1, %tid.x, 0;
    @%p1 wgmma.fence.sync.aligned;

Use instead
    wgmma.fence.sync.aligned;

ISA section
    "Warpgroup", "wgmma.mma_async", "wgmma.fence". Catalogue: WG5.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.collectives import WARPGROUP, Uneven, compared
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.program import Step
from ptxkit.analysis.registers_in_flight import issues_in
from ptxkit.isa.effects import AsyncRegisters, CommitGroup, Effect, RegisterFence, WaitGroup
from ptxkit.rules.finding import Doubt, Finding, Observation, Rule

_GROUP = "wgmma"


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Compares what the threads of each warpgroup execute."""
    issues = issues_in(kernel.program, _GROUP)
    if not issues:
        return
    for number, world in enumerate(kernel.worlds):
        for step, uneven in compared(world, _is_collective, WARPGROUP):
            if uneven is None:
                yield Observation((step, None), number, True)
            else:
                exact = uneven.more.trace.is_sure() and uneven.less.trace.is_sure()
                yield Observation((step, None), number, exact, _finding(uneven), 2)
        yield from _incomplete(number, world)


def _is_collective(effect: Effect) -> bool:
    return isinstance(effect, AsyncRegisters | RegisterFence | CommitGroup | WaitGroup) and effect.group == _GROUP


def _incomplete(number: int, world: World) -> Iterator[Observation]:
    """Multiplications by threads of a warpgroup that the block does not fill."""
    launch = world.scenario.launch
    whole = launch.threads // WARPGROUP * WARPGROUP
    if not launch.is_exact or whole == launch.threads:
        return
    for thread in world.threads.values():
        if thread.tid >= whole:
            for at, event in thread.positions(AsyncRegisters):
                if _is_collective(event.effect):
                    finding = _too_few(event.step, launch.threads - whole)
                    yield Observation((event.step, None), number, thread.trace.is_sure(at), finding)


def _finding(uneven: Uneven) -> Finding:
    more, less = uneven.times
    often = "does not" if not less else f"does so {less} times"
    times = "" if not less else f" {more} times"
    return Finding(
        primary=uneven.step,
        message=f"all threads of a warpgroup must execute this together: thread {uneven.more.tid} does{times}, "
        f"thread {uneven.less.tid} {often}",
        help="branch on what is the same for all 128 threads of the warpgroup, and put no predicate on it",
        properties={"executes": uneven.more.tid, "misses": uneven.less.tid},
    )


def _too_few(step: Step, threads: int) -> Finding:
    return Finding(
        primary=step,
        message=f"needs a whole warpgroup of 128 threads, and the last one of the block has {threads}",
        help="launch a multiple of 128 threads, or keep the rest of them out of it",
        properties={"threads": threads},
    )


RULE = Rule("PTX315", "part-of-a-warpgroup", ("Warpgroup", "wgmma.mma_async", "wgmma.fence"), check)
