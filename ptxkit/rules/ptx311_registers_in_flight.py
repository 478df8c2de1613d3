"""PTX311: a register of an asynchronous matrix multiplication is accessed before the wait for its group.

What it does
    Finds an instruction that reads or writes an accumulator of a `wgmma.mma_async`, or writes a register that holds its
    fragment of A, if no path from the multiplication to the instruction has a `wgmma.wait_group` that covers the group
    of the multiplication. Plain moves are followed and not reported, because they only rename registers.

Why it matters
    The tensor core reads and writes these registers while the warps continue. An early read returns a mixture of old
    and new values, and an early write is lost or used as an operand. `ptxas` detects some of these cases and serializes
    the multiplications, with a message, but does not guarantee it.

Example
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    st.global.f32 [%rd3], %f1;

Use instead
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    st.global.f32 [%rd3], %f1;

ISA section
    "wgmma.wait_group", "wgmma.mma_async". Catalogue: WG3, WG4.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.registers.wgmma_hazards import WgmmaHazard
from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.isa.effects import AsyncRegisters, CommitGroup, WaitGroup
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.register_hazards import find_executed_hazards, prove_registers_free, register_sites

_GROUP = "wgmma"


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each access to a register in flight, in the threads that execute both instructions."""
    for number, thread, touch in find_executed_hazards(kernel, _GROUP):
        if touch.may_have_waited:
            yield OpenObligation(touch.step, ptx3xx.PATH_WITHOUT_WAIT())
        else:
            finding = _finding(thread, touch)
            yield Observation((touch.step, touch.issue), number, thread.trace.is_certain(), finding)


def _finding(thread: ThreadView, touch: WgmmaHazard) -> Finding:
    issued = max(at for at, event in thread.positions(AsyncRegisters) if event.step is touch.issue)
    labels: list[tuple[Step, Message]] = [(touch.issue, ptx3xx.MAY_USE_REGISTER())]
    committed = next(
        (at for at, event in thread.positions(CommitGroup) if at > issued and _is_wgmma_group_effect(event.effect)),
        None,
    )
    wait = next(
        (
            event.step
            for at, event in thread.positions(WaitGroup)
            if at > issued and _is_wgmma_group_effect(event.effect)
        ),
        None,
    )
    if committed is None:
        fix = ptx3xx.COMMIT_AND_WAIT_FOR_GROUP()
    elif wait is not None and wait.index < touch.step.index:
        labels.append((wait, ptx3xx.LEAVES_GROUP_PENDING()))
        fix = ptx3xx.LOWER_COUNT_OF_WAIT()
    else:
        fix = ptx3xx.ADD_WGMMA_WAIT()
    what = ptx3xx.ACCUMULATOR() if touch.is_accumulator else ptx3xx.FRAGMENT_OF_A()
    return Finding(
        primary=touch.step,
        message=ptx3xx.REGISTER_TOUCHED_IN_FLIGHT(registers=what),
        labels=tuple(labels),
        help=fix,
        properties={"register": touch.register},
        group_key=touch.issue,
        lacks=((touch.issue,),),
    )


def _is_wgmma_group_effect(effect: object) -> bool:
    return isinstance(effect, CommitGroup | WaitGroup) and effect.group == _GROUP


RULE = Rule(
    ptx3xx.REGISTERS_IN_FLIGHT,
    check,
    asynchronous=True,
    sites=register_sites(_GROUP),
    prove=partial(prove_registers_free, _GROUP),
    needs_proof=True,
)
