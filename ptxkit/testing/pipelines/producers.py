"""The inputs of a pipeline: copies of a few bytes by each thread, or of a whole tile by one thread."""

from __future__ import annotations

from ptxkit.diagnostics.catalogue import ptx2xx, ptx3xx, ptx5xx, ptx6xx
from ptxkit.testing.pipelines.build_context import FULL, TILES, BuildContext, Iteration, write_wait
from ptxkit.testing.pipelines.plan import LANES, PipelinePlan
from ptxkit.testing.pipelines.text_builder import InjectedFault, StaticOrRegister, TextBuilder, omit, substitute

EARLY_READ_CODES = (ptx3xx.READ_BEFORE_WAIT, ptx6xx.SHARED_MEMORY_RACE, ptx3xx.OVERLAPPING_COPIES)
"""The codes of reading data that has not arrived."""

TX_COUNT_CODES = (
    ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
    ptx5xx.MBARRIER_MISSING_ARRIVALS,
    ptx5xx.MBARRIER_EXCESS_ARRIVALS,
    ptx6xx.BARRIER_DEADLOCK,
    *EARLY_READ_CODES,
)
"""The codes of expected bytes that do not arrive, and of bytes that are not expected."""

ROW_WORDS = 8
"""The words in a row of a box of more than one dimension."""


def full_arrival_count(plan: PipelinePlan) -> int:
    """Returns the number of arrivals at the mbarrier of a full slot."""
    fillers = plan.consumers if plan.roles == "unified" else LANES
    if plan.has_bulk and plan.expects == "issuer":
        return 1
    return fillers


def fill(room: BuildContext, turn: Iteration) -> None:
    """Emits the copy of a tile. All producing threads execute it."""
    if room.plan.has_bulk:
        _fill_by_one_thread(room, turn)
    else:
        _fill_by_all_threads(room, turn)


def _fill_by_all_threads(room: BuildContext, turn: Iteration) -> None:
    plan, script = room.plan, room.builder
    each = plan.consumers if plan.roles == "unified" else LANES
    slot = script.shared_address(room.own_element, turn.slot, plan.tile_bytes)
    own = script.value("mad.wide.u32", room.producer_index, str(plan.size), room.source, kind="b64")
    source = script.global_address(own, turn.number, plan.tile_bytes)
    cache = "ca" if plan.cached else "cg"
    size = f"{plan.size}, {plan.size - plan.zeros}" if plan.zeros else str(plan.size)
    copies = [
        f"cp.async.{cache}.shared.global [{add_offset(slot, at)}], [{add_offset(source, at)}], {size};"
        for at in range(0, plan.tile_bytes, each * plan.size)
    ]
    if plan.mechanism == "cp.async":
        commit = "cp.async.commit_group;"
        faults = (
            substitute("commit-too-early", (commit, *copies), ptx3xx.GROUP_NEVER_COMMITTED, *EARLY_READ_CODES),
            substitute("delete-commit", tuple(copies), ptx3xx.GROUP_NEVER_COMMITTED, *EARLY_READ_CODES),
        )
        script.emit(*copies, commit, faults=() if waits_for_all(plan) else faults)
        return
    script.emit(*copies)
    at = script.shared_address(FULL, turn.slot, 8)
    inc = ".noinc" if plan.noinc else ""
    other = "" if plan.noinc else ".noinc"
    wrong = (
        ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
        ptx5xx.MBARRIER_MISSING_ARRIVALS,
        ptx5xx.MBARRIER_EXCESS_ARRIVALS,
        ptx6xx.BARRIER_DEADLOCK,
        *EARLY_READ_CODES,
    )
    script.emit(
        f"cp.async.mbarrier.arrive{inc}.shared.b64 [{at}];",
        faults=(
            omit("delete-track", *wrong),
            substitute("track-otherwise", f"cp.async.mbarrier.arrive{other}.shared.b64 [{at}];", *wrong),
        ),
    )
    if not plan.noinc:
        state = script.new_register("b64")
        script.emit(
            f"mbarrier.arrive.shared.b64 {state}, [{at}];",
            faults=(omit("delete-arrive", ptx5xx.MBARRIER_MISSING_ARRIVALS, ptx6xx.BARRIER_DEADLOCK),),
        )


