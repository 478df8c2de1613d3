"""PTX301: an asynchronous copy is never committed to a group.

What it does
    Finds a `cp.async` or a bulk store whose thread reaches the end of the kernel without a commit that takes it in.

Why it matters
    A wait counts committed groups. A copy that belongs to none is waited for by nobody: its bytes may come late, or be
    read from shared memory that the next kernel already owns.

Example
    cp.async.cg.shared.global [%r1], [%rd1], 16;
    cp.async.wait_group 0;

Use instead
    cp.async.cg.shared.global [%r1], [%rd1], 16;
    cp.async.commit_group;
    cp.async.wait_group 0;

ISA section
    "cp.async.commit_group", "cp.async.bulk.commit_group", "Async-group mechanism". Catalogue: CA3, BK7, WG4.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.sync.async_groups import GROUP_MECHANISMS, AsyncCopy
from ptxkit.diagnostics import Severity
from ptxkit.isa.effects import CommitGroup, WaitGroup
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule, StepEdit

#: The instruction that closes a group, by mechanism: only for the words of the help.
_COMMIT = {
    "cp.async": "cp.async.commit_group",
    "bulk": "cp.async.bulk.commit_group",
    "wgmma": "wgmma.commit_group.sync.aligned",
}


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Looks at each copy of each thread that walked to the end."""
    for number, world in enumerate(kernel.scenarios):
        for thread in world.threads.values():
            if thread.trace.end_reason == "exit" and not thread.trace.has_unknown_call:
                yield from _check_thread(number, thread)


def _check_thread(number: int, thread: ThreadView) -> Iterator[Observation]:
    exact = thread.trace.is_certain()
    seen: set[tuple[Step, bool]] = set()
    for copy in thread.copies:
        if copy.group not in GROUP_MECHANISMS or copy.track_position is not None:
            continue
        missing = copy.commit_position is None
        if (copy.event.step, missing) not in seen:
            seen.add((copy.event.step, missing))
            finding = _finding(thread, copy) if missing else None
            yield Observation((copy.event.step, None), number, exact, finding)


def _finding(thread: ThreadView, copy: AsyncCopy) -> Finding:
    waits = [
        e.step for at, e in thread.positions(WaitGroup) if at > copy.position and _group_of(e.effect) == copy.group
    ]
    commits = [
        e.step for at, e in thread.positions(CommitGroup) if at < copy.position and _group_of(e.effect) == copy.group
    ]
    labels = [(step, "waits for committed groups only") for step in waits[:1]]
    labels += [(step, "the last commit stands before the copy") for step in commits[-1:]]
    commit = f"{_COMMIT[copy.group]};"
    consequence = "the wait at line {1} does not cover it" if waits else "nothing can wait for it"
    return Finding(
        primary=copy.event.step,
        message=f"this copy is never committed to a group: {consequence}",
        labels=tuple(labels),
        help=f"add `{_COMMIT[copy.group]};` after the copies of a stage, in the thread that issues them",
        severity=Severity.ERROR if waits or copy.group == "bulk" else Severity.WARNING,
        properties={"group": copy.group},
        group_key=(copy.group, *waits[:1], *commits[-1:]),  # one commit behind them all is the mend
        fixes=tuple(
            FixCandidate(f"add `{commit}`", (change,), safe=False)
            for change in (*(StepEdit(step, commit) for step in waits[:1]), StepEdit(copy.event.step, commit, "after"))
        ),
    )


def _group_of(effect: object) -> str:
    return effect.group if isinstance(effect, CommitGroup | WaitGroup) else ""


RULE = Rule(
    "PTX301", "group-never-committed", ("cp.async.commit_group", "cp.async.bulk.commit_group"), check, asynchronous=True
)
