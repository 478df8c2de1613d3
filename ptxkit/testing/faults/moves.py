"""The right instruction in the wrong place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set

from ptxkit.analysis.program import Step
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
from ptxkit.syntax.tree import Operand
from ptxkit.testing.faults.changes import Change, moved_after, moved_before
from ptxkit.testing.faults.deletions import handed_over, is_spare, waits_for_nothing
from ptxkit.testing.faults.family import Operator
from ptxkit.testing.faults.reading import Reading, names_in, operand, read_names, written
from ptxkit.testing.faults.spare import is_of_one_warpgroup, only_computes

Test = Callable[[Step], bool]


def _first(steps: Iterable[Step], test: Test) -> Step | None:
    return next((each for each in steps if test(each)), None)


def _lifted(reading: Reading, step: Step, place: Step, rules: tuple[str, ...] | None = None) -> Change | None:
    """A step moved in front of an earlier one; None where something that it reads is computed in between."""
    between = reading.steps[place.index : step.index]
    made = {each.scope.register(name) for each in between for name in written(each)}
    if made & {step.scope.register(name) for name in read_names(step)}:
        return None
    return moved_before(reading, step, place, rules)


# ------------------------------------------------------------------------------------------ fences


def last_write(reading: Reading, step: Step, spaces: tuple[str, ...]) -> Step | None:
    """The nearest generic write above a step, in the order of the text, to `shared` or `global` memory as asked."""

    def writes(access: Access) -> bool:
        kind = access.space.partition("::")[0]
        return access.kind != "read" and access.proxy == "generic" and kind in (*spaces, "generic")

    return _first(reversed(reading.steps[: step.index]), lambda each: reading.accesses(each, writes))


def fenced(fence: ProxyFence) -> tuple[str, ...]:
    """The kinds of memory that a fence covers."""
    return tuple(dict.fromkeys(space.partition("::")[0] for space in fence.spaces)) or ("shared", "global")


def is_asynchronous(reading: Reading, step: Step) -> bool:
    return reading.accesses(step, lambda access: access.proxy == "async")


def async_fences(reading: Reading) -> Iterator[tuple[Step, ProxyFence]]:
    """The fences between the generic and the async proxy that order both ways."""
    for step, fence in reading.having(ProxyFence):
        if fence.proxy == "async" and fence.direction == "both":
            yield step, fence


def _fence_too_early(reading: Reading) -> Iterator[Change | None]:
    """Before the last of the writes that it is for, in the order of the text.

    Where a tensor map alone says which bytes the copy behind it reads, before them all: it may read the first only.
    """
    for step, fence in async_fences(reading):
        last = last_write(reading, step, fenced(fence))
        if last is None or any(is_asynchronous(reading, each) for each in reading.steps[last.index : step.index]):
            continue
        if _next_copy_is_of_a_box(reading, step):
            last = _first_write(reading, last)
        yield _lifted(reading, step, last)


def _next_copy_is_of_a_box(reading: Reading, step: Step) -> bool:
    """Whether the next asynchronous read of shared memory, in the order of the text, is one by a tensor map."""
    following = reading.steps[step.index + 1 :]
    reads = (
        access
        for each in following
        for access in reading.effects(each, Access)
        if access.proxy == "async" and access.kind == "read" and access.space.startswith("shared")
    )
    copy = next(reads, None)
    return copy is not None and copy.via == "address" and copy.size is None


def _first_write(reading: Reading, last: Step) -> Step:
    """The first generic write to shared memory since what came before: a barrier, a wait, an asynchronous operation."""
    found = last
    for each in reversed(reading.steps[: last.index]):
        waits = bool(reading.effects(each, WaitGroup)) or bool(reading.effects(each, MbarrierWait))
        if waits or reading.barriers(each) or is_asynchronous(reading, each):
            break
        if reading.accesses(each, lambda access: access.kind != "read" and access.space.startswith("shared")):
            found = each
    return found


def _fence_too_late(reading: Reading) -> Iterator[Change]:
    """After the asynchronous operation that it is for."""
    for step, _ in async_fences(reading):
        used = _first(reading.steps[step.index + 1 :], lambda each: is_asynchronous(reading, each))
        if used is not None:
            yield moved_after(reading, step, used)


def _acquire_too_late(reading: Reading) -> Iterator[Change]:
    """After the copy by the tensor map that it is for."""
    for step, fence in reading.having(ProxyFence):
        if (fence.proxy, fence.direction) != ("tensormap", "acquire"):
            continue
        names = {step.scope.register(name) for name in names_in(operand(step, fence.address))}
        used = _first(
            reading.steps[step.index + 1 :],
            lambda each, names=names: reading.accesses(  # type: ignore[misc]
                each,
                lambda access: (
                    access.proxy == "tensormap"
                    and bool(access.completion)
                    and (not names or _comes_of(reading, each, operand(each, access.address), names))
                ),
            ),
        )
        if used is not None:
            yield moved_after(reading, step, used)


def _comes_of(reading: Reading, step: Step, given: Operand | None, registers: Set[str]) -> bool:
    """Whether an operand is one of these registers, or computed from one."""
    named = names_in(given)
    if any(step.scope.register(name) in registers for name in named):
        return True
    return any(
        each.scope.register(name) in registers for each in reading.origins(step, named) for name in read_names(each)
    )


# ---------------------------------------------------------------------------------------- barriers


def _barrier_too_early(reading: Reading) -> Iterator[Change | None]:
    """Before the last access to shared memory that it is to end."""
    for step, barrier in reading.having(Barrier):
        if barrier.level != "cta" or barrier.action != "sync" or step.instruction.guard is not None:
            continue
        last = _first(reading.before(step), lambda each: _ends(reading, each))
        if last is not None and not reading.barriers(last):
            waits = reading.effects(last, WaitGroup)
            spare = is_spare(reading, step) or (bool(waits) and _tells_of_no_wait(reading, step, last, waits[0]))
            yield _lifted(reading, step, last, () if spare else handed_over(reading, step))


def _tells_of_no_wait(reading: Reading, step: Step, last: Step, wait: WaitGroup) -> bool:
    """Whether a barrier may as well stand before a wait, the last thing before it: that is for nothing, all who meet
    wait themselves for what they do together, or nobody needs to know of it before the next barrier."""
    if waits_for_nothing(reading, last, wait):
        return True
    if wait.group in ("tcgen05.ld", "tcgen05.st"):
        return not reading.may_come_after(step, lambda each: _uses_tensors(reading, each), reading.is_of_all)
    between = reading.steps[last.index + 1 : step.index]
    return wait.group == "wgmma" and is_of_one_warpgroup(reading, step) and only_computes(reading, between)


def _uses_tensors(reading: Reading, step: Step) -> bool:
    """Whether an instruction may need to know that the warps have stored and loaded their lanes of Tensor Memory: one
    that works on all lanes, gives columns back, or tells somebody else."""
    tells = bool(reading.effects(step, TensorMemory)) or bool(reading.effects(step, MbarrierArrive))
    if step.match is None or tells:
        return True
    calls = any(control.kind == "call" for control in reading.effects(step, Control))
    others = any(each.level != "warp" for each in reading.barriers(step)) and not reading.is_of_all(step)
    return calls or others or reading.accesses(step, lambda access: access.completion == "tcgen05")


def _ends(reading: Reading, step: Step) -> bool:
    """Whether a step is what a barrier behind it makes known: an access to shared memory that is over then, a wait,
    another barrier."""
    shared = reading.accesses(step, lambda access: access.space.startswith("shared") and access.completion is None)
    return shared or bool(reading.barriers(step) or reading.effects(step, WaitGroup))


def _wait_too_late(reading: Reading) -> Iterator[Change]:
    """A wait for the thread's own copies behind the barrier that is to tell the others."""
    for step, wait in reading.having(WaitGroup):
        barrier = _first(reading.after(step), lambda each: _is_barrier(reading, each))
        if barrier is not None and wait.group in ("cp.async", "bulk"):
            broken = ("CA2",) if wait.group == "cp.async" else ("BK9", "BK12")
            yield moved_after(reading, step, barrier, () if waits_for_nothing(reading, step, wait) else broken)


