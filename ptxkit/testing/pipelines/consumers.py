"""The outputs of a pipeline: a sum at the end, or the value of each iteration by stores, or by bulk copies from shared
memory.
"""

from __future__ import annotations

from ptxkit.diagnostics.catalogue import ptx2xx, ptx3xx, ptx4xx, ptx6xx
from ptxkit.testing.pipelines.build_context import BuildContext, Iteration
from ptxkit.testing.pipelines.plan import PipelinePlan
from ptxkit.testing.pipelines.producers import ROW_WORDS, add_offset
from ptxkit.testing.pipelines.text_builder import InjectedFault, omit, substitute

STAGING_BUFFER = "staged"
UNFENCED_CODES = (ptx4xx.MISSING_PROXY_FENCE,)
RACE_CODES = (
    ptx6xx.SHARED_MEMORY_RACE,
    ptx3xx.SOURCE_REUSED_IN_FLIGHT,
    ptx3xx.READ_BEFORE_WAIT,
    ptx4xx.MISSING_PROXY_FENCE,
    ptx4xx.REFILL_WITHOUT_PROXY_FENCE,
)
CONSUMER_BARRIER = 1
"""The named barrier of the consumers."""


class ConsumerWriter:
    """Processes the value of each iteration. It is called at the beginning and the end."""

    def __init__(self, room: BuildContext) -> None:
        self.room, self.plan, self.script = room, room.plan, room.builder
        self.sum = ""
        self.read_address = ""

    def begin(self) -> None:
        """Emits the addresses that consumers read, and the sum."""
        plan, script = self.plan, self.script
        if plan.shift == 1:
            own = self.room.own_element
            if self.room.producer_index != self.room.thread:
                own = script.value("mad.lo.u32", self.room.thread, str(plan.size), self.room.tiles)
            self.read_address = script.value("xor.b32", own, str(plan.size))
        else:
            element = script.value("add.u32", self.room.thread, str(plan.shift))
            element = script.value("rem.u32", element, str(plan.consumers))
            self.read_address = script.value("mad.lo.u32", element, str(plan.size), self.room.tiles)
        if plan.drain == "sum" and not plan.unrolled:
            self.sum = script.value("mov.u32", "0")

    def consume(self, turn: Iteration) -> None:
        """Emits the read of the element of an iteration, and its output."""
        plan, script = self.plan, self.script
        words = [script.new_register() for _ in range(plan.size // 4)]
        place = script.shared_address(self.read_address, turn.slot, plan.tile_bytes)
        vector = {1: "", 2: ".v2", 4: ".v4"}[len(words)]
        operand = words[0] if len(words) == 1 else f"{{{', '.join(words)}}}"
        script.emit(f"ld.shared{vector}.u32 {operand}, [{place}];")
        for each in words[1:]:
            script.emit(f"add.u32 {words[0]}, {words[0]}, {each};")
        self.write_result(turn, words[0])

    def write_result(self, turn: Iteration, value: str) -> None:
        """Emits the output of an iteration."""
        plan, script = self.plan, self.script
        if plan.drain == "sum" and not self.sum:
            self.sum = value
        elif plan.drain == "sum":
            script.emit(f"mad.lo.u32 {self.sum}, {self.sum}, 3, {value};")
        elif plan.drain == "plain":
            row = str(turn.number)
            if plan.grid > 1:
                row = script.value("mad.lo.u32", self.room.block, str(plan.rounds), row)
            at = self.room.thread
            if row != "0":
                at = script.value("mad.lo.u32", row, str(plan.consumers), at)
            where = script.value("mad.wide.u32", at, "4", self.room.target, kind="b64")
            script.emit(f"st.global.u32 [{where}], {value};")
        else:
            self.stage_result(turn, value)

    def consumer_barrier(self) -> str:
        """Returns the barrier of all consumers."""
        return "bar.sync 0;" if self.plan.roles == "unified" else f"bar.sync {CONSUMER_BARRIER}, {self.plan.consumers};"

    def stage_result(self, turn: Iteration, value: str) -> None:
        """Emits an output through shared memory: waits for the previous copy, writes, fences, synchronizes and
        copies.
        """
        plan, script, first = self.plan, self.script, self.room.is_first_thread
        row = plan.consumers * 4
        buffer = self.buffer(turn)
        if self.is_reused(turn):
            with script.guarded_by(first):
                script.emit(f"cp.async.bulk.wait_group.read {plan.buffers - 1};", faults=self.reuse_faults())
            script.emit(
                self.consumer_barrier(), faults=(omit("delete-barrier", *RACE_CODES),) if self.has_reuse() else ()
            )
        mine = script.value("mad.lo.u32", self.room.thread, "4", script.value("mov.u32", STAGING_BUFFER))
        place = script.shared_address(mine, buffer, row)
        store, fence, meet = (
            f"st.shared.u32 [{place}], {value};",
            "fence.proxy.async.shared::cta;",
            self.consumer_barrier(),
        )
        wide = script.new_register("b64")
        start, _, further = place.partition("+")
        moved = (f"add.u64 {wide}, {wide}, {further};",) if further else ()
        widened = (f"cvt.u64.u32 {wide}, {start};", f"cvta.shared.u64 {wide}, {wide};", *moved)
        beyond = f"st.shared.u32 [{add_offset(place, plan.buffers * row)}], {value};"
        script.emit(
            store,
            fence,
            meet,
            faults=(
                substitute("delete-proxy-fence", (store, meet), *UNFENCED_CODES),
                substitute("fence-too-early", (fence, store, meet), *UNFENCED_CODES),
                substitute("fence-by-one", (store, f"@{first} {fence}", meet), *UNFENCED_CODES),
                substitute("fence-other-memory", (store, "fence.proxy.async.global;", meet), *UNFENCED_CODES),
                substitute("fence-without-proxy", (store, "fence.acq_rel.cta;", meet), *UNFENCED_CODES),
                substitute("delete-barrier", (store, fence), *RACE_CODES),
                substitute("barrier-too-early", (meet, store, fence), *RACE_CODES),
                substitute("no-space", (store.replace("st.shared", "st"), fence, meet), ptx2xx.SPACE_OFFSET_AS_GENERIC),
                substitute(
                    "other-space",
                    (store.replace("st.shared", "st.local"), fence, meet),
                    ptx2xx.ADDRESS_OF_ANOTHER_SPACE,
                    ptx2xx.OUT_OF_BOUNDS,
                ),
                substitute(
                    "generic-for-shared",
                    (*widened, store.replace(place, wide), fence, meet),
                    ptx2xx.GENERIC_ADDRESS_IN_SPACE,
                ),
                substitute("beyond-the-variable", (beyond, fence, meet), ptx2xx.OUT_OF_BOUNDS, *RACE_CODES),
            ),
        )
        from_ = script.shared_address(STAGING_BUFFER, buffer, row)
        copy = self.copy(turn, from_)
        commit = "cp.async.bulk.commit_group;"
        with script.guarded_by(first):
            script.emit(copy)
            last = isinstance(turn.number, int) and turn.number + 1 == plan.rounds
            script.emit(
                commit,
                faults=(
                    omit(
                        "delete-commit",
                        ptx3xx.GROUP_NEVER_COMMITTED,
                        ptx3xx.SOURCE_REUSED_IN_FLIGHT,
                        ptx6xx.EXIT_TOO_EARLY,
                    ),
                )
                if last or not plan.unrolled
                else (),
            )

    def buffer(self, turn: Iteration) -> int | str:
        """Returns the buffer that an iteration uses."""
        if isinstance(turn.number, int):
            return turn.number % self.plan.buffers
        if self.plan.buffers == 1:
            return 0
        return self.script.value("and.b32", turn.number, "1")

    def is_reused(self, turn: Iteration) -> bool:
        """Returns whether a copy may still read the buffer of an iteration."""
        return not isinstance(turn.number, int) or turn.number >= self.plan.buffers

    def has_reuse(self) -> bool:
        """Returns whether a buffer is certainly reused in some iteration."""
        return self.plan.rounds > self.plan.buffers

    def reuse_faults(self) -> tuple[InjectedFault, ...]:
        """Returns the faults of the wait for the buffer."""
        if self.plan.rounds <= self.plan.buffers:
            return ()
        return (
            omit("delete-group-wait", *RACE_CODES),
            substitute("wait-for-less", f"cp.async.bulk.wait_group.read {self.plan.buffers};", *RACE_CODES),
            substitute("wait-for-the-other-kind", f"cp.async.wait_group {self.plan.buffers - 1};", *RACE_CODES),
        )

    def copy(self, turn: Iteration, source: str) -> str:
        """Returns the instruction that copies a buffer to global memory."""
        plan, script = self.plan, self.script
        row = plan.consumers * 4
        if plan.drain == "tensor":
            number = str(turn.number)
            line = script.value("mad.lo.u32", self.room.block, str(plan.rounds), number)
            box = f"[{self.room.target}, {{0, {line}}}]"
            return f"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group {box}, [{source}];"
        if plan.drain == "bulk":
            base = script.value("mad.wide.u32", self.room.block, str(plan.rounds * row), self.room.target, kind="b64")
            to = script.global_address(base, turn.number, row)
            return f"cp.async.bulk.global.shared::cta.bulk_group [{to}], [{source}], {row};"
        base = script.value("mad.wide.u32", self.room.block, str(row), self.room.target, kind="b64")
        return f"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [{base}], [{source}], {row};"

    def end(self) -> None:
        """Emits the code after the last iteration."""
        plan, script = self.plan, self.script
        if plan.drain == "sum":
            at = self.room.thread
            if plan.grid > 1:
                at = script.value("mad.lo.u32", self.room.block, str(plan.consumers), at)
            where = script.value("mad.wide.u32", at, "4", self.room.target, kind="b64")
            script.emit(f"st.global.u32 [{where}], {self.sum};")
        elif plan.drain != "plain":
            with script.guarded_by(self.room.is_first_thread):
                read = ".read" if plan.counted else ""
                script.emit(
                    f"cp.async.bulk.wait_group{read} 0;",
                    faults=(
                        omit(
                            "delete-group-wait",
                            ptx6xx.EXIT_TOO_EARLY,
                            ptx3xx.SOURCE_REUSED_IN_FLIGHT,
                            ptx3xx.GROUP_NEVER_COMMITTED,
                        ),
                    ),
                )


def shared_declarations(plan: PipelinePlan) -> list[str]:
    """Returns the declarations that an output needs."""
    if plan.drain in ("sum", "plain"):
        return []
    return [f".shared .align 128 .b8 {STAGING_BUFFER}[{plan.buffers * plan.consumers * 4}];"]


__all__ = ["CONSUMER_BARRIER", "ROW_WORDS", "ConsumerWriter", "shared_declarations"]
