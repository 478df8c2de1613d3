"""PTX621: two threads use the same bytes of shared memory, one of them writes, and nothing orders the two.

What it does
    Finds a write of shared memory by one thread, and an access of the same bytes by a thread of another warp, or by
    another lane of its warp, between which there is no barrier, no hand-over by an mbarrier and nothing else that may
    order them: a read of what others write before they are known to have written it, a tile that is filled again, by a
    store or a copy, while other threads may still read its old contents, or others' cp.async may still write there.

    Where all threads store the same value, and read it behind their own store, the finding says that it is a race by
    the letter alone; all such stores to one variable are one finding.

Why it matters
    Warps run at different speeds, and so may the lanes of one warp. The read gives what was there before, what is there
    now, or some of each, and which of these depends on the load of the machine.

Example
    st.shared.b32 [%r1], %r2;
    ld.shared.b32 %r3, [%r4];

Use instead
    st.shared.b32 [%r1], %r2;
    bar.sync 0;
    ld.shared.b32 %r3, [%r4];

ISA section
    "Conflict and Data-Races", "Causality Order", "bar / barrier". Catalogue: CA12, PX2, BR4, BK12.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.equal_value_stores import stores_equal_values
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Access
from ptxkit.rules.barrier_help import barrier_fixes, find_barrier_between, format_barrier_help, release_label
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Looks at what different threads do to the same bytes."""
    told = [(number, conflict) for number, conflict in kernel.races if _is_reported_here(conflict)]
    wide = {_step_pair(conflict) for _, conflict in told if not conflict.is_intra_warp}
    for number, conflict in told:
        if conflict.is_intra_warp and _step_pair(conflict) in wide:
            continue  # what orders the warps orders their lanes, too
        world = kernel.scenarios[number]
        launch = world.scenario.launch
        write, read = conflict.write, conflict.read
        if not (launch.is_exact or launch.is_limit):
            step = _finding(world, conflict).primary
            yield OpenObligation(step, "how many threads a block has is not said: it may be one warp", "block")
            continue
        exact = write.is_certain and read.is_certain
        equal = not conflict.is_write_after_read and stores_equal_values(
            world, conflict, kernel.explorer.input_independence
        )
        finding = _equal_stores_finding(world, conflict) if equal else _finding(world, conflict)
        yield Observation((write.event.step, read.event.step), number, exact, finding, 2)
    for question in kernel.box_size_conflicts:
        yield OpenObligation(question.access, "whether a tensor copy's box is so large that it touches these bytes")


def _step_pair(conflict: Race) -> tuple[Step, Step]:
    return conflict.write.event.step, conflict.read.event.step


def _is_reported_here(conflict: Race) -> bool:
    """Whether no other rule speaks of it: PTX302 and PTX303 of copies that are not over, PTX401 of the async proxy."""
    write, read = conflict.write.event.effect, conflict.read.event.effect
    if not isinstance(write, Access) or not isinstance(read, Access):
        return False
    if conflict.completes_late:
        return read.kind == "write" and not conflict.is_write_after_read and conflict.write.completion_wait is not None
    return (
        conflict.is_write_after_read or read.kind == "write" or (write.completion is None and read.completion is None)
    )


def _finding(world: ScenarioFacts, conflict: Race) -> Finding:
    name = world.name_of(conflict.write.event)
    write = conflict.write.event.effect
    copies = isinstance(write, Access) and write.completion is not None
    who = "lane of the warp" if conflict.is_intra_warp else "warp"
    read = conflict.read.event.effect
    if isinstance(read, Access) and read.kind == "write":
        return Finding(
            primary=conflict.read.event.step,
            message=f"stores to {name}, where copies of other threads go at line {{1}}: nothing orders the two",
            labels=((conflict.write.event.step, f"copy into the same bytes, by another {who}"),),
            help="wait for the copies in the threads that issued them, then add a barrier, before the store"
            if not conflict.is_write_after_read
            else "add a barrier between the store and the copies",
            properties={"space": "shared::cta", "hazard": "write after write"},
            group_key=conflict.write.event.step,
        )
    if conflict.is_write_after_read:
        barrier = find_barrier_between(world, conflict.read, conflict.write)
        verb = "copies into" if copies else "writes"
        return Finding(
            primary=conflict.write.event.step,
            message=f"{verb} {name}, which other threads may still be reading at line {{1}}: nothing orders the two",
            labels=((conflict.read.event.step, f"read of the old contents, by another {who}"), *release_label(barrier)),
            help=format_barrier_help(barrier, "between the read and the next write of these bytes", "readers"),
            properties={"space": "shared::cta", "hazard": "write after read", "barrier": barrier.sole_text},
            group_key=conflict.read.event.step,
            fixes=barrier_fixes(barrier, conflict.read.event.step, conflict.write.event.step),
        )
    barrier = find_barrier_between(world, conflict.write, conflict.read)
    return Finding(
        primary=conflict.read.event.step,
        message=f"reads {name}, which other threads write at line {{1}}: nothing orders the two",
        labels=((conflict.write.event.step, f"write by another {who}"), *release_label(barrier)),
        help=format_barrier_help(barrier, "between the write and the read", "writers"),
        properties={"space": "shared::cta", "hazard": "read after write", "barrier": barrier.sole_text},
        group_key=conflict.write.event.step,
        fixes=barrier_fixes(barrier, conflict.write.event.step, conflict.read.event.step),
    )


def _equal_stores_finding(world: ScenarioFacts, conflict: Race) -> Finding:
    """All races of this kind for one variable are one finding: one barrier behind the stores settles them."""
    name = world.name_of(conflict.write.event)
    finding = _finding(world, conflict)
    return replace(
        finding,
        message=(
            f"formally a race: threads store equal values to {name} at line {{1}}, and read them here with nothing that"
            " orders the threads"
        ),
        labels=((conflict.write.event.step, "every thread stores the same value here"), *finding.labels[1:]),
        group_key=("equal values", name),
    )


RULE = Rule("PTX621", "shared-memory-race", ("Conflict and Data-Races", "Causality Order", "bar / barrier"), check)