def _is_barrier(reading: Reading, step: Step) -> bool:
    return any(each.level == "cta" and each.action == "sync" for each in reading.barriers(step))


def _commit_too_early(reading: Reading) -> Iterator[Change | None]:
    """Before the last operation that belongs in its group."""
    rules = {"cp.async": ("CA3", "CA4"), "bulk": ("BK7",), "wgmma": ("WG4",)}
    for step, commit in reading.having(CommitGroup):
        last = _first(reading.before(step), lambda each, group=commit.group: _joins(reading, each, group))  # type: ignore[misc]
        if last is not None:
            yield _lifted(reading, step, last, rules[commit.group])


def _joins(reading: Reading, step: Step, group: str) -> bool:
    return reading.accesses(step, lambda access: access.completion == group)


def _tensor_commit_too_early(reading: Reading) -> Iterator[Change | None]:
    for step, arrive in reading.having(MbarrierArrive):
        if arrive.asynchronous:
            last = _first(reading.before(step), lambda each: _joins(reading, each, "tcgen05"))
            if last is not None:
                yield _lifted(reading, step, last)


def _arrive_too_early(reading: Reading) -> Iterator[Change | None]:
    """Before the last access that the arrival says is done."""
    for step, arrive in reading.having(MbarrierArrive):
        if arrive.asynchronous or arrive.expect is not None or step.instruction.guard is not None:
            continue
        last = _first(reading.before(step), lambda each: _ends(reading, each))
        if last is not None and not reading.barriers(last):
            yield _lifted(reading, step, last)


OPERATORS = (
    Operator("fence-too-early", ("PX9",), _fence_too_early),
    Operator("fence-too-late", ("PX1",), _fence_too_late),
    Operator("acquire-too-late", ("TM2",), _acquire_too_late),
    Operator("barrier-too-early", ("race",), _barrier_too_early),
    Operator("group-wait-too-late", ("CA2",), _wait_too_late),
    Operator("commit-too-early", ("CA3",), _commit_too_early),
    Operator("tcgen05-commit-too-early", ("TC9",), _tensor_commit_too_early),
    Operator("arrive-too-early", ("MB18",), _arrive_too_early),
)
