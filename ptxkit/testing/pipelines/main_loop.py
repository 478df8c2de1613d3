"""The main loop of a pipeline: all threads have the same role, or a warp fills the slots and others consume them."""

from __future__ import annotations

from collections.abc import Callable

from ptxkit.diagnostics.catalogue import ptx3xx, ptx5xx, ptx6xx
from ptxkit.testing.pipelines.build_context import (
    EMPTY,
    FULL,
    BuildContext,
    Iteration,
    initialize_mbarriers,
    write_wait,
)
from ptxkit.testing.pipelines.consumers import CONSUMER_BARRIER, RACE_CODES, ConsumerWriter
from ptxkit.testing.pipelines.plan import LANES
from ptxkit.testing.pipelines.producers import EARLY_READ_CODES, await_full, fill, full_arrival_count
from ptxkit.testing.pipelines.text_builder import StaticOrRegister, omit, substitute

DEADLOCK_CODES = (
    ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
    ptx5xx.MBARRIER_MISSING_ARRIVALS,
    ptx6xx.BARRIER_DEADLOCK,
    ptx6xx.BARRIER_COUNT_MISMATCH,
)
WARP_SYNC = "bar.warp.sync 0xffffffff;"
"""Synchronizes the lanes of a warp."""


def write_body(room: BuildContext) -> None:
    """Emits the whole body after the setup."""
    plan = room.plan
    counts = {FULL: full_arrival_count(plan)} if plan.has_full_barriers else {}
    if plan.roles == "unified":
        initialize_mbarriers(room, counts)
        _write_unified(room)
    elif plan.handover == "named":
        _write_named_barriers(room)
    else:
        counts[EMPTY] = plan.consumers if plan.releases == "thread" else plan.warps
        initialize_mbarriers(room, counts)
        _write_specialized(room)


# ------------------------------------------------------------------------------------------------ all threads


def _write_unified(room: BuildContext) -> None:
    plan, script = room.plan, room.builder
    drain = ConsumerWriter(room)
    drain.begin()
    for number in range(plan.ahead):
        if number < plan.rounds:
            if plan.has_bulk:  # ptxas executes a copy once for all lanes, which may not be converged: corpus/vendor
                script.emit(WARP_SYNC)
            fill(room, Iteration.at(number, plan.stages))
        elif plan.mechanism == "cp.async":
            script.emit("cp.async.commit_group;")
    for_each_iteration(room, lambda turn: _write_iteration(room, drain, turn))
    drain.end()


def _write_iteration(room: BuildContext, drain: ConsumerWriter, turn: Iteration) -> None:
    plan, script = room.plan, room.builder
    await_full(room, turn, plan.ahead - 1)
    if plan.ahead < plan.stages:  # the barrier after the wait implies that all threads have read the previous slot
        _prefetch(room, turn)
    drain.consume(turn)
    if plan.ahead == plan.stages:
        again = room.is_refilled(turn)
        if isinstance(turn.number, int) and not again:
            _prefetch(room, turn)
            return
        # A staged output has a separate barrier after the read, so that the omission of this one is harmless.
        meets = plan.drain not in ("sum", "plain")
        some = substitute(
            "barrier-by-some",
            f"@{room.is_first_thread} bar.sync 0;",
            ptx6xx.PARTIAL_WARP_BARRIER,
            *DEADLOCK_CODES,
            *RACE_CODES,
            *EARLY_READ_CODES,
        )
        lost = omit("delete-barrier", *RACE_CODES, *EARLY_READ_CODES)
        script.emit("bar.sync 0;", faults=(lost, some) if again and not meets else ())
        _prefetch(room, turn)


def _prefetch(room: BuildContext, turn: Iteration) -> None:
    """Emits copies for the iteration that is `ahead` further, if there is one."""
    plan, script = room.plan, room.builder
    if isinstance(turn.number, int):
        number = turn.number + plan.ahead
        if number < plan.rounds:
            fill(room, Iteration.at(number, plan.stages))
        elif plan.mechanism == "cp.async" and turn.number + 1 < plan.rounds:  # a later wait counts groups
            script.emit("cp.async.commit_group;")
        return
    if plan.rounds <= plan.ahead:
        if plan.mechanism == "cp.async":
            script.emit("cp.async.commit_group;")
        return
    later = script.value("add.u32", turn.number, str(plan.ahead))
    more = script.value("setp.lt.u32", later, str(plan.rounds), kind="pred")
    slot = turn.slot
    if plan.ahead < plan.stages:
        slot = script.value("rem.u32", later, str(plan.stages))
    end, after = script.new_label("LAST"), script.new_label("NEXT")
    script.emit(f"@!{more} bra {end};")
    fill(room, Iteration(later, slot, 0))
    if plan.mechanism == "cp.async":
        script.emit(f"bra {after};")
        script.emit(f"{end}:")
        script.emit("cp.async.commit_group;")
        script.emit(f"{after}:")
    else:
        script.emit(f"{end}:")


