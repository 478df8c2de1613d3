"""Moves a correct instruction to a wrong place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set

from ptxkit.analysis.ir.program import Step
from ptxkit.isa.effects import (
    Access,
    Barrier,
    CommitGroup,
    Control,
    MbarrierArrive,
    MbarrierWait,
    ProxyFence,
    TensorMemory,
    WaitGroup,
)
from ptxkit.syntax.tree import Operand, operand_names
from ptxkit.testing.mutation.deletion_operators import is_empty_wait, is_redundant_barrier, published_rules
from ptxkit.testing.mutation.edits import MutationEdit, move_after, move_before
from ptxkit.testing.mutation.function_analysis import (
    FunctionAnalysis,
    read_registers,
    written_registers,
)
from ptxkit.testing.mutation.mutation_operator import MutationOperator
from ptxkit.testing.mutation.redundancy import has_only_computation, is_warpgroup_barrier

Test = Callable[[Step], bool]


def _find_first(steps: Iterable[Step], test: Test) -> Step | None:
    return next((each for each in steps if test(each)), None)


def _move_up(
    reading: FunctionAnalysis, step: Step, place: Step, rules: tuple[str, ...] | None = None
) -> MutationEdit | None:
    """Moves a step before an earlier one; None if one of its inputs is computed in between."""
    between = reading.steps[place.index : step.index]
    made = {each.scope.register_name(name) for each in between for name in written_registers(each)}
    if made & {step.scope.register_name(name) for name in read_registers(step)}:
        return None
    return move_before(reading, step, place, rules)


# ------------------------------------------------------------------------------------------ fences


def last_write(reading: FunctionAnalysis, step: Step, spaces: tuple[str, ...]) -> Step | None:
    """Returns the nearest generic write to `shared` or `global` memory before a step, in the order of the text, or
    None.
    """

    def writes(access: Access) -> bool:
        kind = access.space.partition("::")[0]
        return access.kind != "read" and access.proxy == "generic" and kind in (*spaces, "generic")

    return _find_first(reversed(reading.steps[: step.index]), lambda each: reading.has_access(each, writes))


def fenced_spaces(fence: ProxyFence) -> tuple[str, ...]:
    """Returns the state spaces that a fence covers."""
    return tuple(dict.fromkeys(space.partition("::")[0] for space in fence.spaces)) or ("shared", "global")


def is_asynchronous(reading: FunctionAnalysis, step: Step) -> bool:
    return reading.has_access(step, lambda access: access.proxy == "async")


def async_fences(reading: FunctionAnalysis) -> Iterator[tuple[Step, ProxyFence]]:
    """Yields the fences between the generic and the async proxy that order in both directions."""
    for step, fence in reading.steps_with(ProxyFence):
        if fence.proxy == "async" and fence.direction == "both":
            yield step, fence


def _fence_too_early(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Moves a fence before the last of the writes that it orders, in the order of the text.

    If only a tensor map determines the bytes that the next copy reads, the fence is moved before all writes, because
    the copy may read the first one only.
    """
    for step, fence in async_fences(reading):
        last = last_write(reading, step, fenced_spaces(fence))
        if last is None or any(is_asynchronous(reading, each) for each in reading.steps[last.index : step.index]):
            continue
        if _is_next_copy_tensor(reading, step):
            last = _first_write(reading, last)
        yield _move_up(reading, step, last)


def _is_next_copy_tensor(reading: FunctionAnalysis, step: Step) -> bool:
    """Returns whether the next asynchronous read of shared memory, in the order of the text, uses a tensor map."""
    following = reading.steps[step.index + 1 :]
    reads = (
        access
        for each in following
        for access in reading.effects(each, Access)
        if access.proxy == "async" and access.kind == "read" and access.space.startswith("shared")
    )
    copy = next(reads, None)
    return copy is not None and copy.via == "address" and copy.size is None


def _first_write(reading: FunctionAnalysis, last: Step) -> Step:
    """The first generic write to shared memory since the last barrier, wait, or asynchronous operation."""
    found = last
    for each in reversed(reading.steps[: last.index]):
        waits = bool(reading.effects(each, WaitGroup)) or bool(reading.effects(each, MbarrierWait))
        if waits or reading.barriers(each) or is_asynchronous(reading, each):
            break
        if reading.has_access(each, lambda access: access.kind != "read" and access.space.startswith("shared")):
            found = each
    return found


