"""Wrong numbers: pending groups, arrivals, bytes, threads, or the number of a barrier."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import (
    Access,
    Barrier,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierTrack,
    RegisterCount,
    WaitGroup,
)
from ptxkit.isa.expressions import Expression, OperandRole
from ptxkit.syntax.tree import Instruction, Integer
from ptxkit.testing.mutation.deletion_operators import is_empty_wait
from ptxkit.testing.mutation.edits import (
    MutationEdit,
    combine_with_number,
    duplicate_step,
    replace_step,
    resolve_constant,
)
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.mutation.mutation_operator import MutationOperator, Search
from ptxkit.testing.mutation.respelling import respell, shorten

_WAITS = {"cp.async": ("CA4",), "bulk": ("BK9", "BK12"), "wgmma": ("WG3",)}
_EIGHT, _SIXTEEN = 8, 16
_LAST = 15


def _role_name(expression: Expression | None) -> str | None:
    return expression.name if isinstance(expression, OperandRole) else None


# ------------------------------------------------------------------------------------------ groups


def _wait_for_less(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step, wait in reading.steps_with(WaitGroup):
        role = _role_name(wait.pending)
        if role is not None:
            idle = wait.group in ("bulk", "cp.async") and is_empty_wait(reading, step, wait)
            yield combine_with_number(reading, step, role, 1, () if idle else _WAITS.get(wait.group))


def _wait_for_reads(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Limits a wait to the sources. This breaks later reads of the results, or their publication."""
    for step, wait in reading.steps_with(WaitGroup):
        if wait.group == "bulk" and not wait.read_only:
            new = respell(step, (wait, replace(wait, read_only=True)))
            later = any(
                reading.has_access(each, _may_read_or_publish_results) for each in reading.steps[step.index + 1 :]
            )
            if new is not None:
                yield replace_step(reading, step, [new], ("BK8",) if later else ())


def _may_read_or_publish_results(access: Access) -> bool:
    """Returns whether an access may read what was copied, or signal to other threads that it is available."""
    in_reach = access.space in ("global", "generic") and access.proxy == "generic"
    return in_reach and (access.kind != "write" or access.order != "weak")


