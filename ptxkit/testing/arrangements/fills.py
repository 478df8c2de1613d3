"""How tiles come in: copies of a few bytes by each thread, or of a whole tile by one."""

from __future__ import annotations

from ptxkit.testing.arrangements.plan import LANES, Plan
from ptxkit.testing.arrangements.room import FULL, TILES, Room, Turn, wait
from ptxkit.testing.arrangements.script import Fault, Index, Script, instead, without

EARLY = ("PTX302", "PTX621", "PTX304")
"""Codes of reading what has not come."""

BYTES = ("PTX503", "PTX504", "PTX505", "PTX601", *EARLY)
"""Codes of bytes that do not come, or come uncounted."""

WORDS = 8
"""Words in a row of a box of more than one dimension."""


def full_count(plan: Plan) -> int:
    """Arrivals at the mbarrier of a full slot."""
    fillers = plan.consumers if plan.roles == "unified" else LANES
    if plan.has_bulk and plan.announces == "issuer":
        return 1
    return fillers


def fill(room: Room, turn: Turn) -> None:
    """Ask for a tile. Executed by the threads that fill, all of them."""
    if room.plan.has_bulk:
        _fill_by_one(room, turn)
    else:
        _fill_by_all(room, turn)


def _fill_by_all(room: Room, turn: Turn) -> None:
    plan, script = room.plan, room.script
    each = plan.consumers if plan.roles == "unified" else LANES
    slot = script.place(room.own, turn.slot, plan.tile)
    own = script.value("mad.wide.u32", room.mine, str(plan.size), room.source, kind="b64")
    source = script.far(own, turn.number, plan.tile)
    way = "ca" if plan.cached else "cg"
    size = f"{plan.size}, {plan.size - plan.zeros}" if plan.zeros else str(plan.size)
    copies = [
        f"cp.async.{way}.shared.global [{on(slot, at)}], [{on(source, at)}], {size};"
        for at in range(0, plan.tile, each * plan.size)
    ]
    if plan.mechanism == "cp.async":
        commit = "cp.async.commit_group;"
        faults = (
            instead("commit-too-early", (commit, *copies), "PTX301", *EARLY),
            instead("delete-commit", tuple(copies), "PTX301", *EARLY),
        )
        script.do(*copies, commit, faults=() if waits_for_all(plan) else faults)
        return
    script.do(*copies)
    at = script.place(FULL, turn.slot, 8)
    inc = ".noinc" if plan.noinc else ""
    other = "" if plan.noinc else ".noinc"
    wrong = ("PTX503", "PTX504", "PTX505", "PTX601", *EARLY)
    script.do(
        f"cp.async.mbarrier.arrive{inc}.shared.b64 [{at}];",
        faults=(
            without("delete-track", *wrong),
            instead("track-otherwise", f"cp.async.mbarrier.arrive{other}.shared.b64 [{at}];", *wrong),
        ),
    )
    if not plan.noinc:
        state = script.new("b64")
        script.do(
            f"mbarrier.arrive.shared.b64 {state}, [{at}];", faults=(without("delete-arrive", "PTX504", "PTX601"),)
        )


