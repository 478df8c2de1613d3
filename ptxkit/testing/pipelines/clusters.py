"""Pipelines over a cluster: copies that arrive in several CTAs, and such as go from one CTA's memory into another's.

A thread that has read a slot signals so to the CTA that fills it, at an mbarrier there; so no CTA may end before the
others.
"""

from __future__ import annotations

from ptxkit.diagnostics.catalogue import ptx2xx, ptx5xx, ptx6xx
from ptxkit.testing.pipelines.build_context import (
    EMPTY,
    FULL,
    TILES,
    BuildContext,
    Iteration,
    WaitMode,
    initialize_mbarriers,
    write_wait,
)
from ptxkit.testing.pipelines.consumers import RACE_CODES, UNFENCED_CODES, ConsumerWriter
from ptxkit.testing.pipelines.main_loop import DEADLOCK_CODES, for_each_iteration
from ptxkit.testing.pipelines.plan import LANES, MULTICASTS, PipelinePlan
from ptxkit.testing.pipelines.producers import (
    EARLY_READ_CODES,
    TX_COUNT_CODES,
    add_offset,
    bulk_copy,
    copy_faults,
    expect_tx,
    tensor_copy,
)
from ptxkit.testing.pipelines.text_builder import StaticOrRegister, omit, substitute

SEND_BUFFER = "mine"
"""The buffer that a CTA sends, by slot."""

CLUSTER_ACQUIRE = ".acquire.cluster"
EXITED_CODES = (
    ptx6xx.EXIT_TOO_EARLY,
    ptx5xx.MBARRIER_MISSING_ARRIVALS,
    ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
    ptx6xx.REMOTE_ACCESS_TOO_EARLY,
)
NOT_STARTED_CODES = (
    ptx5xx.MBARRIER_USE_BEFORE_INIT,
    ptx6xx.REMOTE_ACCESS_TOO_EARLY,
    ptx6xx.EXIT_TOO_EARLY,
    ptx5xx.MBARRIER_DOUBLE_INIT,
    ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
    ptx5xx.MBARRIER_MISSING_ARRIVALS,
    *EARLY_READ_CODES,
)


def shared_declarations(plan: PipelinePlan) -> list[str]:
    """Returns the declarations that such a pipeline needs in addition to the slots."""
    found = [] if plan.mechanism == "red.async" else [f".shared .align 8 .b64 {EMPTY}[{plan.stages}];"]
    if plan.mechanism == "dsmem":
        found.append(f".shared .align 128 .b8 {SEND_BUFFER}[{plan.stages * plan.tile_bytes}];")
    return found


def write_body(room: BuildContext) -> None:
    """Emits the body after the setup."""
    body = _ClusterWriter(room)
    body.begin()
    if room.plan.mechanism in MULTICASTS:
        body.multicast_loop()
    else:
        body.exchange_loop()
    body.finish()


