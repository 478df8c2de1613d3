"""PTX312: no `wgmma.fence` stands between an access to registers and the multiplication that uses them.

What it does
    Finds a `wgmma.mma_async` before which the warpgroup has executed no `wgmma.fence` at all, or none since another
    instruction read or wrote its accumulators or its fragment of A. Multiplications of one shape that go on with the
    same accumulators need no fence between them; plain moves count as no access.

Why it matters
    The tensor core reads registers on its own time. Without the fence it may take values from before the last write,
    or write while an earlier instruction still reads.

Example
    mov.b32 %r1, %r9;
    add.f32 %f1, %f1, %f5;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, 1, 0, 0;

Use instead
    add.f32 %f1, %f1, %f5;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, 1, 0, 0;

ISA section
    "wgmma.fence". Catalogue: WG1.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.flow import Flow
from ptxkit.analysis.kernel import Kernel
from ptxkit.analysis.program import Step
from ptxkit.analysis.register_fences import Approach, RegisterFences
from ptxkit.analysis.register_parts import Parts
from ptxkit.analysis.registers_in_flight import issues_in
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import AsyncRegisters, RegisterFence
from ptxkit.rules.finding import Change, Doubt, Finding, Mend, Observation, Rule

_GROUP = "wgmma"
_FENCE = "wgmma.fence.sync.aligned;"
#: Fences and multiplications before an issue that are looked at, last first.
MAX_BACK = 64


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at what each thread executed last before each multiplication."""
    issues = issues_in(kernel.program, _GROUP)
    if not issues:
        return
    fences = RegisterFences(Flow(kernel.program), Parts(_GROUP))
    approaches = {issue: list(fences.approaches(issue)) for issue in issues}
    for number, world in enumerate(kernel.worlds):
        for thread in world.threads.values():
            if not thread.trace.opaque:
                yield from _thread(number, thread, fences, approaches)


def _thread(
    number: int, thread: Thread, fences: RegisterFences, approaches: dict[Step, list[Approach]]
) -> Iterator[Observation]:
    history: list[Step] = []
    fence: Step | None = None
    seen: set[tuple[int, Step | None]] = set()
    for position, event in _events(thread):
        for approach in approaches.get(event.step, ()):
            before = next((step for step in history[: -MAX_BACK - 1 : -1] if fences.concerns(step, approach)), None)
            unknown = approach.unclear or (before is None and len(history) > MAX_BACK)
            if not unknown and (id(approach), before) not in seen:
                seen.add((id(approach), before))
                finding = _judge(thread, approach, before, fence)
                yield Observation((event.step, before), number, thread.trace.is_sure(position), finding)
        if not history or history[-1] is not event.step:
            history.append(event.step)
            fence = event.step if event.step in fences else fence


def _events(thread: Thread) -> list[tuple[int, Event]]:
    """Its fences and multiplications, one event each, in order."""
    found: dict[tuple[Step, int], tuple[int, Event]] = {}
    for position, event in thread.positions(AsyncRegisters, RegisterFence):
        if isinstance(event.effect, AsyncRegisters | RegisterFence) and event.effect.group == _GROUP:
            found.setdefault((event.step, event.visit), (position, event))
    return sorted(found.values(), key=lambda item: item[0])


def _judge(thread: Thread, approach: Approach, before: Step | None, fence: Step | None) -> Finding | None:
    """What is wrong with coming from `before` (None: the start of the kernel) to an issue; fence: the last one."""
    if before in approach.ordered or (before is None and not approach.starts):
        return None
    touches = [step for step in approach.touches if step in thread.trace.covered]
    if before is not None and not touches:
        return None
    if not touches:
        return Finding(
            primary=approach.issue,
            message="no `wgmma.fence` comes before this multiplication",
            help="add `wgmma.fence.sync.aligned;` before line {0}, after the last access to its registers",
            cause=("fence", fence),
            mends=(_mend(approach),),
        )
    register = approach.touches[touches[0]]
    return Finding(
        primary=approach.issue,
        message="uses a register that line {1} accesses, with no `wgmma.fence` between",
        labels=((touches[0], "access to the register"),),
        help="add `wgmma.fence.sync.aligned;` before line {0}, after that access",
        properties={"register": register},
        cause=("fence", fence),
        mends=(_mend(approach),),
    )


def _mend(approach: Approach) -> Mend:
    return Mend(f"add `{_FENCE}`", (Change(approach.issue, _FENCE),))


RULE = Rule("PTX312", "missing-register-fence", ("wgmma.fence",), check, asynchronous=True)
