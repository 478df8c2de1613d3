"""What is late without a wait or a commit, against a simulation of random sequences and of loops around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import pytest

from ptxkit.analysis.abstract_interpretation.group_counts import largest_group_counts
from ptxkit.analysis.abstract_interpretation.late_completion import DeletedGroupSync, LateCompletion
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import Access, CommitGroup, WaitGroup
from tests.analysis.support import module_of, program_of

COPY = "cp.async.ca.shared.global [%r1], [%rd1], 16;"
LINES = (
    *(COPY, "cp.async.commit_group;", "cp.async.commit_group;", "ld.shared.u32 %r2, [%r1];"),
    *(f"cp.async.wait_group {left};" for left in range(3)),
    "cp.async.wait_all;",
)


def programs(seed: int) -> Iterator[tuple[Program, list[Sequence[Step]]]]:
    """Programs with some of their executions: without a loop, and with a loop that is executed several times."""
    random = Random(seed)
    lines = [random.choice(LINES) for _ in range(random.randrange(3, 12))]
    plain = program_of(module_of("\n".join(lines)))
    yield plain, [plain.own_effectful_steps]
    first, last = sorted((random.randrange(len(lines)), random.randrange(len(lines))))
    inside = ["again:", *lines[first : last + 1], "setp.ne.u32 %p1, %r2, %r3;", "@%p1 bra again;"]
    looped = program_of(module_of("\n".join([*lines[:first], *inside, *lines[last + 1 :]])))
    steps = looped.own_effectful_steps
    count = last - first + 2  # with the branch
    rounds = (
        [*steps[:first], *(steps[first : first + count] * times), *steps[first + count :]] for times in range(1, 5)
    )
    yield looped, list(rounds)


def completion_counts(execution: Sequence[Step], deleted: Step | None = None) -> Iterator[int]:
    """Yields, before each step of an execution, the number of copies that are complete."""
    copies, done, groups = 0, 0, [0]
    for step in execution:
        yield done
        for effect in step.effects if step is not deleted else ():
            if isinstance(effect, Access) and effect.completion and effect.kind == "write":
                copies += 1
            if isinstance(effect, CommitGroup) or (isinstance(effect, WaitGroup) and effect.commits):
                groups.append(copies)
            if isinstance(effect, WaitGroup):
                operand = step.instruction.operands
                left = operand[0].value if operand else 0
                done = max(done, groups[max(len(groups) - 1 - left, 0)])


def deletion(step: Step) -> DeletedGroupSync | None:
    for effect in step.effects:
        if isinstance(effect, CommitGroup):
            return DeletedGroupSync(step, "cp.async", -1, read_only=False, is_late=False)
        if isinstance(effect, WaitGroup):
            kept = -1 if effect.commits else step.instruction.operands[0].value
            return DeletedGroupSync(step, "cp.async", kept, read_only=False, is_late=True)
    return None


@pytest.mark.parametrize("seed", range(150))
def test_nothing_is_complete_later_than_it_is_found_to_be(seed: int) -> None:
    for program, executions in programs(seed):
        for step in program.own_effectful_steps:
            deleted = deletion(step)
            if deleted is None:
                continue
            late = LateCompletion(program, deleted)
            for execution in executions:
                before, after = list(completion_counts(execution)), list(completion_counts(execution, step))
                found = {each for each, one, other in zip(execution, before, after, strict=True) if other < one}
                assert found <= late.steps
                assert before[-1] <= after[-1] or late.reaches_exit


@pytest.mark.parametrize("seed", range(150))
def test_no_more_groups_are_pending_than_are_counted(seed: int) -> None:
    for program, executions in programs(seed):
        counts = largest_group_counts(program)
        for step in counts:
            effect = step.effects[0]
            if not isinstance(effect, WaitGroup) or effect.commits:
                continue
            if counts[step].get("cp.async", (0, 0))[0] <= step.instruction.operands[0].value:
                for execution in executions:
                    assert list(completion_counts(execution)) == list(completion_counts(execution, step))


def test_a_wait_is_replaced_by_a_later_one_that_leaves_as_few_groups_pending() -> None:
    program = program_of(
        module_of(
            f"{COPY} cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %r3, [%r2]; {COPY}"
            " cp.async.commit_group; cp.async.wait_group 1; ld.shared.u32 %r4, [%r1];"
        )
    )
    waits = [each for each in program.own_effectful_steps if isinstance(each.effects[0], WaitGroup)]
    late = LateCompletion(program, DeletedGroupSync(waits[0], "cp.async", 0, read_only=False, is_late=True))
    assert late.instead == {waits[1]}
    assert not late.reaches_exit
    assert [each.index for each in late.steps] != []
    assert max(each.index for each in late.steps) == waits[1].index


def test_a_wait_for_reads_replaces_no_wait_for_writes() -> None:
    store = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;"
    body = f"{store} cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; cp.async.bulk.wait_group.read 0;"
    program = program_of(module_of(body))
    wait = next(each for each in program.own_effectful_steps if isinstance(each.effects[0], WaitGroup))
    for read_only in (False, True):
        deleted = DeletedGroupSync(wait, "bulk", 0, read_only=read_only, is_late=True)
        assert LateCompletion(program, deleted).reaches_exit is not read_only
