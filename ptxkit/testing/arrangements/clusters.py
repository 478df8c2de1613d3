"""Pipelines over a cluster: copies that arrive in several CTAs, and such as go from one CTA's memory into another's.

Whoever has read a slot says so to the CTA that fills it, at an mbarrier there; so no CTA may end before the others.
"""

from __future__ import annotations

from ptxkit.testing.arrangements.drains import RACES, UNFENCED, Drain
from ptxkit.testing.arrangements.fills import (
    BYTES,
    EARLY,
    announcement,
    bulk_copy,
    of_copy,
    on,
    tensor_copy,
)
from ptxkit.testing.arrangements.plan import LANES, MULTICASTS, Plan
from ptxkit.testing.arrangements.room import EMPTY, FULL, TILES, Room, Turn, Way, initialise, wait
from ptxkit.testing.arrangements.rounds import HANGS, each_round
from ptxkit.testing.arrangements.script import Index, instead, without

MINE = "mine"
"""What a CTA sends, by slot."""

CLUSTER = ".acquire.cluster"
GONE = ("PTX612", "PTX504", "PTX503", "PTX611")
TOO_SOON = ("PTX501", "PTX611", "PTX612", "PTX502", "PTX503", "PTX504", *EARLY)


def shared_of(plan: Plan) -> list[str]:
    """Declarations of what such a pipeline needs beside the slots."""
    found = [] if plan.mechanism == "red.async" else [f".shared .align 8 .b64 {EMPTY}[{plan.stages}];"]
    if plan.mechanism == "dsmem":
        found.append(f".shared .align 128 .b8 {MINE}[{plan.stages * plan.tile}];")
    return found


def written(room: Room) -> None:
    """The body behind the setup."""
    body = _Cluster(room)
    body.begin()
    if room.plan.mechanism in MULTICASTS:
        body.multicast()
    else:
        body.exchange()
    body.finish()


