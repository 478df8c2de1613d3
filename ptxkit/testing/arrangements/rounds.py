"""The rounds of a pipeline: all threads doing all, or a warp that fills and others that consume."""

from __future__ import annotations

from collections.abc import Callable

from ptxkit.testing.arrangements.drains import METER, RACES, Drain
from ptxkit.testing.arrangements.fills import EARLY, await_full, fill, full_count
from ptxkit.testing.arrangements.plan import LANES
from ptxkit.testing.arrangements.room import EMPTY, FULL, Room, Turn, initialise, wait
from ptxkit.testing.arrangements.script import Index, instead, without

HANGS = ("PTX503", "PTX504", "PTX601", "PTX602")
TOGETHER = "bar.warp.sync 0xffffffff;"
"""The lanes of a warp meet."""


def written(room: Room) -> None:
    """The whole body behind the setup."""
    plan = room.plan
    counts = {FULL: full_count(plan)} if plan.has_full else {}
    if plan.roles == "unified":
        initialise(room, counts)
        _unified(room)
    elif plan.handover == "named":
        _named(room)
    else:
        counts[EMPTY] = plan.consumers if plan.releases == "thread" else plan.warps
        initialise(room, counts)
        _producer(room)


# ------------------------------------------------------------------------------------------------ all threads alike


def _unified(room: Room) -> None:
    plan, script = room.plan, room.script
    drain = Drain(room)
    drain.begin()
    for number in range(plan.ahead):
        if number < plan.rounds:
            if plan.has_bulk:  # ptxas makes a copy once for all lanes, and may not let them meet: corpus/vendor
                script.do(TOGETHER)
            fill(room, Turn.known(number, plan.stages))
        elif plan.mechanism == "cp.async":
            script.do("cp.async.commit_group;")
    each_round(room, lambda turn: _one_round(room, drain, turn))
    drain.end()


def _one_round(room: Room, drain: Drain, turn: Turn) -> None:
    plan, script = room.plan, room.script
    await_full(room, turn, plan.ahead - 1)
    if plan.ahead < plan.stages:  # the barrier behind the wait has told that all have read the slot of the round before
        _refill(room, turn)
    drain.consume(turn)
    if plan.ahead == plan.stages:
        again = room.refills(turn)
        if isinstance(turn.number, int) and not again:
            _refill(room, turn)
            return
        # What is staged meets at a barrier of its own behind the read: then this one is not missed.
        meets = plan.drain not in ("sum", "plain")
        some = instead("barrier-by-some", f"@{room.first} bar.sync 0;", "PTX603", *HANGS, *RACES, *EARLY)
        lost = without("delete-barrier", *RACES, *EARLY)
        script.do("bar.sync 0;", faults=(lost, some) if again and not meets else ())
        _refill(room, turn)


def _refill(room: Room, turn: Turn) -> None:
    """Ask for the round that is `ahead` further, where there is one."""
    plan, script = room.plan, room.script
    if isinstance(turn.number, int):
        number = turn.number + plan.ahead
        if number < plan.rounds:
            fill(room, Turn.known(number, plan.stages))
        elif plan.mechanism == "cp.async" and turn.number + 1 < plan.rounds:  # a later wait counts groups
            script.do("cp.async.commit_group;")
        return
    if plan.rounds <= plan.ahead:
        if plan.mechanism == "cp.async":
            script.do("cp.async.commit_group;")
        return
    later = script.value("add.u32", turn.number, str(plan.ahead))
    more = script.value("setp.lt.u32", later, str(plan.rounds), kind="pred")
    slot = turn.slot
    if plan.ahead < plan.stages:
        slot = script.value("rem.u32", later, str(plan.stages))
    end, after = script.label("LAST"), script.label("NEXT")
    script.do(f"@!{more} bra {end};")
    fill(room, Turn(later, slot, 0))
    if plan.mechanism == "cp.async":
        script.do(f"bra {after};")
        script.do(f"{end}:")
        script.do("cp.async.commit_group;")
        script.do(f"{after}:")
    else:
        script.do(f"{end}:")