def _fill_by_one(room: Room, turn: Turn) -> None:
    plan, script = room.plan, room.script
    slot = script.place(TILES, turn.slot, plan.tile)
    bar = script.place(FULL, turn.slot, 8)
    if plan.mechanism == "bulk":
        sources = [on(script.far(room.source, turn.number, plan.tile), part) for part in _parts(plan)]
        copies = [
            bulk_copy(on(slot, part), source, plan.tile // plan.parts, bar)
            for part, source in zip(_parts(plan), sources, strict=True)
        ]
    else:
        copies = [tensor_copy(room, turn, on(slot, part), part, bar) for part in _parts(plan)]
    expect, faults = announcement(plan, bar)
    with script.only(room.issue):
        script.do(expect, faults=faults)
        for part, copy in zip(_parts(plan), copies, strict=True):
            at = on(slot, part)
            moved = copy.replace(f"[{at}],", f"[{on(at, 8)}],", 1)
            aside: tuple[Fault, ...] = (instead("misaligned-address", moved, "PTX205", "PTX207"),)
            if plan.stages > 1 and isinstance(turn.slot, int):
                other = on(FULL, 8 * ((turn.slot + 1) % plan.stages))
                aside += (instead("other-mbarrier", copy.replace(f"[{bar}];", f"[{other}];"), *BYTES),)
            size = plan.tile // plan.parts if plan.mechanism == "bulk" else 0
            script.do(copy, faults=(*of_copy(script, copy, size), *aside))
    if plan.announces == "all":
        others = f"!{room.issue}"
        with script.only(others):
            script.do(
                f"mbarrier.arrive.shared::cta.b64 _, [{bar}];",
                faults=(without("delete-arrive", "PTX504", "PTX503", "PTX601"),),
            )


def announcement(plan: Plan, bar: str) -> tuple[str, tuple[Fault, ...]]:
    """The arrival that tells an mbarrier how many bytes come, and what can be wrong with it."""
    arrive = f"mbarrier.arrive{{}}.shared::cta.b64 _, [{bar}]{{}};"
    expect = arrive.format(".expect_tx", f", {plan.tile}")
    alone = f"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{bar}], {plan.tile};"
    found = (
        without("delete-arrive-expect", *BYTES),
        instead("expect-half", arrive.format(".expect_tx", f", {plan.tile // 2}"), *BYTES),
        instead("expect-more", arrive.format(".expect_tx", f", {plan.tile + 16}"), *BYTES),
        instead("expect-nothing", arrive.format("", ""), *BYTES),
        instead("expect-without-arrival", alone, *BYTES),
        instead("arrive-by-all", expect, *BYTES, unguarded=True),
    )
    if plan.announces == "all" and plan.cluster == 1:  # the phase does not end before others have arrived
        return expect, found
    return expect, (*found, instead("expect-after-arrival", (arrive.format("", ""), alone), *BYTES))


def of_copy(script: Script, copy: str, size: int = 0) -> tuple[Fault, ...]:
    """What can be wrong with a copy that tells an mbarrier. size: its bytes, where they stand in the instruction."""
    found = [without("delete-copy", *BYTES), instead("copy-by-all", copy, *BYTES, unguarded=True)]
    if size:
        found.append(instead("copy-less", copy.replace(f", {size}, [", f", {size - 16}, ["), *BYTES))
        odd = script.new()
        lines = (f"mov.u32 {odd}, {size - 8};", copy.replace(f", {size}, [", f", {odd}, ["))
        found.append(instead("odd-size", lines, "PTX206", "PTX205", "PTX503"))
    return tuple(found)


def _parts(plan: Plan) -> range:
    return range(0, plan.tile, plan.tile // plan.parts)


def bulk_copy(slot: str, source: str, size: int, bar: str) -> str:
    """From global memory, told to an mbarrier."""
    return f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{slot}], [{source}], {size}, [{bar}];"


def tensor_copy(room: Room, turn: Turn, slot: str, part: Index, bar: str) -> str:
    """A box, told to an mbarrier. part: the byte of the tile at which the box begins."""
    place = coordinates(room, turn, part)
    opcode = f"cp.async.bulk.tensor.{room.plan.rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    return f"{opcode} [{slot}], [{room.source}, {{{place}}}], [{bar}];"


def coordinates(room: Room, turn: Turn, part: Index) -> str:
    """Where a tile, or a part of it that begins at a byte, stands in the array of a map."""
    plan, script = room.plan, room.script
    if plan.rank == 1:
        words = plan.tile // 4
        base = script.value("mul.lo.u32", room.home, str(words * plan.rounds))
        at = script.value("mad.lo.u32", str(turn.number), str(words), base)
        return script.value("add.u32", at, _fewer(script, part, 2)) if part else at
    known = isinstance(turn.number, int)
    column = str(int(turn.number) * WORDS) if known else script.value("mul.lo.u32", str(turn.number), str(WORDS))
    row = _fewer(script, part, 5)
    if plan.rank == 3:
        return f"{column}, {row}, {room.home}"
    rows = plan.tile // 4 // WORDS
    return f"{column}, {script.value('mad.lo.u32', room.home, str(rows), row)}"


def _fewer(script: Script, part: Index, bits: int) -> str:
    """A number of bytes in larger units: words, or rows of them."""
    return str(part >> bits) if isinstance(part, int) else script.value("shr.u32", part, str(bits))


def _await_groups(room: Room, left: int) -> None:
    """Until all groups are complete but so many, and all threads know: cp.async has no other way to tell others."""
    script = room.script
    wait_, barrier = f"cp.async.wait_group {left};", "bar.sync 0;"
    if waits_for_all(room.plan):
        wait_ = "cp.async.wait_all;"
    script.do(
        wait_,
        barrier,
        faults=(
            instead("delete-group-wait", barrier, *EARLY),
            instead("wait-for-less", (f"cp.async.wait_group {left + 1};", barrier), *EARLY),
            instead("delete-barrier", wait_, *EARLY),
            instead("barrier-too-early", (barrier, wait_), *EARLY),
            instead("group-wait-by-one", (f"@{room.first} {wait_}", barrier), *EARLY),
        ),
    )


def waits_for_all(plan: Plan) -> bool:
    """Whether what is waited for need not be committed: by `cp.async.wait_all`."""
    return plan.roles == "unified" and plan.ahead == 1 and plan.counted


def await_full(room: Room, turn: Turn, left: int) -> None:
    """Until the tile of a round is there."""
    if room.plan.has_full:
        wait(room, FULL, turn, turn.parity, (*EARLY, "PTX504", "PTX505"))  # who goes on early arrives early, too
    else:
        _await_groups(room, left)


def on(base: str, offset: int) -> str:
    """An address further on."""
    if not offset:
        return base
    start, plus, known = base.partition("+")
    return f"{start}+{int(known) + offset}" if plus else f"{base}+{offset}"
