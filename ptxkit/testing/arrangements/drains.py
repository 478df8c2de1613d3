"""How results leave: a sum at the end, or the value of each round by stores, or by bulk copies out of shared memory."""

from __future__ import annotations

from ptxkit.testing.arrangements.fills import WORDS, on
from ptxkit.testing.arrangements.plan import Plan
from ptxkit.testing.arrangements.room import Room, Turn
from ptxkit.testing.arrangements.script import Fault, instead, without

STAGED = "staged"
UNFENCED = ("PTX401",)
RACES = ("PTX621", "PTX303", "PTX302", "PTX401", "PTX402")
METER = 1
"""The named barrier at which consumers meet."""


class Drain:
    """Takes the value of each round. It is told of the beginning and the end."""

    def __init__(self, room: Room) -> None:
        self.room, self.plan, self.script = room, room.plan, room.script
        self.sum = ""
        self.read = ""

    def begin(self) -> None:
        """What consumers know all the time: where they read, and the sum."""
        plan, script = self.plan, self.script
        if plan.shift == 1:
            own = self.room.own
            if self.room.mine != self.room.thread:
                own = script.value("mad.lo.u32", self.room.thread, str(plan.size), self.room.tiles)
            self.read = script.value("xor.b32", own, str(plan.size))
        else:
            element = script.value("add.u32", self.room.thread, str(plan.shift))
            element = script.value("rem.u32", element, str(plan.consumers))
            self.read = script.value("mad.lo.u32", element, str(plan.size), self.room.tiles)
        if plan.drain == "sum" and not plan.unrolled:
            self.sum = script.value("mov.u32", "0")

    def consume(self, turn: Turn) -> None:
        """Read the element of a round, and hand on its value."""
        plan, script = self.plan, self.script
        words = [script.new() for _ in range(plan.size // 4)]
        place = script.place(self.read, turn.slot, plan.tile)
        vector = {1: "", 2: ".v2", 4: ".v4"}[len(words)]
        said = words[0] if len(words) == 1 else f"{{{', '.join(words)}}}"
        script.do(f"ld.shared{vector}.u32 {said}, [{place}];")
        for each in words[1:]:
            script.do(f"add.u32 {words[0]}, {words[0]}, {each};")
        self.value(turn, words[0])

    def value(self, turn: Turn, value: str) -> None:
        """Hand on the value of a round."""
        plan, script = self.plan, self.script
        if plan.drain == "sum" and not self.sum:
            self.sum = value
        elif plan.drain == "sum":
            script.do(f"mad.lo.u32 {self.sum}, {self.sum}, 3, {value};")
        elif plan.drain == "plain":
            row = str(turn.number)
            if plan.grid > 1:
                row = script.value("mad.lo.u32", self.room.block, str(plan.rounds), row)
            at = self.room.thread
            if row != "0":
                at = script.value("mad.lo.u32", row, str(plan.consumers), at)
            where = script.value("mad.wide.u32", at, "4", self.room.target, kind="b64")
            script.do(f"st.global.u32 [{where}], {value};")
        else:
            self.stage(turn, value)

    def meet(self) -> str:
        """The barrier of all consumers."""
        return "bar.sync 0;" if self.plan.roles == "unified" else f"bar.sync {METER}, {self.plan.consumers};"

    def stage(self, turn: Turn, value: str) -> None:
        """Through shared memory: when the copy before has read it, write it, fence, meet, copy."""
        plan, script, first = self.plan, self.script, self.room.first
        row = plan.consumers * 4
        buffer = self.buffer(turn)
        if self.is_reused(turn):
            with script.only(first):
                script.do(f"cp.async.bulk.wait_group.read {plan.buffers - 1};", faults=self.of_reuse())
            script.do(self.meet(), faults=(without("delete-barrier", *RACES),) if self.has_reuse() else ())
        mine = script.value("mad.lo.u32", self.room.thread, "4", script.value("mov.u32", STAGED))
        place = script.place(mine, buffer, row)
        store, fence, meet = f"st.shared.u32 [{place}], {value};", "fence.proxy.async.shared::cta;", self.meet()
        wide = script.new("b64")
        start, _, further = place.partition("+")
        moved = (f"add.u64 {wide}, {wide}, {further};",) if further else ()
        widened = (f"cvt.u64.u32 {wide}, {start};", f"cvta.shared.u64 {wide}, {wide};", *moved)
        beyond = f"st.shared.u32 [{on(place, plan.buffers * row)}], {value};"
        script.do(
            store,
            fence,
            meet,
            faults=(
                instead("delete-proxy-fence", (store, meet), *UNFENCED),
                instead("fence-too-early", (fence, store, meet), *UNFENCED),
                instead("fence-by-one", (store, f"@{first} {fence}", meet), *UNFENCED),
                instead("fence-other-memory", (store, "fence.proxy.async.global;", meet), *UNFENCED),
                instead("fence-without-proxy", (store, "fence.acq_rel.cta;", meet), *UNFENCED),
                instead("delete-barrier", (store, fence), *RACES),
                instead("barrier-too-early", (meet, store, fence), *RACES),
                instead("no-space", (store.replace("st.shared", "st"), fence, meet), "PTX202"),
                instead("other-space", (store.replace("st.shared", "st.local"), fence, meet), "PTX208", "PTX207"),
                instead("generic-for-shared", (*widened, store.replace(place, wide), fence, meet), "PTX201"),
                instead("beyond-the-variable", (beyond, fence, meet), "PTX207", *RACES),
            ),
        )
        from_ = script.place(STAGED, buffer, row)
        copy = self.copy(turn, from_)
        commit = "cp.async.bulk.commit_group;"
        with script.only(first):
            script.do(copy)
            last = isinstance(turn.number, int) and turn.number + 1 == plan.rounds
            script.do(
                commit,
                faults=(without("delete-commit", "PTX301", "PTX303", "PTX612"),) if last or not plan.unrolled else (),
            )

    def buffer(self, turn: Turn) -> int | str:
        """Which of the buffers a round uses."""
        if isinstance(turn.number, int):
            return turn.number % self.plan.buffers
        if self.plan.buffers == 1:
            return 0
        return self.script.value("and.b32", turn.number, "1")

    def is_reused(self, turn: Turn) -> bool:
        """Whether a copy may still read the buffer of a round."""
        return not isinstance(turn.number, int) or turn.number >= self.plan.buffers

    def has_reuse(self) -> bool:
        """Whether one surely does in some round."""
        return self.plan.rounds > self.plan.buffers

    def of_reuse(self) -> tuple[Fault, ...]:
        """What may be wrong with the wait for the buffer."""
        if self.plan.rounds <= self.plan.buffers:
            return ()
        return (
            without("delete-group-wait", *RACES),
            instead("wait-for-less", f"cp.async.bulk.wait_group.read {self.plan.buffers};", *RACES),
            instead("wait-for-the-other-kind", f"cp.async.wait_group {self.plan.buffers - 1};", *RACES),
        )

    def copy(self, turn: Turn, source: str) -> str:
        """The instruction that takes a buffer away."""
        plan, script = self.plan, self.script
        row = plan.consumers * 4
        if plan.drain == "tensor":
            number = str(turn.number)
            line = script.value("mad.lo.u32", self.room.block, str(plan.rounds), number)
            box = f"[{self.room.target}, {{0, {line}}}]"
            return f"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group {box}, [{source}];"
        if plan.drain == "bulk":
            base = script.value("mad.wide.u32", self.room.block, str(plan.rounds * row), self.room.target, kind="b64")
            to = script.far(base, turn.number, row)
            return f"cp.async.bulk.global.shared::cta.bulk_group [{to}], [{source}], {row};"
        base = script.value("mad.wide.u32", self.room.block, str(row), self.room.target, kind="b64")
        return f"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [{base}], [{source}], {row};"

    def end(self) -> None:
        """Behind the last round."""
        plan, script = self.plan, self.script
        if plan.drain == "sum":
            at = self.room.thread
            if plan.grid > 1:
                at = script.value("mad.lo.u32", self.room.block, str(plan.consumers), at)
            where = script.value("mad.wide.u32", at, "4", self.room.target, kind="b64")
            script.do(f"st.global.u32 [{where}], {self.sum};")
        elif plan.drain != "plain":
            with script.only(self.room.first):
                read = ".read" if plan.counted else ""
                script.do(
                    f"cp.async.bulk.wait_group{read} 0;",
                    faults=(without("delete-group-wait", "PTX612", "PTX303", "PTX301"),),
                )


def shared_of(plan: Plan) -> list[str]:
    """Declarations of what a drain needs."""
    if plan.drain in ("sum", "plain"):
        return []
    return [f".shared .align 128 .b8 {STAGED}[{plan.buffers * plan.consumers * 4}];"]


__all__ = ["METER", "WORDS", "Drain", "shared_of"]