# ------------------------------------------------------------------------------------------------ roles


def _write_specialized(room: BuildContext) -> None:
    """Emits roles: a warp fills the slots, others consume them, and mbarriers signal full and empty slots."""
    script = room.builder
    consume, end = script.new_label("CONSUME"), script.new_label("END")
    script.emit(f"@!{room.is_producer} bra {consume};")
    for_each_iteration(room, lambda turn: _produce(room, turn))
    script.emit(f"bra {end};")
    script.emit(f"{consume}:")
    drain = ConsumerWriter(room)
    drain.begin()

    def consume_slot(turn: Iteration) -> None:
        await_full(room, turn, 0)
        drain.consume(turn)
        _release(room, turn)

    for_each_iteration(room, consume_slot)
    drain.end()
    script.emit(f"{end}:")


def _produce(room: BuildContext, turn: Iteration) -> None:
    known = isinstance(turn.parity, int)
    parity = int(turn.parity) ^ 1 if known else room.builder.value("xor.b32", str(turn.parity), "1")
    faults = (
        (
            *RACE_CODES,
            *EARLY_READ_CODES,
            ptx5xx.MBARRIER_EXCESS_ARRIVALS,
            ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
            ptx3xx.OVERLAPPING_COPIES,
        )
        if room.is_reuse(turn)
        else ()
    )
    plan, script = room.plan, room.builder
    if plan.has_idle_lanes and plan.attends == "issuer":
        with script.guarded_by(room.is_issuer, branch=True):
            write_wait(room, EMPTY, turn, parity, faults)
    else:
        write_wait(room, EMPTY, turn, parity, faults)
    if plan.has_idle_lanes:  # no lane is lapped, and ptxas issues one copy: corpus/vendor
        script.emit(WARP_SYNC)
    fill(room, turn)


def _release(room: BuildContext, turn: Iteration) -> None:
    """Emits the release of a slot."""
    plan, script = room.plan, room.builder
    again = room.is_refilled(turn)
    at = script.shared_address(EMPTY, turn.slot, 8)
    arrive = f"mbarrier.arrive.shared::cta.b64 _, [{at}];"
    if plan.mbarrier_space == ".shared":
        arrive = f"mbarrier.arrive.shared.b64 {script.new_register('b64')}, [{at}];"
    lost = omit("delete-arrive", *DEADLOCK_CODES)
    if plan.releases == "thread":
        script.emit(arrive, faults=(lost,) if again else ())
        return
    # A staged output has a barrier after the read, so that the omission of this one is harmless.
    missed = again and plan.drain in ("sum", "plain")
    half = substitute(
        "mask-of-half",
        WARP_SYNC.replace("ffffffff", "0000ffff"),
        ptx6xx.LANE_NOT_IN_MEMBERMASK,
        *RACE_CODES,
        *EARLY_READ_CODES,
    )
    script.emit(
        WARP_SYNC, faults=(half, omit("delete-warp-barrier", *RACE_CODES, *EARLY_READ_CODES)) if missed else (half,)
    )
    lane = script.value("and.b32", room.thread, "31")
    leader = script.value("setp.eq.u32", lane, "0", kind="pred")
    with script.guarded_by(leader):
        script.emit(
            arrive,
            faults=(
                lost,
                substitute(
                    "arrive-by-all",
                    arrive,
                    ptx5xx.MBARRIER_EXCESS_ARRIVALS,
                    *RACE_CODES,
                    *EARLY_READ_CODES,
                    unguarded=True,
                ),
            )
            if again
            else (),
        )


