"""A number that is off: groups left pending, arrivals, bytes, threads, the number of a barrier."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptxkit.analysis.program import Step
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
from ptxkit.isa.expressions import Expression, Role
from ptxkit.records import replace
from ptxkit.syntax.tree import Instruction, Integer
from ptxkit.testing.faults.changes import (
    Change,
    constant,
    doubled,
    replaced,
    with_number,
)
from ptxkit.testing.faults.deletions import waits_for_nothing
from ptxkit.testing.faults.family import Operator, Search
from ptxkit.testing.faults.reading import Reading, operand
from ptxkit.testing.faults.spelling import respelled, shortened

_WAITS = {"cp.async": ("CA4",), "bulk": ("BK9", "BK12"), "wgmma": ("WG3",)}
_EIGHT, _SIXTEEN = 8, 16
_LAST = 15


def _role(expression: Expression | None) -> str | None:
    return expression.name if isinstance(expression, Role) else None


# ------------------------------------------------------------------------------------------ groups


def _wait_for_less(reading: Reading) -> Iterator[Change | None]:
    for step, wait in reading.having(WaitGroup):
        role = _role(wait.pending)
        if role is not None:
            idle = wait.group in ("bulk", "cp.async") and waits_for_nothing(reading, step, wait)
            yield with_number(reading, step, role, 1, () if idle else _WAITS.get(wait.group))


def _wait_for_reads(reading: Reading) -> Iterator[Change | None]:
    """Only the sources are waited for. Breaks what reads the results later, or tells of them."""
    for step, wait in reading.having(WaitGroup):
        if wait.group == "bulk" and not wait.read_only:
            new = respelled(step, (wait, replace(wait, read_only=True)))
            later = any(reading.accesses(each, _may_meet_results) for each in reading.steps[step.index + 1 :])
            if new is not None:
                yield replaced(reading, step, [new], ("BK8",) if later else ())


def _may_meet_results(access: Access) -> bool:
    """Whether an access may read what was copied, or tell others that it is there."""
    in_reach = access.space in ("global", "generic") and access.proxy == "generic"
    return in_reach and (access.kind != "write" or access.order != "weak")


def _wait_for_the_other_kind(reading: Reading) -> Iterator[Change | None]:
    other = {"cp.async": "bulk", "bulk": "cp.async"}
    for step, wait in reading.having(WaitGroup):
        if wait.group in other and not wait.commits:
            new = respelled(step, (wait, replace(wait, group=other[wait.group], read_only=False)))
            yield replaced(reading, step, [new]) if new is not None else None


# ---------------------------------------------------------------------------------------- arrivals


def _init_count(number: int) -> Search:
    def search(reading: Reading) -> Iterator[Change | None]:
        for step, init in reading.having(MbarrierInit):
            role = _role(init.count)
            given = constant(init.count, reading, step)
            if role is not None and (given is None or given + number > 0):
                yield with_number(reading, step, role, number)

    return search


def _arrival_count(number: int) -> Search:
    def search(reading: Reading) -> Iterator[Change | None]:
        for step, arrive in reading.having(MbarrierArrive):
            role = _role(arrive.count)
            given = constant(arrive.count, reading, step)
            if role is not None and given is not None and given + number > 0:
                yield with_number(reading, step, role, number)

    return search


def _tracked_otherwise(reading: Reading) -> Iterator[Change | None]:
    for step, track in reading.having(MbarrierTrack):
        new = respelled(step, (track, replace(track, counted=not track.counted)))
        yield replaced(reading, step, [new]) if new is not None else None


# ------------------------------------------------------------------------------------------- bytes


def _expected(change: Callable[[int], int], boxes: tuple[str, ...] | None) -> Search:
    """The bytes that a phase waits for are others. change: from the right number, 0 where it is not known.

    boxes: the rules broken where the bytes of a tensor copy, which the map decides, count among them; None: leave out.
    Left out, too, where other announcements are left as they are: the same map may stand behind them.
    """

    def search(reading: Reading) -> Iterator[Change | None]:
        unknown = any(each.size is None for _, each in reading.having(MbarrierComplete))
        found = list(_expectations(reading))
        for step, role, given in found:
            if not unknown or (boxes is not None and len(found) == 1):
                yield with_number(reading, step, role, change(given or 0), boxes if unknown else None)

    return search


def _expectations(reading: Reading) -> Iterator[tuple[Step, str, int | None]]:
    for step, arrive in reading.having(MbarrierArrive):
        role = _role(arrive.expect)
        if role is not None:
            yield step, role, constant(arrive.expect, reading, step)
    for step, expect in reading.having(MbarrierExpect):
        role = _role(expect.size)
        if role is not None:
            yield step, role, constant(expect.size, reading, step)


def _more(_: int) -> int:
    return _SIXTEEN


def _half(given: int) -> int:
    return -(given // 2) if given > 1 else -_SIXTEEN


def _expect_twice(reading: Reading) -> Iterator[Change | None]:
    for step, _ in reading.having(MbarrierExpect):
        yield doubled(reading, step)
    for step, arrive in reading.having(MbarrierArrive):
        if arrive.expect is not None:
            yield doubled(reading, step, ("MB7", "BK5"))


def _arrive_without_bytes(reading: Reading) -> Iterator[Change | None]:
    for step, arrive in reading.having(MbarrierArrive):
        plain = arrive_alone(step, arrive)
        yield replaced(reading, step, [plain]) if plain is not None else None


def _bytes_without_arrival(reading: Reading) -> Iterator[Change | None]:
    for step, arrive in reading.having(MbarrierArrive):
        bytes_ = expect_alone(step, arrive)
        yield replaced(reading, step, [bytes_]) if bytes_ is not None else None


def _arrive_first(reading: Reading) -> Iterator[Change | None]:
    for step, arrive in reading.having(MbarrierArrive):
        plain, bytes_ = arrive_alone(step, arrive), expect_alone(step, arrive)
        if plain is not None and bytes_ is not None:
            yield replaced(reading, step, [plain, bytes_])


def arrive_alone(step: Step, arrive: MbarrierArrive) -> Instruction | None:
    """The arrival of an arrive.expect_tx, without its bytes."""
    role = _role(arrive.expect)
    plain = replace(arrive, expect=None)
    return shortened(step, [role], plain, replace(plain, state=None)) if role is not None else None


def expect_alone(step: Step, arrive: MbarrierArrive) -> Instruction | None:
    """The bytes of an arrive.expect_tx, without its arrival."""
    role = _role(arrive.expect)
    if role is None or arrive.expect is None or arrive.drop:
        return None
    wanted = MbarrierExpect(arrive.barrier, arrive.expect, arrive.space, arrive.multicast)
    return shortened(step, ["state"], wanted)


def _copy_size(number: int) -> Search:
    def search(reading: Reading) -> Iterator[Change | None]:
        for step, complete in reading.having(MbarrierComplete):
            role = _role(complete.size)
            given = constant(complete.size, reading, step)
            if role is not None and (given is None or given + number > 0) and reading.effects(step, Access):
                yield with_number(reading, step, role, number)

    return search


# ---------------------------------------------------------------------------------------- barriers


def _barrier_number(reading: Reading) -> Iterator[Change | None]:
    """One side of a barrier goes to another one: harmless where all others who come to it only wait there, too."""
    sites = [(step, each, constant(each.number, reading, step)) for step, each in reading.having(Barrier)]
    used = [number for _, barrier, number in sites if barrier.level == "cta"]
    for step, barrier, number in sites:
        role = _role(barrier.number)
        if barrier.level != "cta" or role is None or number is None or number > _LAST - 1:
            continue
        actions = {other.action for _, other, same in sites if other.level == "cta" and same == number}
        if "arrive" in actions:
            yield with_number(reading, step, role, 1, ("BR3",))
        elif number + 1 not in used and None not in used and reading.reached_by_all(step):
            yield with_number(reading, step, role, 1, ())


def _barrier_threads(number: int) -> Search:
    def search(reading: Reading) -> Iterator[Change | None]:
        for step, barrier in reading.having(Barrier):
            role = _role(barrier.threads)
            given = operand(step, role)
            if role is not None and isinstance(given, Integer) and given.value + number > 0:
                yield with_number(reading, step, role, number)

    return search


def _more_registers(reading: Reading) -> Iterator[Change | None]:
    """Eight more for each thread of a warpgroup that takes some: roles mostly share out all that there are."""
    for step, setting in reading.having(RegisterCount):
        role = _role(setting.count)
        if setting.action == "increase" and role is not None:
            yield with_number(reading, step, role, _EIGHT)


OPERATORS = (
    Operator("wait-for-less", ("CA4",), _wait_for_less),
    Operator("wait-for-reads-only", ("BK8",), _wait_for_reads),
    Operator("wait-for-the-other-kind", ("CA9",), _wait_for_the_other_kind),
    Operator("init-count-more", ("MB7",), _init_count(1)),
    Operator("init-count-less", ("MB7",), _init_count(-1)),
    Operator("arrive-count-more", ("MB7",), _arrival_count(1)),
    Operator("arrive-count-less", ("MB7",), _arrival_count(-1)),
    Operator("track-otherwise", ("CA10",), _tracked_otherwise),
    Operator("expect-more", ("BK5",), _expected(_more, None)),
    Operator("expect-half", ("BK5",), _expected(_half, ())),
    Operator("expect-twice", ("BK5",), _expect_twice),
    Operator("expect-nothing", ("BK5",), _arrive_without_bytes),
    Operator("expect-without-arrival", ("MB7", "MB10"), _bytes_without_arrival),
    Operator("expect-after-arrival", ("MB9",), _arrive_first),
    Operator("copy-more", ("BK5",), _copy_size(_SIXTEEN)),
    Operator("copy-less", ("BK5",), _copy_size(-_SIXTEEN)),
    Operator("barrier-number", ("BR3",), _barrier_number),
    Operator("barrier-threads-more", ("BR3",), _barrier_threads(32)),
    Operator("barrier-threads-less", ("BR3",), _barrier_threads(-32)),
    Operator("registers-more", ("BR9",), _more_registers),
)