def _wait_for_the_other_kind(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    other = {"cp.async": "bulk", "bulk": "cp.async"}
    for step, wait in reading.steps_with(WaitGroup):
        if wait.group in other and not wait.commits:
            new = respell(step, (wait, replace(wait, group=other[wait.group], read_only=False)))
            yield replace_step(reading, step, [new]) if new is not None else None


# ---------------------------------------------------------------------------------------- arrivals


def _init_count(number: int) -> Search:
    def search(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
        for step, init in reading.steps_with(MbarrierInit):
            role = _role_name(init.count)
            given = resolve_constant(init.count, reading, step)
            if role is not None and (given is None or given + number > 0):
                yield combine_with_number(reading, step, role, number)

    return search


def _arrival_count(number: int) -> Search:
    def search(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
        for step, arrive in reading.steps_with(MbarrierArrive):
            role = _role_name(arrive.count)
            given = resolve_constant(arrive.count, reading, step)
            if role is not None and given is not None and given + number > 0:
                yield combine_with_number(reading, step, role, number)

    return search


def _toggle_noinc(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step, track in reading.steps_with(MbarrierTrack):
        new = respell(step, (track, replace(track, counted=not track.counted)))
        yield replace_step(reading, step, [new]) if new is not None else None


# ------------------------------------------------------------------------------------------- bytes


def _change_expected_bytes(change: Callable[[int], int], boxes: tuple[str, ...] | None) -> Search:
    """Changes the bytes that a phase expects. change: a function of the correct number, which is 0 if it is unknown.
    boxes: the rules violated if the phase includes the bytes of a tensor copy, which the map determines; None: no
    mutant.

    There is no mutant either if other expectations are unchanged, because they may be for the same map.
    """

    def search(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
        unknown = any(each.size is None for _, each in reading.steps_with(MbarrierComplete))
        found = list(_expect_tx_steps(reading))
        for step, role, given in found:
            if not unknown or (boxes is not None and len(found) == 1):
                yield combine_with_number(reading, step, role, change(given or 0), boxes if unknown else None)

    return search


def _expect_tx_steps(reading: FunctionAnalysis) -> Iterator[tuple[Step, str, int | None]]:
    for step, arrive in reading.steps_with(MbarrierArrive):
        role = _role_name(arrive.expect)
        if role is not None:
            yield step, role, resolve_constant(arrive.expect, reading, step)
    for step, expect in reading.steps_with(MbarrierExpect):
        role = _role_name(expect.size)
        if role is not None:
            yield step, role, resolve_constant(expect.size, reading, step)


def _sixteen_more(_: int) -> int:
    return _SIXTEEN


def _half_bytes(given: int) -> int:
    return -(given // 2) if given > 1 else -_SIXTEEN


def _expect_twice(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step, _ in reading.steps_with(MbarrierExpect):
        yield duplicate_step(reading, step)
    for step, arrive in reading.steps_with(MbarrierArrive):
        if arrive.expect is not None:
            yield duplicate_step(reading, step, ("MB7", "BK5"))


def _arrive_without_bytes(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step, arrive in reading.steps_with(MbarrierArrive):
        plain = arrival_without_bytes(step, arrive)
        yield replace_step(reading, step, [plain]) if plain is not None else None


def _bytes_without_arrival(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step, arrive in reading.steps_with(MbarrierArrive):
        bytes_ = bytes_without_arrival(step, arrive)
        yield replace_step(reading, step, [bytes_]) if bytes_ is not None else None


def _arrive_before_expect(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step, arrive in reading.steps_with(MbarrierArrive):
        plain, bytes_ = arrival_without_bytes(step, arrive), bytes_without_arrival(step, arrive)
        if plain is not None and bytes_ is not None:
            yield replace_step(reading, step, [plain, bytes_])


def arrival_without_bytes(step: Step, arrive: MbarrierArrive) -> Instruction | None:
    """Returns the arrival of an arrive.expect_tx, without its bytes."""
    role = _role_name(arrive.expect)
    plain = replace(arrive, expect=None)
    return shorten(step, [role], plain, replace(plain, state=None)) if role is not None else None


def bytes_without_arrival(step: Step, arrive: MbarrierArrive) -> Instruction | None:
    """Returns the bytes of an arrive.expect_tx, without its arrival."""
    role = _role_name(arrive.expect)
    if role is None or arrive.expect is None or arrive.drop:
        return None
    wanted = MbarrierExpect(arrive.barrier, arrive.expect, arrive.space, arrive.multicast)
    return shorten(step, ["state"], wanted)


def _copy_size(number: int) -> Search:
    def search(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
        for step, complete in reading.steps_with(MbarrierComplete):
            role = _role_name(complete.size)
            given = resolve_constant(complete.size, reading, step)
            if role is not None and (given is None or given + number > 0) and reading.effects(step, Access):
                yield combine_with_number(reading, step, role, number)

    return search


# ---------------------------------------------------------------------------------------- barriers


def _barrier_number(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Moves one side of a barrier to another barrier. This is harmless if all others at that barrier only wait there,
    too.
    """
    sites = [(step, each, resolve_constant(each.number, reading, step)) for step, each in reading.steps_with(Barrier)]
    used = [number for _, barrier, number in sites if barrier.level == "cta"]
    for step, barrier, number in sites:
        role = _role_name(barrier.number)
        if barrier.level != "cta" or role is None or number is None or number > _LAST - 1:
            continue
        actions = {other.action for _, other, same in sites if other.level == "cta" and same == number}
        if "arrive" in actions:
            yield combine_with_number(reading, step, role, 1, ("BR3",))
        elif number + 1 not in used and None not in used and reading.is_executed_by_all(step):
            yield combine_with_number(reading, step, role, 1, ())


def _barrier_threads(number: int) -> Search:
    def search(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
        for step, barrier in reading.steps_with(Barrier):
            role = _role_name(barrier.threads)
            given = step.operand(role)
            if role is not None and isinstance(given, Integer) and given.value + number > 0:
                yield combine_with_number(reading, step, role, number)

    return search


def _more_registers(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Requests eight more registers for each thread of a warpgroup that increases them: the roles usually use all
    registers.
    """
    for step, setting in reading.steps_with(RegisterCount):
        role = _role_name(setting.count)
        if setting.action == "increase" and role is not None:
            yield combine_with_number(reading, step, role, _EIGHT)


OPERATORS = (
    MutationOperator("wait-for-less", ("CA4",), _wait_for_less),
    MutationOperator("wait-for-reads-only", ("BK8",), _wait_for_reads),
    MutationOperator("wait-for-the-other-kind", ("CA9",), _wait_for_the_other_kind),
    MutationOperator("init-count-more", ("MB7",), _init_count(1)),
    MutationOperator("init-count-less", ("MB7",), _init_count(-1)),
    MutationOperator("arrive-count-more", ("MB7",), _arrival_count(1)),
    MutationOperator("arrive-count-less", ("MB7",), _arrival_count(-1)),
    MutationOperator("track-otherwise", ("CA10",), _toggle_noinc),
    MutationOperator("expect-more", ("BK5",), _change_expected_bytes(_sixteen_more, None)),
    MutationOperator("expect-half", ("BK5",), _change_expected_bytes(_half_bytes, ())),
    MutationOperator("expect-twice", ("BK5",), _expect_twice),
    MutationOperator("expect-nothing", ("BK5",), _arrive_without_bytes),
    MutationOperator("expect-without-arrival", ("MB7", "MB10"), _bytes_without_arrival),
    MutationOperator("expect-after-arrival", ("MB9",), _arrive_before_expect),
    MutationOperator("copy-more", ("BK5",), _copy_size(_SIXTEEN)),
    MutationOperator("copy-less", ("BK5",), _copy_size(-_SIXTEEN)),
    MutationOperator("barrier-number", ("BR3",), _barrier_number),
    MutationOperator("barrier-threads-more", ("BR3",), _barrier_threads(32)),
    MutationOperator("barrier-threads-less", ("BR3",), _barrier_threads(-32)),
    MutationOperator("registers-more", ("BR9",), _more_registers),
)
