"""PTX707: a warp accesses lanes of Tensor Memory that it may not access, or not all of its lanes execute the access.

What it does
    Finds `tcgen05.ld` and `tcgen05.st` of lanes outside the 32 lanes that the warp may access, if the address is
    derived from one that is also an operand of `tcgen05.dealloc` and is not constant (kernels that allocate all of
    Tensor Memory may omit the lane), and `tcgen05.ld`, `st` and `wait` that only some lanes of a warp execute.

Why it matters
    Warp w of a warpgroup may access lanes 32*(w%4) to 32*(w%4)+31 only, and all lanes of a warp must execute these
    instructions together. Otherwise the behavior is undefined.

Example
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r1];    // by all four warps, %r1 from tcgen05.alloc

Use instead
    shl.b32 %r4, %warp, 21;
    add.u32 %r5, %r1, %r4;
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r5];

ISA section
    "Tensor Memory and Register Load/Store Instructions", "Access restrictions", "tcgen05.ld". Catalogue: TC15.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.tensor.tensor_memory import TmemUse, deallocations_of, may_be_absolute, uses_of
from ptxkit.diagnostics.catalogue import ptx7xx
from ptxkit.isa.effects import AsyncRegisters, Effect, WaitGroup
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import sites_of
from ptxkit.rules.warp_participation import check_whole_warps
from ptxkit.syntax.constants import WARP_SIZE

_GROUPS = ("tcgen05.ld", "tcgen05.st")


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks the lanes of each load and store, and the threads that execute it."""
    if not any(_is_load_or_store(step) for step in kernel.program.effectful_steps):
        return
    for number, facts in enumerate(kernel.scenarios):
        yield from check_whole_warps(number, facts, _is_collective, ptx7xx.BRANCH_ON_WARP_NUMBER_ONLY())
        yield from _check_lanes(number, facts)


def _is_load_or_store(step: Step) -> bool:
    return any(_is_collective(effect) for effect in step.effects)


def _is_collective(effect: Effect) -> bool:
    return isinstance(effect, AsyncRegisters | WaitGroup) and effect.group in _GROUPS


def _check_lanes(number: int, facts: ScenarioFacts) -> Iterator[Observation]:
    launch, threads = facts.scenario.launch, facts.threads.values()
    is_known = launch.is_exact or launch.is_limit  # a block of one warp accesses only the first lanes
    ends = [use for thread in threads for use in deallocations_of(thread) if not use.is_absolute]
    bases = {place[0] for use in ends if (place := use.location) and place[1:] == (0, 0)}
    for thread in threads if bases else ():
        first = thread.tid // WARP_SIZE % 4 * WARP_SIZE
        for use in uses_of(thread):
            place = use.location
            if use.completion in _GROUPS and place is not None and place[0] in bases:
                finding = None if first <= place[1] < first + WARP_SIZE else _foreign_lane_access(use, place[1], first)
                exact = thread.trace.is_certain(use.position) and facts.is_exact and is_known
                exact = exact and not may_be_absolute(facts.program, use)
                yield Observation((use.event.step, None), number, exact, finding)


def _foreign_lane_access(use: TmemUse, lane: int, first: int) -> Finding:
    return Finding(
        primary=use.event.step,
        message=ptx7xx.LANE_OF_OTHER_WARP(
            warp=use.thread.tid // WARP_SIZE, first=first, last=first + WARP_SIZE - 1, lane=lane
        ),
        help=ptx7xx.ADD_WARP_OFFSET(),
        properties={"lane": lane, "first": first},
        group_key=(use.thread.tid // WARP_SIZE, lane),  # one wrong offset of the warp leads to all of them
    )


RULE = Rule(ptx7xx.TENSOR_LANES, check, sites=sites_of(_is_collective))
