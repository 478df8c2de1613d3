"""PTX315: only some threads of a warpgroup execute an instruction of the whole warpgroup.

What it does
    Finds `wgmma.mma_async`, `wgmma.fence`, `wgmma.commit_group` and `wgmma.wait_group` that one thread of a warpgroup
    executes more often than another one, and blocks whose last warpgroup is incomplete.

Why it matters
    These instructions are `.sync.aligned`: all 128 threads of a warpgroup, four consecutive warps of which the first
    has a rank that is a multiple of four, must execute each of them. Otherwise the behavior is undefined; usually the
    kernel hangs.

Example
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 wgmma.fence.sync.aligned;

Use instead
    wgmma.fence.sync.aligned;

ISA section
    "Warpgroup", "wgmma.mma_async", "wgmma.fence". Catalogue: WG5.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.collective_participation import WARPGROUP, UnevenExecution, compare_executions
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.registers.wgmma_hazards import find_issues
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.isa.effects import AsyncRegisters, CommitGroup, Effect, RegisterFence, WaitGroup
from ptxkit.rules.execution_proofs import prove_whole_warpgroup
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import sites_of

_GROUP = "wgmma"


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Compares how often the threads of each warpgroup execute each multiplication."""
    if not any(find_issues(function, _GROUP) for function in kernel.program.functions):
        return
    for number, facts in enumerate(kernel.scenarios):
        for step, uneven in compare_executions(facts, _is_collective, WARPGROUP):
            if uneven is None:
                yield Observation((step, None), number, True)
            elif not _is_in_every_launch(kernel, facts, uneven):
                yield OpenObligation(step, ptx3xx.WARPGROUP_MAY_BE_WHOLE(), "block")
            else:
                yield Observation((step, None), number, uneven.is_certain, _finding(uneven))
        if facts.scenario.launch == kernel.explorer.launch:
            yield from _check_incomplete_warpgroups(number, facts)


def _is_in_every_launch(kernel: KernelFacts, facts: ScenarioFacts, uneven: UnevenExecution) -> bool:
    """Returns whether the uneven execution occurs in every launch, whatever the size of the block.

    This is so where the block size is declared, and for the first warpgroup if the block size does not decide whether
    the multiplication is executed.
    """
    if facts.scenario.launch.is_exact:
        return True
    certainty = kernel.explorer.input_independence
    is_first = uneven.most_frequent.tid < WARPGROUP
    is_known = certainty.program.contains(uneven.step)
    return is_first and is_known and not certainty.depends_on_block(uneven.step)


def _is_collective(effect: Effect) -> bool:
    return isinstance(effect, AsyncRegisters | RegisterFence | CommitGroup | WaitGroup) and effect.group == _GROUP


def _check_incomplete_warpgroups(number: int, facts: ScenarioFacts) -> Iterator[Observation | OpenObligation]:
    """Yields multiplications by threads of an incomplete warpgroup.

    If the kernel only limits its block size, a smaller block may consist of whole warpgroups.
    """
    launch = facts.scenario.launch
    whole = launch.threads // WARPGROUP * WARPGROUP
    if whole == launch.threads:
        return
    for thread in facts.threads.values():
        if thread.tid >= whole:
            for at, event in thread.positions(AsyncRegisters):
                if not _is_collective(event.effect):
                    continue
                if not launch.is_exact:
                    yield OpenObligation(event.step, ptx3xx.WARPGROUP_MAY_BE_WHOLE(), "block")
                else:
                    finding = _too_few_threads(event.step, launch.threads - whole)
                    yield Observation((event.step, None), number, thread.trace.is_certain(at), finding)


def _finding(uneven: UnevenExecution) -> Finding:
    more, less = uneven.counts
    often = ptx3xx.DOES_NOT() if not less else ptx3xx.DOES_SO_TIMES(count=less)
    times = "" if not less else ptx3xx.TIMES(count=more)
    return Finding(
        primary=uneven.step,
        message=(
            ptx3xx.WARPGROUP_DIVERGES(
                thread=uneven.most_frequent.tid, times=times, other=uneven.least_frequent.tid, often=often
            )
        ),
        help=ptx3xx.BRANCH_UNIFORMLY_IN_WARPGROUP(),
        properties={"executes": uneven.most_frequent.tid, "misses": uneven.least_frequent.tid},
    )


def _too_few_threads(step: Step, threads: int) -> Finding:
    return Finding(
        primary=step,
        message=ptx3xx.INCOMPLETE_WARPGROUP(threads=threads),
        help=ptx3xx.LAUNCH_WHOLE_WARPGROUPS(),
        properties={"threads": threads},
    )


RULE = Rule(ptx3xx.PARTIAL_WARPGROUP, check, sites=sites_of(_is_collective), prove=prove_whole_warpgroup)
