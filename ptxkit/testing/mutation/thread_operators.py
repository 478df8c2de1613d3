"""Instructions that the wrong threads execute: all instead of one, or one instead of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptxkit.analysis.ir.program import Step
from ptxkit.isa.effects import (
    Access,
    Barrier,
    CommitGroup,
    Control,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierInit,
    ProxyFence,
    RegisterCount,
    RegisterFence,
    TensorMemory,
    WaitGroup,
)
from ptxkit.testing.limits import MAX_REGION_STEPS
from ptxkit.testing.mutation.edits import MutationEdit, remove_guard, restrict_to_one_thread, splice_text
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.mutation.mutation_operator import MutationOperator, Search

# ------------------------------------------------------------------------------------- all for one


def _broken_rules(reading: FunctionAnalysis, steps: list[Step]) -> tuple[str, ...]:
    """Returns the rules that are violated if several threads execute these steps."""
    if any(reading.effects(each, MbarrierInit) for each in steps):
        return ("MB4",)
    if any(reading.effects(each, MbarrierArrive) for each in steps):
        copies = any(reading.effects(each, MbarrierComplete) for each in steps)
        return ("MB7", "BK10") if copies else ("MB7",)
    if any(reading.effects(each, MbarrierComplete) for each in steps):
        return ("BK5",)
    return ()


def _execute_by_all(wanted: tuple[str, ...]) -> Search:
    def search(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
        for step in reading.steps:
            guard = step.instruction.guard
            if guard is None or not reading.depends_on_thread(step, guard.predicate):
                continue
            skipped = _skipped_region(reading, step)
            if _broken_rules(reading, [step])[:1] == wanted:
                yield remove_guard(reading, step, _broken_rules(reading, [step]))
            elif skipped and _broken_rules(reading, skipped)[:1] == wanted:
                description = f"`{reading.text(step)}` deleted, so that all threads continue"
                yield MutationEdit(
                    step.start, description, (splice_text(reading, step, ""),), _broken_rules(reading, skipped)
                )

    return search


def _skipped_region(reading: FunctionAnalysis, branch: Step) -> list[Step]:
    """Returns the steps that a forward branch skips, if they are few and no thread waits for others in them."""
    targets = branch.targets
    if len(targets) != 1 or not branch.index < targets[0] <= branch.index + MAX_REGION_STEPS:
        return []
    region = list(reading.steps[branch.index + 1 : targets[0]])
    for each in region:
        if any(barrier.level == "cta" for barrier in reading.effects(each, Barrier)):
            return []
        if any(effect.kind in ("return", "exit", "trap") for effect in reading.effects(each, Control)):
            return []
    return region


# ------------------------------------------------------------------------------------- one for all


def _execute_by_one(test: Callable[[FunctionAnalysis, Step], tuple[str, ...] | None]) -> Search:
    def search(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
        for step in reading.steps:
            rules = test(reading, step)
            if rules is not None and reading.is_executed_by_all(step):
                yield restrict_to_one_thread(reading, step, rules)

    return search


def _barrier(reading: FunctionAnalysis, step: Step) -> tuple[str, ...] | None:
    for barrier in reading.effects(step, Barrier):
        if barrier.level == "cluster":
            return ("CL3",)
        if barrier.level == "cta" and barrier.action == "sync":
            return ("BR2",)
    return None


def _fence(reading: FunctionAnalysis, step: Step) -> tuple[str, ...] | None:
    """Returns the violated rules of a fence before a barrier of the CTA, which publishes what every thread wrote."""
    if not any(fence.proxy == "async" for fence in reading.effects(step, ProxyFence)):
        return None
    for later in reading.following_steps(step):
        if reading.has_access(later, lambda access: access.proxy == "async"):
            return None
        if any(barrier.level == "cta" for barrier in reading.effects(later, Barrier)):
            return ("PX9",)
    return None


def _wait(reading: FunctionAnalysis, step: Step) -> tuple[str, ...] | None:
    waits = reading.effects(step, WaitGroup)
    return ("CA5",) if any(wait.group == "cp.async" for wait in waits) else None


def _commit(reading: FunctionAnalysis, step: Step) -> tuple[str, ...] | None:
    return ("CA3",) if any(each.group == "cp.async" for each in reading.effects(step, CommitGroup)) else None


def _collective(reading: FunctionAnalysis, step: Step) -> tuple[str, ...] | None:
    """Returns the violated rules of an instruction that a whole warp or warpgroup executes together."""
    groups = [each.group for each in reading.effects(step, WaitGroup)]
    groups += [each.group for each in reading.effects(step, CommitGroup)]
    if reading.effects(step, RegisterFence) or "wgmma" in groups:
        return ("WG5",)
    if reading.effects(step, RegisterCount):
        return ("BR9",)
    if reading.effects(step, Access) and any(f.proxy == "tensormap" for f in reading.effects(step, ProxyFence)):
        return ("TM6",)
    if reading.effects(step, TensorMemory) or any(group.startswith("tcgen05") for group in groups):
        return ("TC1",)
    return None


def _collective_anywhere(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step in reading.steps:
        rules = _collective(reading, step)
        if rules is not None and step.instruction.guard is None:
            yield restrict_to_one_thread(reading, step, rules)


OPERATORS = (
    MutationOperator("init-by-all", ("MB4",), _execute_by_all(("MB4",))),
    MutationOperator("arrive-by-all", ("MB7",), _execute_by_all(("MB7",))),
    MutationOperator("copy-by-all", ("BK5",), _execute_by_all(("BK5",))),
    MutationOperator("barrier-by-one", ("BR2",), _execute_by_one(_barrier)),
    MutationOperator("fence-by-one", ("PX9",), _execute_by_one(_fence)),
    MutationOperator("group-wait-by-one", ("CA5",), _execute_by_one(_wait)),
    MutationOperator("commit-by-one", ("CA3",), _execute_by_one(_commit)),
    MutationOperator("collective-by-one", ("WG5", "TC1", "BR9", "TM6"), _collective_anywhere),
)