def _fill_by_one_thread(room: BuildContext, turn: Iteration) -> None:
    plan, script = room.plan, room.builder
    slot = script.shared_address(TILES, turn.slot, plan.tile_bytes)
    bar = script.shared_address(FULL, turn.slot, 8)
    if plan.mechanism == "bulk":
        sources = [
            add_offset(script.global_address(room.source, turn.number, plan.tile_bytes), part)
            for part in _part_offsets(plan)
        ]
        copies = [
            bulk_copy(add_offset(slot, part), source, plan.tile_bytes // plan.parts, bar)
            for part, source in zip(_part_offsets(plan), sources, strict=True)
        ]
    else:
        copies = [tensor_copy(room, turn, add_offset(slot, part), part, bar) for part in _part_offsets(plan)]
    expect, faults = expect_tx(plan, bar)
    with script.guarded_by(room.is_issuer):
        script.emit(expect, faults=faults)
        for part, copy in zip(_part_offsets(plan), copies, strict=True):
            at = add_offset(slot, part)
            moved = copy.replace(f"[{at}],", f"[{add_offset(at, 8)}],", 1)
            aside: tuple[InjectedFault, ...] = (
                substitute("misaligned-address", moved, ptx2xx.MISALIGNED_ADDRESS, ptx2xx.OUT_OF_BOUNDS),
            )
            if plan.stages > 1 and isinstance(turn.slot, int):
                other = add_offset(FULL, 8 * ((turn.slot + 1) % plan.stages))
                aside += (substitute("other-mbarrier", copy.replace(f"[{bar}];", f"[{other}];"), *TX_COUNT_CODES),)
            size = plan.tile_bytes // plan.parts if plan.mechanism == "bulk" else 0
            script.emit(copy, faults=(*copy_faults(script, copy, size), *aside))
    if plan.expects == "all":
        others = f"!{room.is_issuer}"
        with script.guarded_by(others):
            script.emit(
                f"mbarrier.arrive.shared::cta.b64 _, [{bar}];",
                faults=(
                    omit(
                        "delete-arrive",
                        ptx5xx.MBARRIER_MISSING_ARRIVALS,
                        ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
                        ptx6xx.BARRIER_DEADLOCK,
                    ),
                ),
            )


def expect_tx(plan: PipelinePlan, bar: str) -> tuple[str, tuple[InjectedFault, ...]]:
    """Returns the arrival that expects the number of bytes at an mbarrier, and its faults."""
    arrive = f"mbarrier.arrive{{}}.shared::cta.b64 _, [{bar}]{{}};"
    expect = arrive.format(".expect_tx", f", {plan.tile_bytes}")
    expect_only = f"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{bar}], {plan.tile_bytes};"
    found = (
        omit("delete-arrive-expect", *TX_COUNT_CODES),
        substitute("expect-half", arrive.format(".expect_tx", f", {plan.tile_bytes // 2}"), *TX_COUNT_CODES),
        substitute("expect-more", arrive.format(".expect_tx", f", {plan.tile_bytes + 16}"), *TX_COUNT_CODES),
        substitute("expect-nothing", arrive.format("", ""), *TX_COUNT_CODES),
        substitute("expect-without-arrival", expect_only, *TX_COUNT_CODES),
        substitute("arrive-by-all", expect, *TX_COUNT_CODES, unguarded=True),
    )
    if plan.expects == "all" and plan.cluster == 1:  # the phase does not complete before others have arrived
        return expect, found
    return expect, (*found, substitute("expect-after-arrival", (arrive.format("", ""), expect_only), *TX_COUNT_CODES))


def copy_faults(script: TextBuilder, copy: str, size: int = 0) -> tuple[InjectedFault, ...]:
    """Returns the faults of a copy that signals an mbarrier. size: its bytes, if the instruction states them."""
    found = [omit("delete-copy", *TX_COUNT_CODES), substitute("copy-by-all", copy, *TX_COUNT_CODES, unguarded=True)]
    if size:
        found.append(substitute("copy-less", copy.replace(f", {size}, [", f", {size - 16}, ["), *TX_COUNT_CODES))
        odd = script.new_register()
        lines = (f"mov.u32 {odd}, {size - 8};", copy.replace(f", {size}, [", f", {odd}, ["))
        found.append(
            substitute(
                "odd-size",
                lines,
                ptx2xx.NUMBER_OUT_OF_RANGE,
                ptx2xx.MISALIGNED_ADDRESS,
                ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
            )
        )
    return tuple(found)


def _part_offsets(plan: PipelinePlan) -> range:
    return range(0, plan.tile_bytes, plan.tile_bytes // plan.parts)


def bulk_copy(slot: str, source: str, size: int, bar: str) -> str:
    """Returns a copy from global memory that signals an mbarrier."""
    return f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{slot}], [{source}], {size}, [{bar}];"


def tensor_copy(room: BuildContext, turn: Iteration, slot: str, part: StaticOrRegister, bar: str) -> str:
    """Returns a copy of a box that signals an mbarrier. part: the byte of the tile at which the box begins."""
    place = coordinates(room, turn, part)
    opcode = f"cp.async.bulk.tensor.{room.plan.rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    return f"{opcode} [{slot}], [{room.source}, {{{place}}}], [{bar}];"


def coordinates(room: BuildContext, turn: Iteration, part: StaticOrRegister) -> str:
    """Returns the coordinates of a tile, or of a part of it that begins at a byte, in the array of a map."""
    plan, script = room.plan, room.builder
    if plan.rank == 1:
        words = plan.tile_bytes // 4
        base = script.value("mul.lo.u32", room.input_part, str(words * plan.rounds))
        at = script.value("mad.lo.u32", str(turn.number), str(words), base)
        return script.value("add.u32", at, _divide_bytes(script, part, 2)) if part else at
    known = isinstance(turn.number, int)
    column = (
        str(int(turn.number) * ROW_WORDS) if known else script.value("mul.lo.u32", str(turn.number), str(ROW_WORDS))
    )
    row = _divide_bytes(script, part, 5)
    if plan.rank == 3:
        return f"{column}, {row}, {room.input_part}"
    rows = plan.tile_bytes // 4 // ROW_WORDS
    return f"{column}, {script.value('mad.lo.u32', room.input_part, str(rows), row)}"


def _divide_bytes(script: TextBuilder, part: StaticOrRegister, bits: int) -> str:
    """Returns a number of bytes in larger units: words, or rows of them."""
    return str(part >> bits) if isinstance(part, int) else script.value("shr.u32", part, str(bits))


def _await_groups(room: BuildContext, left: int) -> None:
    """Emits a wait until at most `left` groups are pending, and a barrier, because cp.async cannot signal other
    threads.
    """
    script = room.builder
    wait_, barrier = f"cp.async.wait_group {left};", "bar.sync 0;"
    if waits_for_all(room.plan):
        wait_ = "cp.async.wait_all;"
    script.emit(
        wait_,
        barrier,
        faults=(
            substitute("delete-group-wait", barrier, *EARLY_READ_CODES),
            substitute("wait-for-less", (f"cp.async.wait_group {left + 1};", barrier), *EARLY_READ_CODES),
            substitute("delete-barrier", wait_, *EARLY_READ_CODES),
            substitute("barrier-too-early", (barrier, wait_), *EARLY_READ_CODES),
            substitute("group-wait-by-one", (f"@{room.is_first_thread} {wait_}", barrier), *EARLY_READ_CODES),
        ),
    )


def waits_for_all(plan: PipelinePlan) -> bool:
    """Returns whether copies need no commit, because `cp.async.wait_all` waits for them."""
    return plan.roles == "unified" and plan.ahead == 1 and plan.counted


def await_full(room: BuildContext, turn: Iteration, left: int) -> None:
    """Emits the wait until the tile of an iteration has arrived."""
    if room.plan.has_full_barriers:
        write_wait(
            room,
            FULL,
            turn,
            turn.parity,
            (*EARLY_READ_CODES, ptx5xx.MBARRIER_MISSING_ARRIVALS, ptx5xx.MBARRIER_EXCESS_ARRIVALS),
        )  # a thread that continues early also arrives early
    else:
        _await_groups(room, left)


def add_offset(base: str, offset: int) -> str:
    """Returns an address plus an offset."""
    if not offset:
        return base
    start, plus, known = base.partition("+")
    return f"{start}+{int(known) + offset}" if plus else f"{base}+{offset}"