def _write_named_barriers(room: BuildContext) -> None:
    """Emits roles: a warp fills the slots by cp.async, others consume them, and named barriers signal full and empty
    slots.
    """
    plan, script = room.plan, room.builder
    script.emit("bar.sync 0;")
    consume, end = script.new_label("CONSUME"), script.new_label("END")
    together = plan.consumers + LANES
    script.emit(f"@!{room.is_producer} bra {consume};")

    def number(slot: StaticOrRegister, base: int) -> str:
        return str(slot + base) if isinstance(slot, int) else script.value("add.u32", slot, str(base))

    full, empty = CONSUMER_BARRIER + 1, CONSUMER_BARRIER + 1 + plan.stages

    def produce_slot(turn: Iteration) -> None:
        _slot_barrier(room, turn, f"bar.sync {number(turn.slot, empty)}, {together};", before=True)
        fill(room, turn)
        at = number(turn.slot, full)
        wait_, arrive = "cp.async.wait_group 0;", f"bar.arrive {at}, {together};"
        script.emit(
            wait_,
            arrive,
            faults=(
                substitute("delete-group-wait", arrive, *EARLY_READ_CODES),
                substitute("wait-for-less", ("cp.async.wait_group 1;", arrive), *EARLY_READ_CODES),
                substitute("barrier-too-early", (arrive, wait_), *EARLY_READ_CODES),
                substitute("delete-barrier-arrive", wait_, *DEADLOCK_CODES),
                substitute("barrier-threads-more", (wait_, f"bar.arrive {at}, {together + 32};"), *DEADLOCK_CODES),
            ),
        )

    def consume_slot(turn: Iteration) -> None:
        meet = f"bar.sync {number(turn.slot, full)}, {together};"
        script.emit(meet, faults=(omit("delete-barrier", *EARLY_READ_CODES, *DEADLOCK_CODES),))
        drain.consume(turn)
        _slot_barrier(room, turn, f"bar.arrive {number(turn.slot, empty)}, {together};", before=False)

    for_each_iteration(room, produce_slot)
    script.emit(f"bra {end};")
    script.emit(f"{consume}:")
    drain = ConsumerWriter(room)
    drain.begin()
    for_each_iteration(room, consume_slot)
    drain.end()
    script.emit(f"{end}:")


def _slot_barrier(room: BuildContext, turn: Iteration, line: str, *, before: bool) -> None:
    """Emits the release of a slot: before an iteration that reuses one, after an iteration whose slot is filled
    again.
    """
    plan, script = room.plan, room.builder
    lost = (
        omit("delete-barrier" if before else "delete-barrier-arrive", *DEADLOCK_CODES, *RACE_CODES, *EARLY_READ_CODES),
    )
    if isinstance(turn.number, int):
        if room.is_reuse(turn) if before else room.is_refilled(turn):
            script.emit(line, faults=lost)
        return
    if plan.rounds <= plan.stages:
        return
    if before:
        due = script.value("setp.ge.u32", turn.number, str(plan.stages), kind="pred")
    else:
        due = script.value("setp.lt.u32", turn.number, str(plan.rounds - plan.stages), kind="pred")
    with script.guarded_by(due, branch=True):
        script.emit(line, faults=lost)


# ------------------------------------------------------------------------------------------------ iterations


def for_each_iteration(room: BuildContext, body: Callable[[Iteration], None]) -> None:
    """Emits all iterations, one after the other, or as a loop."""
    plan, script = room.plan, room.builder
    if plan.unrolled:
        for number in range(plan.rounds):
            body(Iteration.at(number, plan.stages))
        return
    index = script.value("mov.u32", "0")
    slot: StaticOrRegister = 0
    parity: StaticOrRegister = script.value("mov.u32", "0")
    if plan.counted and plan.stages > 1:
        slot = script.value("mov.u32", "0")
    label = script.new_label("ROUND")
    script.emit(f"{label}:")
    if not plan.counted:
        slot, parity = _compute_slot(room, index)
    body(Iteration(index, slot, parity))
    if plan.counted:
        _advance_slot(room, slot, str(parity))
    script.emit(f"add.u32 {index}, {index}, 1;")
    more = script.value("setp.lt.u32", index, str(plan.rounds), kind="pred")
    script.emit(f"@{more} bra {label};")


def _compute_slot(room: BuildContext, index: str) -> tuple[StaticOrRegister, StaticOrRegister]:
    """Returns the slot and parity of an iteration number."""
    stages, script = room.plan.stages, room.builder
    if stages == 1:
        return 0, script.value("and.b32", index, "1")
    if stages & (stages - 1):
        slot, turns = script.value("rem.u32", index, str(stages)), script.value("div.u32", index, str(stages))
    else:
        slot = script.value("and.b32", index, str(stages - 1))
        turns = script.value("shr.u32", index, str(stages.bit_length() - 1))
    return slot, script.value("and.b32", turns, "1")


def _advance_slot(room: BuildContext, slot: StaticOrRegister, parity: str) -> None:
    """Emits the advance to the next slot, with the opposite parity after the last one."""
    stages, script = room.plan.stages, room.builder
    flip = f"xor.b32 {parity}, {parity}, 1;"
    if isinstance(slot, int):
        script.emit(flip)
        return
    script.emit(f"add.u32 {slot}, {slot}, 1;")
    around = script.value("setp.eq.u32", slot, str(stages), kind="pred")
    script.emit(f"@{around} mov.u32 {slot}, 0;")
    script.emit(f"@{around} {flip}")