# ------------------------------------------------------------------------------------------------ roles


def _producer(room: Room) -> None:
    """A warp fills, others consume; mbarriers tell of full and of empty slots."""
    script = room.script
    consume, end = script.label("CONSUME"), script.label("END")
    script.do(f"@!{room.fills} bra {consume};")
    each_round(room, lambda turn: _produced(room, turn))
    script.do(f"bra {end};")
    script.do(f"{consume}:")
    drain = Drain(room)
    drain.begin()

    def consumed(turn: Turn) -> None:
        await_full(room, turn, 0)
        drain.consume(turn)
        _release(room, turn)

    each_round(room, consumed)
    drain.end()
    script.do(f"{end}:")


def _produced(room: Room, turn: Turn) -> None:
    known = isinstance(turn.parity, int)
    parity = int(turn.parity) ^ 1 if known else room.script.value("xor.b32", str(turn.parity), "1")
    faults = (*RACES, *EARLY, "PTX505", "PTX503", "PTX304") if room.reuses(turn) else ()
    plan, script = room.plan, room.script
    if plan.has_idle_lanes and plan.attends == "issuer":
        with script.only(room.issue, branch=True):
            wait(room, EMPTY, turn, parity, faults)
    else:
        wait(room, EMPTY, turn, parity, faults)
    if plan.has_idle_lanes:  # no lane may be lapped; and behind a wait by one ptxas makes its copy twice: corpus/vendor
        script.do(TOGETHER)
    fill(room, turn)


def _release(room: Room, turn: Turn) -> None:
    """Give a slot back."""
    plan, script = room.plan, room.script
    again = room.refills(turn)
    at = script.place(EMPTY, turn.slot, 8)
    arrive = f"mbarrier.arrive.shared::cta.b64 _, [{at}];"
    if plan.own == ".shared":
        arrive = f"mbarrier.arrive.shared.b64 {script.new('b64')}, [{at}];"
    lost = without("delete-arrive", *HANGS)
    if plan.releases == "thread":
        script.do(arrive, faults=(lost,) if again else ())
        return
    # What is staged meets at a barrier behind the read: then this one is not missed.
    missed = again and plan.drain in ("sum", "plain")
    half = instead("mask-of-half", TOGETHER.replace("ffffffff", "0000ffff"), "PTX607", *RACES, *EARLY)
    script.do(TOGETHER, faults=(half, without("delete-warp-barrier", *RACES, *EARLY)) if missed else (half,))
    lane = script.value("and.b32", room.thread, "31")
    leader = script.value("setp.eq.u32", lane, "0", kind="pred")
    with script.only(leader):
        script.do(
            arrive,
            faults=(lost, instead("arrive-by-all", arrive, "PTX505", *RACES, *EARLY, unguarded=True)) if again else (),
        )