def _fence_too_late(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
    """Moves a fence after the asynchronous operation that it orders."""
    for step, _ in async_fences(reading):
        used = _find_first(reading.steps[step.index + 1 :], lambda each: is_asynchronous(reading, each))
        if used is not None:
            yield move_after(reading, step, used)


def _acquire_too_late(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
    """Moves an acquire after the copy that uses the tensor map."""
    for step, fence in reading.steps_with(ProxyFence):
        if (fence.proxy, fence.direction) != ("tensormap", "acquire"):
            continue
        names = {step.scope.register_name(name) for name in operand_names(step.operand(fence.address))}
        used = _find_first(
            reading.steps[step.index + 1 :],
            lambda each, names=names: reading.has_access(  # type: ignore[misc]
                each,
                lambda access: (
                    access.proxy == "tensormap"
                    and bool(access.completion)
                    and (not names or _is_derived_from(reading, each, each.operand(access.address), names))
                ),
            ),
        )
        if used is not None:
            yield move_after(reading, step, used)


def _is_derived_from(reading: FunctionAnalysis, step: Step, given: Operand | None, registers: Set[str]) -> bool:
    """Returns whether an operand is one of these registers, or computed from one."""
    named = list(operand_names(given))
    if any(step.scope.register_name(name) in registers for name in named):
        return True
    return any(
        each.scope.register_name(name) in registers
        for each in reading.origins(step, named)
        for name in read_registers(each)
    )


# ---------------------------------------------------------------------------------------- barriers


def _barrier_too_early(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Moves a barrier before the last access to shared memory that it orders."""
    for step, barrier in reading.steps_with(Barrier):
        if barrier.level != "cta" or barrier.action != "sync" or step.instruction.guard is not None:
            continue
        last = _find_first(reading.preceding_steps(step), lambda each: _is_published_by_barrier(reading, each))
        if last is not None and not reading.barriers(last):
            waits = reading.effects(last, WaitGroup)
            spare = is_redundant_barrier(reading, step) or (
                bool(waits) and _publishes_no_wait(reading, step, last, waits[0])
            )
            yield _move_up(reading, step, last, () if spare else published_rules(reading, step))


def _publishes_no_wait(reading: FunctionAnalysis, step: Step, last: Step, wait: WaitGroup) -> bool:
    """Returns whether a barrier may also be before a wait that directly precedes it: the wait has no effect, or all
    threads themselves wait for what they use, or no thread needs the result before the next barrier.
    """
    if is_empty_wait(reading, last, wait):
        return True
    if wait.group in ("tcgen05.ld", "tcgen05.st"):
        return not reading.may_be_followed_by(
            step, lambda each: _depends_on_tensor_lanes(reading, each), reading.is_cta_wide_barrier
        )
    between = reading.steps[last.index + 1 : step.index]
    return wait.group == "wgmma" and is_warpgroup_barrier(reading, step) and has_only_computation(reading, between)


def _depends_on_tensor_lanes(reading: FunctionAnalysis, step: Step) -> bool:
    """Returns whether an instruction may depend on the loads and stores of all warps to their lanes of Tensor Memory:
    one that accesses all lanes, frees columns, or signals another thread.
    """
    signals = bool(reading.effects(step, TensorMemory)) or bool(reading.effects(step, MbarrierArrive))
    if step.match is None or signals:
        return True
    calls = any(control.kind == "call" for control in reading.effects(step, Control))
    others = any(each.level != "warp" for each in reading.barriers(step)) and not reading.is_cta_wide_barrier(step)
    return calls or others or reading.has_access(step, lambda access: access.completion == "tcgen05")


def _is_published_by_barrier(reading: FunctionAnalysis, step: Step) -> bool:
    """Returns whether a barrier after a step publishes it: an access to shared memory that is complete then, a wait, or
    another barrier.
    """
    shared = reading.has_access(step, lambda access: access.space.startswith("shared") and access.completion is None)
    return shared or bool(reading.barriers(step) or reading.effects(step, WaitGroup))


def _wait_too_late(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
    """Moves the wait of a thread for its own copies after the barrier that signals the other threads."""
    for step, wait in reading.steps_with(WaitGroup):
        barrier = _find_first(reading.following_steps(step), lambda each: _is_barrier(reading, each))
        if barrier is not None and wait.group in ("cp.async", "bulk"):
            broken = ("CA2",) if wait.group == "cp.async" else ("BK9", "BK12")
            yield move_after(reading, step, barrier, () if is_empty_wait(reading, step, wait) else broken)


def _is_barrier(reading: FunctionAnalysis, step: Step) -> bool:
    return any(each.level == "cta" and each.action == "sync" for each in reading.barriers(step))


def _commit_too_early(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Moves a commit before the last operation that belongs to its group."""
    rules = {"cp.async": ("CA3", "CA4"), "bulk": ("BK7",), "wgmma": ("WG4",)}
    for step, commit in reading.steps_with(CommitGroup):
        last = _find_first(
            reading.preceding_steps(step),
            lambda each, group=commit.group: _belongs_to_group(reading, each, group),  # type: ignore[misc]
        )
        if last is not None:
            yield _move_up(reading, step, last, rules[commit.group])


def _belongs_to_group(reading: FunctionAnalysis, step: Step, group: str) -> bool:
    return reading.has_access(step, lambda access: access.completion == group)


def _tensor_commit_too_early(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step, arrive in reading.steps_with(MbarrierArrive):
        if arrive.asynchronous:
            last = _find_first(reading.preceding_steps(step), lambda each: _belongs_to_group(reading, each, "tcgen05"))
            if last is not None:
                yield _move_up(reading, step, last)


def _arrive_too_early(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Moves an arrival before the last access that it signals."""
    for step, arrive in reading.steps_with(MbarrierArrive):
        if arrive.asynchronous or arrive.expect is not None or step.instruction.guard is not None:
            continue
        last = _find_first(reading.preceding_steps(step), lambda each: _is_published_by_barrier(reading, each))
        if last is not None and not reading.barriers(last):
            yield _move_up(reading, step, last)


OPERATORS = (
    MutationOperator("fence-too-early", ("PX9",), _fence_too_early),
    MutationOperator("fence-too-late", ("PX1",), _fence_too_late),
    MutationOperator("acquire-too-late", ("TM2",), _acquire_too_late),
    MutationOperator("barrier-too-early", ("race",), _barrier_too_early),
    MutationOperator("group-wait-too-late", ("CA2",), _wait_too_late),
    MutationOperator("commit-too-early", ("CA3",), _commit_too_early),
    MutationOperator("tcgen05-commit-too-early", ("TC9",), _tensor_commit_too_early),
    MutationOperator("arrive-too-early", ("MB18",), _arrive_too_early),
)