class _ClusterWriter:
    """Emits a pipeline of a cluster."""

    def __init__(self, room: BuildContext) -> None:
        self.room, self.plan, self.script = room, room.plan, room.builder
        self.drain = ConsumerWriter(room)
        self.rank = self.is_multicast_issuer = ""
        self.size = room.plan.cluster

    # ------------------------------------------------------------------------------------------- begin and end

    def begin(self) -> None:
        """Emits the CTA's rank, the mbarriers, and the first barrier of the cluster."""
        plan, script = self.plan, self.script
        self.rank = script.value("mov.u32", "%cluster_ctarank")
        self.is_multicast_issuer = self.room.is_issuer
        if plan.mechanism in MULTICASTS and not plan.shares:
            first = script.value("setp.eq.u32", self.rank, "0", kind="pred")
            self.is_multicast_issuer = script.value("and.pred", first, self.room.is_issuer, kind="pred")
        counts = {FULL: 1}
        if plan.mechanism != "red.async":
            readers = self.size if plan.mechanism in MULTICASTS else 1
            counts[EMPTY] = readers * (plan.consumers if plan.releases == "thread" else plan.warps)
        initialize_mbarriers(self.room, counts, cluster=True)
        if plan.mechanism == "red.async":
            self.zero_slots()
        self.cluster_barrier("arrive.release", NOT_STARTED_CODES)

    def cluster_barrier(self, arrive: str, codes: tuple[str, ...]) -> None:
        """Emits the cluster's barrier. codes: of its omission, or none if the omission is harmless."""
        aligned = ".aligned" if self.plan.counted else ""
        come, go = f"barrier.cluster.{arrive}{aligned};", f"barrier.cluster.wait.acquire{aligned};"
        halves = (ptx6xx.UNPAIRED_CLUSTER_BARRIER, ptx6xx.BARRIER_DEADLOCK, *codes)
        faults = (
            omit("delete-cluster-barrier", *codes),
            substitute("delete-cluster-arrive", go, *halves),
            substitute("delete-cluster-wait", come, *halves),
        )
        self.script.emit(come, go, faults=faults if codes else ())

    def finish(self) -> None:
        """Emits the results, and the last barrier: no CTA's memory is deallocated before all CTAs have arrived
        there.
        """
        self.drain.end()
        self.cluster_barrier("arrive", () if self.plan.mechanism == "red.async" else EXITED_CODES)

    def zero_slots(self) -> None:
        """Emits stores of zeros to the slots that others add to."""
        script, plan = self.script, self.plan
        start = script.value("mad.lo.u32", self.room.thread, "4", script.value("mov.u32", TILES))
        for stage in range(plan.stages):
            script.emit(f"st.shared.u32 [{script.shared_address(start, stage, plan.tile_bytes)}], 0;")

    # ------------------------------------------------------------------------------------------- multicast

    def multicast_loop(self) -> None:
        """Emits a loop in which a tile is copied to all CTAs at once, by one of them, or a part by each."""
        plan = self.plan
        self.drain.begin()
        for number in range(min(plan.stages, plan.rounds)):
            self.issue_multicast(Iteration.at(number, plan.stages), self.is_multicast_issuer)

        def one(turn: Iteration) -> None:
            write_wait(
                self.room,
                FULL,
                turn,
                turn.parity,
                (*EARLY_READ_CODES, ptx5xx.MBARRIER_MISSING_ARRIVALS, ptx5xx.MBARRIER_EXCESS_ARRIVALS),
            )
            self.drain.consume(turn)
            self.release(turn, list(range(self.size)) if plan.shares else [0])
            self.refill(turn)

        for_each_iteration(self.room, one)

    def refill(self, turn: Iteration) -> None:
        """Emits code that fills the slot for a later iteration, if there is one, when all CTAs have read it."""
        plan, script, room = self.plan, self.script, self.room
        if not room.is_refilled(turn):
            return
        end = script.new_label("LAST")
        number: StaticOrRegister
        if isinstance(turn.number, int):
            number = turn.number + plan.stages
        else:
            number = script.value("add.u32", turn.number, str(plan.stages))
            more = script.value("setp.lt.u32", number, str(plan.rounds), kind="pred")
            script.emit(f"@!{more} bra {end};")
        with script.guarded_by(self.is_multicast_issuer, branch=True):
            # Bytes that arrive too early count for the phase of another copy, and are missing in their own.
            early = (*RACE_CODES, *EARLY_READ_CODES, ptx5xx.MBARRIER_TX_COUNT_MISMATCH, ptx5xx.MBARRIER_EXCESS_ARRIVALS)
            write_wait(room, EMPTY, turn, turn.parity, early, WaitMode(CLUSTER_ACQUIRE, uses=2))
        self.issue_multicast(Iteration(number, turn.slot, 0), self.is_multicast_issuer)
        script.emit(f"{end}:")

    def issue_multicast(self, turn: Iteration, leads: str) -> None:
        """Emits the expect-tx of the bytes in each CTA, and the copy."""
        plan, script, room = self.plan, self.script, self.room
        bar = script.shared_address(FULL, turn.slot, 8)
        expect, faults = expect_tx(plan, bar)
        with script.guarded_by(room.is_issuer):
            script.emit(expect, faults=faults)
        slot = script.shared_address(TILES, turn.slot, plan.tile_bytes)
        mask = script.value("mov.u16", str((1 << self.size) - 1), kind="b16")
        size = plan.tile_bytes // self.size if plan.shares else plan.tile_bytes
        where = script.value("mul.lo.u32", self.rank, str(size)) if plan.shares else ""
        to = self.add_offset(slot, where)
        if plan.mechanism == "multicast":
            source = script.global_address(room.source, turn.number, plan.tile_bytes)
            if where:
                moved = script.new_register("b64")
                base, _, known = source.partition("+")
                script.emit(f"mad.wide.u32 {moved}, {where}, 1, {base};")
                source = add_offset(moved, int(known or 0))
            copy = bulk_copy(to, source, size, bar)
        else:
            copy = tensor_copy(room, turn, to, where or 0, bar)
        copy = copy.replace("::bytes ", "::bytes.multicast::cluster ").replace(f"[{bar}];", f"[{bar}], {mask};")
        single_mask = script.value("mov.u16", "1", kind="b16")
        beyond = script.value("mov.u16", str((2 << self.size) - 1), kind="b16")
        # ptxas executes a copy once for all lanes that are converged, and lets other lanes run ahead of it:
        # corpus/vendor.
        script.emit("bar.warp.sync 0xffffffff;")
        with script.guarded_by(leads):
            fewer = substitute("multicast-to-fewer", copy.replace(mask, single_mask), *TX_COUNT_CODES)
            more = substitute("multicast-to-more", copy.replace(mask, beyond), ptx2xx.NUMBER_OUT_OF_RANGE)
            script.emit(copy, faults=(omit("delete-copy", *TX_COUNT_CODES), fewer, more))

    def add_offset(self, base: str, where: str) -> str:
        """Returns an address plus the value of a register."""
        if not where:
            return base
        script = self.script
        start, _, known = base.partition("+")
        begin = start if start.startswith("%") else script.value("mov.u32", start)
        return add_offset(script.value("add.u32", begin, where), int(known or 0))

    def release(self, turn: Iteration, ranks: list[int] | list[str]) -> None:
        """Emits signals to the CTAs that fill a slot that it has been read, by every thread, or by one lane for its
        warp.
        """
        plan, script = self.plan, self.script
        own = script.shared_address(EMPTY, turn.slot, 8)
        own = own if own.startswith("%") else script.value("mov.u32", own)
        there = [script.value("mapa.shared::cluster.u32", own, str(rank)) for rank in ranks]
        lost = omit("delete-arrive", *DEADLOCK_CODES) if self.room.is_refilled(turn) else None
        lines = [f"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{each}];" for each in there]
        if plan.releases == "thread":
            for line in lines:
                script.emit(line, faults=(lost,) if lost else ())
            return
        script.emit("bar.warp.sync 0xffffffff;")
        lane = script.value("and.b32", self.room.thread, str(LANES - 1))
        leader = script.value("setp.eq.u32", lane, "0", kind="pred")
        with script.guarded_by(leader):
            for line in lines:
                script.emit(line, faults=(lost,) if lost else ())

    # ------------------------------------------------------------------------------------------- exchange

    def exchange_loop(self) -> None:
        """Emits a loop in which each CTA sends its tiles to the next one of the cluster, and reads those of the
        previous one.
        """
        plan, script = self.plan, self.script
        self.drain.begin()
        after, before = (
            script.value("rem.u32", script.value("add.u32", self.rank, str(by)), str(self.size))
            for by in (1, self.size - 1)
        )

        def one(turn: Iteration) -> None:
            self.expect(turn)
            if plan.mechanism != "red.async":
                self.await_empty(turn)
            self.send(turn, after)
            write_wait(
                self.room,
                FULL,
                turn,
                turn.parity,
                (*EARLY_READ_CODES, *EXITED_CODES, ptx5xx.MBARRIER_EXCESS_ARRIVALS),
                WaitMode(CLUSTER_ACQUIRE),
            )
            self.drain.consume(turn)
            if plan.mechanism != "red.async":
                self.release(turn, [before])

        for_each_iteration(self.room, one)

    def expect(self, turn: Iteration) -> None:
        """Emits the expect-tx of the bytes by the first thread."""
        expect, faults = expect_tx(self.plan, self.script.shared_address(FULL, turn.slot, 8))
        with self.script.guarded_by(self.room.is_first_thread):
            self.script.emit(expect, faults=faults)

    def await_empty(self, turn: Iteration) -> None:
        """Emits the wait until the receiver has read the slot's last tile, which returns at once if none existed."""
        known = isinstance(turn.parity, int)
        parity = int(turn.parity) ^ 1 if known else self.script.value("xor.b32", str(turn.parity), "1")
        faults = (
            (
                *RACE_CODES,
                *EARLY_READ_CODES,
                ptx5xx.MBARRIER_EXCESS_ARRIVALS,
                ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
                ptx5xx.MBARRIER_MISSING_ARRIVALS,
            )
            if self.room.is_reuse(turn)
            else ()
        )
        # With more slots than this, the tiles from the previous CTA prove that the next CTA has made the same progress.
        once = 2 * self.plan.stages <= self.size
        write_wait(self.room, EMPTY, turn, parity, faults, WaitMode(CLUSTER_ACQUIRE, once))

    def send(self, turn: Iteration, rank: str) -> None:
        """Emits the store of the thread's element to the other CTA."""
        plan, script, room = self.plan, self.script, self.room
        words = [script.new_register() for _ in range(plan.size // 4)]
        vector = {1: "", 2: ".v2", 4: ".v4"}[len(words)]
        operand = words[0] if len(words) == 1 else f"{{{', '.join(words)}}}"
        own = script.value("mad.wide.u32", room.thread, str(plan.size), room.source, kind="b64")
        script.emit(f"ld.global{vector}.u32 {operand}, [{script.global_address(own, turn.number, plan.tile_bytes)}];")
        own_bar = self.local_address(script.shared_address(FULL, turn.slot, 8))
        bar = self.remote_address(own_bar, rank)
        if plan.mechanism == "dsmem":
            self.copy(turn, rank, (f"st.shared{vector}.u32", operand), (own_bar, bar))
            return
        start = script.value("mad.lo.u32", room.thread, str(plan.size), script.value("mov.u32", TILES))
        to = self.remote_address(script.shared_address(start, turn.slot, plan.tile_bytes), rank)
        wrong = (
            ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
            ptx5xx.MBARRIER_MISSING_ARRIVALS,
            ptx6xx.BARRIER_DEADLOCK,
            *EARLY_READ_CODES,
        )
        if plan.mechanism == "st.async":
            line = f"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{vector}.u32 [{to}], {operand}, [{bar}];"
        else:
            opcode = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32"
            line = f"{opcode} [{to}], {operand}, [{bar}];"
        faults = (
            omit("delete-copy", *wrong),
            substitute("copy-by-one", f"@{room.is_first_thread} {line}", *wrong),
            substitute("own-mbarrier", line.replace(f"[{bar}]", f"[{own_bar}]"), ptx2xx.WRONG_CTA_ADDRESS),
        )
        script.emit(line, faults=faults)

    def local_address(self, place: str) -> str:
        """Returns a register with an address in the executing CTA."""
        return place if place.startswith("%") and "+" not in place else self.script.value(*_address_instruction(place))

    def remote_address(self, place: str, rank: str) -> str:
        """Returns the corresponding address in another CTA."""
        return self.script.value("mapa.shared::cluster.u32", self.local_address(place), rank)

    def copy(self, turn: Iteration, rank: str, stored: tuple[str, str], bars: tuple[str, str]) -> None:
        """Emits a copy from the executing CTA's shared memory to the other's. bars: the slot's mbarrier here, and
        there.
        """
        plan, script, room = self.plan, self.script, self.room
        start = script.value("mad.lo.u32", room.thread, str(plan.size), script.value("mov.u32", SEND_BUFFER))
        opcode, operand = stored
        store = f"{opcode} [{script.shared_address(start, turn.slot, plan.tile_bytes)}], {operand};"
        fence, meet = "fence.proxy.async.shared::cta;", "bar.sync 0;"
        script.emit(
            store,
            fence,
            meet,
            faults=(
                substitute("delete-proxy-fence", (store, meet), *UNFENCED_CODES),
                substitute("fence-too-early", (fence, store, meet), *UNFENCED_CODES),
                substitute("fence-by-one", (store, f"@{room.is_first_thread} {fence}", meet), *UNFENCED_CODES),
                substitute("fence-without-proxy", (store, "fence.acq_rel.cluster;", meet), *UNFENCED_CODES),
                substitute("delete-barrier", (store, fence), *RACE_CODES),
            ),
        )
        source = script.shared_address(SEND_BUFFER, turn.slot, plan.tile_bytes)
        to = self.remote_address(script.shared_address(TILES, turn.slot, plan.tile_bytes), rank)
        opcode = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
        line = f"{opcode} [{to}], [{source}], {plan.tile_bytes}, [{bars[1]}];"
        own = substitute(
            "copy-with-own-mbarrier", line.replace(f"[{bars[1]}]", f"[{bars[0]}]"), ptx2xx.WRONG_CTA_ADDRESS
        )
        with script.guarded_by(room.is_first_thread):
            script.emit(line, faults=(*copy_faults(script, line, plan.tile_bytes), own))


def _address_instruction(place: str) -> tuple[str, ...]:
    """Returns the instruction, and its operands, that computes an address."""
    base, plus, known = place.partition("+")
    if base.startswith("%"):
        return ("add.u32", base, known)
    return ("mov.u32", f"{base}{plus}{known}")