class _Cluster:
    """Writes one."""

    def __init__(self, room: Room) -> None:
        self.room, self.plan, self.script = room, room.plan, room.script
        self.drain = Drain(room)
        self.rank = self.leads = ""
        self.size = room.plan.cluster

    # ------------------------------------------------------------------------------------------- begin and end

    def begin(self) -> None:
        """The CTA's place, the mbarriers, and the first meeting of the cluster."""
        plan, script = self.plan, self.script
        self.rank = script.value("mov.u32", "%cluster_ctarank")
        self.leads = self.room.issue
        if plan.mechanism in MULTICASTS and not plan.shares:
            first = script.value("setp.eq.u32", self.rank, "0", kind="pred")
            self.leads = script.value("and.pred", first, self.room.issue, kind="pred")
        counts = {FULL: 1}
        if plan.mechanism != "red.async":
            readers = self.size if plan.mechanism in MULTICASTS else 1
            counts[EMPTY] = readers * (plan.consumers if plan.releases == "thread" else plan.warps)
        initialise(self.room, counts, cluster=True)
        if plan.mechanism == "red.async":
            self.clear()
        self.meet("arrive.release", TOO_SOON)

    def meet(self, arrive: str, codes: tuple[str, ...]) -> None:
        """The cluster's barrier. codes: of what comes of its lack; none: it is not missed."""
        aligned = ".aligned" if self.plan.counted else ""
        come, go = f"barrier.cluster.{arrive}{aligned};", f"barrier.cluster.wait.acquire{aligned};"
        halves = ("PTX613", "PTX601", *codes)
        faults = (
            without("delete-cluster-barrier", *codes),
            instead("delete-cluster-arrive", go, *halves),
            instead("delete-cluster-wait", come, *halves),
        )
        self.script.do(come, go, faults=faults if codes else ())

    def finish(self) -> None:
        """The results, and the last meeting: nobody's memory goes away before all have arrived there."""
        self.drain.end()
        self.meet("arrive", () if self.plan.mechanism == "red.async" else GONE)

    def clear(self) -> None:
        """Zeros in the slots that others add to."""
        script, plan = self.script, self.plan
        start = script.value("mad.lo.u32", self.room.thread, "4", script.value("mov.u32", TILES))
        for stage in range(plan.stages):
            script.do(f"st.shared.u32 [{script.place(start, stage, plan.tile)}], 0;")

    # ------------------------------------------------------------------------------------------- multicast

    def multicast(self) -> None:
        """A tile comes into all CTAs at once, from one of them, or a part from each."""
        plan = self.plan
        self.drain.begin()
        for number in range(min(plan.stages, plan.rounds)):
            self.cast(Turn.known(number, plan.stages), self.leads)

        def one(turn: Turn) -> None:
            wait(self.room, FULL, turn, turn.parity, (*EARLY, "PTX504", "PTX505"))
            self.drain.consume(turn)
            self.release(turn, list(range(self.size)) if plan.shares else [0])
            self.again(turn)

        each_round(self.room, one)

    def again(self, turn: Turn) -> None:
        """Fill the slot for a later round, where there is one, when all CTAs have read it."""
        plan, script, room = self.plan, self.script, self.room
        if not room.refills(turn):
            return
        end = script.label("LAST")
        number: Index
        if isinstance(turn.number, int):
            number = turn.number + plan.stages
        else:
            number = script.value("add.u32", turn.number, str(plan.stages))
            more = script.value("setp.lt.u32", number, str(plan.rounds), kind="pred")
            script.do(f"@!{more} bra {end};")
        with script.only(self.leads, branch=True):
            # Bytes that come too early count in a phase of others, and are missing in theirs.
            early = (*RACES, *EARLY, "PTX503", "PTX505")
            wait(room, EMPTY, turn, turn.parity, early, Way(CLUSTER, uses=2))
        self.cast(Turn(number, turn.slot, 0), self.leads)
        script.do(f"{end}:")

    def cast(self, turn: Turn, leads: str) -> None:
        """Announce the bytes in each CTA, and copy."""
        plan, script, room = self.plan, self.script, self.room
        bar = script.place(FULL, turn.slot, 8)
        expect, faults = announcement(plan, bar)
        with script.only(room.issue):
            script.do(expect, faults=faults)
        slot = script.place(TILES, turn.slot, plan.tile)
        mask = script.value("mov.u16", str((1 << self.size) - 1), kind="b16")
        size = plan.tile // self.size if plan.shares else plan.tile
        where = script.value("mul.lo.u32", self.rank, str(size)) if plan.shares else ""
        to = self.further(slot, where)
        if plan.mechanism == "multicast":
            source = script.far(room.source, turn.number, plan.tile)
            if where:
                moved = script.new("b64")
                base, _, known = source.partition("+")
                script.do(f"mad.wide.u32 {moved}, {where}, 1, {base};")
                source = on(moved, int(known or 0))
            copy = bulk_copy(to, source, size, bar)
        else:
            copy = tensor_copy(room, turn, to, where or 0, bar)
        copy = copy.replace("::bytes ", "::bytes.multicast::cluster ").replace(f"[{bar}];", f"[{bar}], {mask};")
        alone = script.value("mov.u16", "1", kind="b16")
        beyond = script.value("mov.u16", str((2 << self.size) - 1), kind="b16")
        # ptxas makes a copy once for all lanes that pass together, and lets others be ahead of this one: corpus/vendor.
        script.do("bar.warp.sync 0xffffffff;")
        with script.only(leads):
            fewer = instead("multicast-to-fewer", copy.replace(mask, alone), *BYTES)
            more = instead("multicast-to-more", copy.replace(mask, beyond), "PTX206")
            script.do(copy, faults=(without("delete-copy", *BYTES), fewer, more))

    def further(self, base: str, where: str) -> str:
        """An address, further by what a register holds."""
        if not where:
            return base
        script = self.script
        start, _, known = base.partition("+")
        begin = start if start.startswith("%") else script.value("mov.u32", start)
        return on(script.value("add.u32", begin, where), int(known or 0))

    def release(self, turn: Turn, ranks: list[int] | list[str]) -> None:
        """Tell the CTAs that fill a slot that it has been read: every thread, or a lane for its warp."""
        plan, script = self.plan, self.script
        own = script.place(EMPTY, turn.slot, 8)
        own = own if own.startswith("%") else script.value("mov.u32", own)
        there = [script.value("mapa.shared::cluster.u32", own, str(rank)) for rank in ranks]
        lost = without("delete-arrive", *HANGS) if self.room.refills(turn) else None
        lines = [f"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{each}];" for each in there]
        if plan.releases == "thread":
            for line in lines:
                script.do(line, faults=(lost,) if lost else ())
            return
        script.do("bar.warp.sync 0xffffffff;")
        lane = script.value("and.b32", self.room.thread, str(LANES - 1))
        leader = script.value("setp.eq.u32", lane, "0", kind="pred")
        with script.only(leader):
            for line in lines:
                script.do(line, faults=(lost,) if lost else ())

    # ------------------------------------------------------------------------------------------- exchange

    def exchange(self) -> None:
        """Each CTA sends its tiles to the next one of the cluster, and reads what came from the one before."""
        plan, script = self.plan, self.script
        self.drain.begin()
        after, before = (
            script.value("rem.u32", script.value("add.u32", self.rank, str(by)), str(self.size))
            for by in (1, self.size - 1)
        )

        def one(turn: Turn) -> None:
            self.expect(turn)
            if plan.mechanism != "red.async":
                self.free(turn)
            self.send(turn, after)
            wait(self.room, FULL, turn, turn.parity, (*EARLY, *GONE, "PTX505"), Way(CLUSTER))
            self.drain.consume(turn)
            if plan.mechanism != "red.async":
                self.release(turn, [before])

        each_round(self.room, one)

    def expect(self, turn: Turn) -> None:
        """The first thread announces the bytes that come."""
        expect, faults = announcement(self.plan, self.script.place(FULL, turn.slot, 8))
        with self.script.only(self.room.first):
            self.script.do(expect, faults=faults)

    def free(self, turn: Turn) -> None:
        """Until the receiver has read the slot's last tile: the wait passes at once where there was none."""
        known = isinstance(turn.parity, int)
        parity = int(turn.parity) ^ 1 if known else self.script.value("xor.b32", str(turn.parity), "1")
        faults = (*RACES, *EARLY, "PTX505", "PTX503", "PTX504") if self.room.reuses(turn) else ()
        # With more slots than this, what has come from the CTA before tells that the one behind is as far.
        once = 2 * self.plan.stages <= self.size
        wait(self.room, EMPTY, turn, parity, faults, Way(CLUSTER, once))

    def send(self, turn: Turn, rank: str) -> None:
        """The thread's element goes to the other CTA."""
        plan, script, room = self.plan, self.script, self.room
        words = [script.new() for _ in range(plan.size // 4)]
        vector = {1: "", 2: ".v2", 4: ".v4"}[len(words)]
        said = words[0] if len(words) == 1 else f"{{{', '.join(words)}}}"
        own = script.value("mad.wide.u32", room.thread, str(plan.size), room.source, kind="b64")
        script.do(f"ld.global{vector}.u32 {said}, [{script.far(own, turn.number, plan.tile)}];")
        own_bar = self.here(script.place(FULL, turn.slot, 8))
        bar = self.there(own_bar, rank)
        if plan.mechanism == "dsmem":
            self.copy(turn, rank, (f"st.shared{vector}.u32", said), (own_bar, bar))
            return
        start = script.value("mad.lo.u32", room.thread, str(plan.size), script.value("mov.u32", TILES))
        to = self.there(script.place(start, turn.slot, plan.tile), rank)
        wrong = ("PTX503", "PTX504", "PTX601", *EARLY)
        if plan.mechanism == "st.async":
            line = f"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{vector}.u32 [{to}], {said}, [{bar}];"
        else:
            opcode = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32"
            line = f"{opcode} [{to}], {said}, [{bar}];"
        faults = (
            without("delete-copy", *wrong),
            instead("copy-by-one", f"@{room.first} {line}", *wrong),
            instead("own-mbarrier", line.replace(f"[{bar}]", f"[{own_bar}]"), "PTX210"),
        )
        script.do(line, faults=faults)

    def here(self, place: str) -> str:
        """A register with an address in the own CTA."""
        return place if place.startswith("%") and "+" not in place else self.script.value(*_address(place))

    def there(self, place: str, rank: str) -> str:
        """The same place in another CTA."""
        return self.script.value("mapa.shared::cluster.u32", self.here(place), rank)

    def copy(self, turn: Turn, rank: str, stored: tuple[str, str], bars: tuple[str, str]) -> None:
        """Through the own shared memory, by a copy into the other's. bars: the slot's mbarrier here, and there."""
        plan, script, room = self.plan, self.script, self.room
        start = script.value("mad.lo.u32", room.thread, str(plan.size), script.value("mov.u32", MINE))
        opcode, said = stored
        store = f"{opcode} [{script.place(start, turn.slot, plan.tile)}], {said};"
        fence, meet = "fence.proxy.async.shared::cta;", "bar.sync 0;"
        script.do(
            store,
            fence,
            meet,
            faults=(
                instead("delete-proxy-fence", (store, meet), *UNFENCED),
                instead("fence-too-early", (fence, store, meet), *UNFENCED),
                instead("fence-by-one", (store, f"@{room.first} {fence}", meet), *UNFENCED),
                instead("fence-without-proxy", (store, "fence.acq_rel.cluster;", meet), *UNFENCED),
                instead("delete-barrier", (store, fence), *RACES),
            ),
        )
        source = script.place(MINE, turn.slot, plan.tile)
        to = self.there(script.place(TILES, turn.slot, plan.tile), rank)
        opcode = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
        line = f"{opcode} [{to}], [{source}], {plan.tile}, [{bars[1]}];"
        own = instead("copy-with-own-mbarrier", line.replace(f"[{bars[1]}]", f"[{bars[0]}]"), "PTX210")
        with script.only(room.first):
            script.do(line, faults=(*of_copy(script, line, plan.tile), own))


def _address(place: str) -> tuple[str, ...]:
    """The instruction, and its operands, that give an address."""
    base, plus, known = place.partition("+")
    if base.startswith("%"):
        return ("add.u32", base, known)
    return ("mov.u32", f"{base}{plus}{known}")