def _named(room: Room) -> None:
    """A warp fills by cp.async, others consume; named barriers tell of full and of empty slots."""
    plan, script = room.plan, room.script
    script.do("bar.sync 0;")
    consume, end = script.label("CONSUME"), script.label("END")
    together = plan.consumers + LANES
    script.do(f"@!{room.fills} bra {consume};")

    def number(slot: Index, base: int) -> str:
        return str(slot + base) if isinstance(slot, int) else script.value("add.u32", slot, str(base))

    full, empty = METER + 1, METER + 1 + plan.stages

    def produced(turn: Turn) -> None:
        _where(room, turn, f"bar.sync {number(turn.slot, empty)}, {together};", before=True)
        fill(room, turn)
        at = number(turn.slot, full)
        wait_, arrive = "cp.async.wait_group 0;", f"bar.arrive {at}, {together};"
        script.do(
            wait_,
            arrive,
            faults=(
                instead("delete-group-wait", arrive, *EARLY),
                instead("wait-for-less", ("cp.async.wait_group 1;", arrive), *EARLY),
                instead("barrier-too-early", (arrive, wait_), *EARLY),
                instead("delete-barrier-arrive", wait_, *HANGS),
                instead("barrier-threads-more", (wait_, f"bar.arrive {at}, {together + 32};"), *HANGS),
            ),
        )

    def consumed(turn: Turn) -> None:
        meet = f"bar.sync {number(turn.slot, full)}, {together};"
        script.do(meet, faults=(without("delete-barrier", *EARLY, *HANGS),))
        drain.consume(turn)
        _where(room, turn, f"bar.arrive {number(turn.slot, empty)}, {together};", before=False)

    each_round(room, produced)
    script.do(f"bra {end};")
    script.do(f"{consume}:")
    drain = Drain(room)
    drain.begin()
    each_round(room, consumed)
    drain.end()
    script.do(f"{end}:")


def _where(room: Room, turn: Turn, line: str, *, before: bool) -> None:
    """The handing back of a slot: in front of a round that reuses one, behind a round whose slot is filled again."""
    plan, script = room.plan, room.script
    lost = (without("delete-barrier" if before else "delete-barrier-arrive", *HANGS, *RACES, *EARLY),)
    if isinstance(turn.number, int):
        if room.reuses(turn) if before else room.refills(turn):
            script.do(line, faults=lost)
        return
    if plan.rounds <= plan.stages:
        return
    if before:
        due = script.value("setp.ge.u32", turn.number, str(plan.stages), kind="pred")
    else:
        due = script.value("setp.lt.u32", turn.number, str(plan.rounds - plan.stages), kind="pred")
    with script.only(due, branch=True):
        script.do(line, faults=lost)


# ------------------------------------------------------------------------------------------------ counting


def each_round(room: Room, body: Callable[[Turn], None]) -> None:
    """All rounds, one behind the other, or in a loop."""
    plan, script = room.plan, room.script
    if plan.unrolled:
        for number in range(plan.rounds):
            body(Turn.known(number, plan.stages))
        return
    index = script.value("mov.u32", "0")
    slot: Index = 0
    parity: Index = script.value("mov.u32", "0")
    if plan.counted and plan.stages > 1:
        slot = script.value("mov.u32", "0")
    label = script.label("ROUND")
    script.do(f"{label}:")
    if not plan.counted:
        slot, parity = _computed(room, index)
    body(Turn(index, slot, parity))
    if plan.counted:
        _count_on(room, slot, str(parity))
    script.do(f"add.u32 {index}, {index}, 1;")
    more = script.value("setp.lt.u32", index, str(plan.rounds), kind="pred")
    script.do(f"@{more} bra {label};")


def _computed(room: Room, index: str) -> tuple[Index, Index]:
    """Slot and parity from the round's number."""
    stages, script = room.plan.stages, room.script
    if stages == 1:
        return 0, script.value("and.b32", index, "1")
    if stages & (stages - 1):
        slot, turns = script.value("rem.u32", index, str(stages)), script.value("div.u32", index, str(stages))
    else:
        slot = script.value("and.b32", index, str(stages - 1))
        turns = script.value("shr.u32", index, str(stages.bit_length() - 1))
    return slot, script.value("and.b32", turns, "1")


def _count_on(room: Room, slot: Index, parity: str) -> None:
    """The next slot, and the other parity where they begin anew."""
    stages, script = room.plan.stages, room.script
    flip = f"xor.b32 {parity}, {parity}, 1;"
    if isinstance(slot, int):
        script.do(flip)
        return
    script.do(f"add.u32 {slot}, {slot}, 1;")
    around = script.value("setp.eq.u32", slot, str(stages), kind="pred")
    script.do(f"@{around} mov.u32 {slot}, 0;")
    script.do(f"@{around} {flip}")
