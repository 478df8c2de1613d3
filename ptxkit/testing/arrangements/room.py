"""What all parts of a pipeline's text share: the plan, the script, and the registers that everybody knows."""

from __future__ import annotations

from ptxkit.records import dataclass
from ptxkit.testing.arrangements.plan import MULTICASTS, Plan
from ptxkit.testing.arrangements.script import Fault, Index, Script, instead, without


@dataclass(frozen=True, slots=True)
class Turn:
    """One round, known or in a loop. slot: where its tile lies; parity: of the phase of the slot's mbarrier."""

    number: Index
    slot: Index
    parity: Index

    @staticmethod
    def known(number: int, stages: int) -> Turn:
        """A round whose number is known."""
        return Turn(number, number % stages, number // stages % 2)


@dataclass(frozen=True, slots=True)
class Room:
    """thread: the register of the thread's number. first: whether it is 0; issue: whether it is the one that copies.

    fills: whether the thread is of those that fill, where there are roles. lane: of the thread in its warp. mine: the
    thread's number among those that fill; own: the address of the element of that number in the first slot, which
    begins at `tiles`. source, target: the CTA's part of the arrays, or the maps' addresses. block: the CTA's number;
    home: of the part of the input that it reads.
    """

    plan: Plan
    script: Script
    thread: str
    first: str
    issue: str
    fills: str
    lane: str
    mine: str
    tiles: str
    own: str
    source: str
    target: str
    block: str
    home: str

    def refills(self, turn: Turn) -> bool:
        """Whether the slot of a round is filled again later."""
        plan = self.plan
        if isinstance(turn.number, int):
            return turn.number + plan.stages < plan.rounds
        return plan.rounds > plan.stages

    def reuses(self, turn: Turn) -> bool:
        """Whether the slot of a round was filled before."""
        plan = self.plan
        return turn.number >= plan.stages if isinstance(turn.number, int) else plan.rounds > plan.stages


TILES = "tiles"
FULL = "full"
EMPTY = "empty"


def setup(plan: Plan, script: Script) -> Room:
    """Threads, their roles, and where they find their part of the arrays."""
    thread = script.value("mov.u32", "%tid.x")
    first = script.value("setp.eq.u32", thread, "0", kind="pred")
    fills = first
    lane = mine = thread
    if plan.roles == "producer":
        fills = script.value("setp.ge.u32", thread, str(plan.consumers), kind="pred")
        lane = mine = script.value("and.b32", thread, "31")
    issue = _issuer(plan, script, thread, first, fills)
    block = home = script.value("mov.u32", "%ctaid.x")
    if plan.mechanism in MULTICASTS:
        home = script.value("mov.u32", "%clusterid.x")
    source = script.new("b64")
    script.do(f"ld.param.u64 {source}, [in_];" if not plan.has_map else f"mov.b64 {source}, in_;")
    if plan.has_map:
        script.do(f"cvta.param.u64 {source}, {source};")
    elif plan.inputs > 1:
        script.do(f"mad.wide.u32 {source}, {home}, {plan.rounds * plan.brought}, {source};")
    target = script.new("b64")
    if plan.drain == "tensor":
        script.do(f"mov.b64 {target}, out_;")
        script.do(f"cvta.param.u64 {target}, {target};")
    else:
        script.do(f"ld.param.u64 {target}, [out_];")
    tiles = script.value("mov.u32", TILES)
    own = script.value("mad.lo.u32", mine, str(plan.size), tiles)
    return Room(plan, script, thread, first, issue, fills, lane, mine, tiles, own, source, target, block, home)


def _issuer(plan: Plan, script: Script, thread: str, first: str, fills: str) -> str:
    """The one thread that issues copies of whole tiles."""
    if not plan.elected:
        if plan.roles == "unified":
            return first
        return script.value("setp.eq.u32", thread, str(plan.consumers), kind="pred")
    elected, warp = script.new("pred"), fills
    script.do(f"elect.sync _|{elected}, 0xffffffff;")
    if plan.roles == "unified":
        warp = script.value("setp.lt.u32", thread, "32", kind="pred")
    script.do(f"and.pred {elected}, {elected}, {warp};")
    return elected


def initialise(room: Room, counts: dict[str, int], *, cluster: bool = False) -> None:
    """The mbarriers, by the first thread. counts: arrivals of a phase, by the barriers' name.

    cluster: whether other CTAs use them: then the cluster meets behind it.
    """
    plan, script = room.plan, room.script
    if not counts and not cluster:
        return
    with script.only(room.first):
        for name, count in counts.items():
            for stage in range(plan.stages):
                at = script.place(name, stage, 8)
                script.do(f"mbarrier.init{plan.own}.b64 [{at}], {count};", faults=_of_init(room, name, stage, count))
        if cluster:
            script.do("fence.mbarrier_init.release.cluster;")
    if cluster:
        return
    script.do("bar.sync 0;", faults=(without("delete-barrier", "PTX501"),))


def _of_init(room: Room, name: str, stage: int, count: int) -> tuple[Fault, ...]:
    """A barrier that no thread waits for with an effect can be initialised as it likes."""
    plan = room.plan
    at = room.script.place(name, stage, 8)
    text = f"mbarrier.init{plan.own}.b64 [{at}], {{}};"
    used = stage < plan.rounds if name == FULL else stage + plan.stages < plan.rounds
    touched = stage < plan.rounds
    found = []
    if touched:
        found += [without("delete-init", "PTX501")]
        found += [instead("init-by-all", text.format(count), "PTX502", unguarded=True)]
    if used:
        found += [instead("init-count-more", text.format(count + 1), "PTX504", "PTX503", "PTX601")]
        if count > 1:
            found += [instead("init-count-less", text.format(count - 1), "PTX505", "PTX302", "PTX303", "PTX621")]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Way:
    """How an mbarrier is waited for. order: the modifiers, where it is not `.acquire.cta`.

    once: whether it matters that it may have to ask again, and in which order it stands to others. uses: of each slot,
    behind which the parity is another one.
    """

    order: str = ""
    once: bool = True
    uses: int = 1


PLAIN = Way()


def wait(room: Room, name: str, turn: Turn, parity: Index, faults: tuple[str, ...], way: Way = PLAIN) -> None:
    """Until a phase of a barrier is complete. faults: codes of what comes of going on too early; none: it may."""
    plan, script = room.plan, room.script
    at = script.place(name, turn.slot, 8)
    label, done = script.label("WAIT"), script.new("pred")

    def lines(parity: Index, order: str = way.order, *, loop: bool = True) -> tuple[str, ...]:
        ask = f"mbarrier.{plan.polls}.parity{order}{plan.own}.b64 {done}, [{at}], {parity};"
        return (f"{label}:", ask, f"@!{done} bra {label};") if loop else (ask,)

    found: list[Fault] = []
    if faults:
        hangs = ("PTX503", "PTX504", "PTX505", "PTX601")
        found += [without("delete-mbarrier-wait", *faults)]
        if way.order and way.once:
            found += [instead("weaker-order", lines(parity, order=".relaxed.cluster"), *faults, "PTX506")]
        if way.once:
            found += [instead("wait-without-loop", lines(parity, loop=False), *faults)]
        if name == FULL:  # the first thread is among those that wait for it
            invalid = f"@{room.first} mbarrier.inval{plan.own}.b64 [{at}];"
            found += [instead("inval-too-early", (invalid, *lines(parity)), "PTX507", "PTX501", *faults)]
        if isinstance(parity, int):
            found += [instead("other-parity", lines(parity ^ 1), *faults, *hangs)]
        else:
            turned = script.new()
            flip = f"xor.b32 {turned}, {parity}, 1;"
            found += [instead("other-parity", (flip, *lines(turned)), *faults, *hangs)]
            if room.plan.rounds > way.uses * room.plan.stages:
                found += [instead("constant-parity", lines(0), *faults, *hangs)]
    script.do(*lines(parity), faults=tuple(found))
