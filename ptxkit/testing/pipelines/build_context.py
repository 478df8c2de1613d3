"""The state that all parts of a pipeline's text share: the plan, the text builder, and common registers."""

from __future__ import annotations

from ptxkit.diagnostics.catalogue import ptx3xx, ptx5xx, ptx6xx
from ptxkit.fast_dataclasses import dataclass
from ptxkit.testing.pipelines.plan import MULTICASTS, PipelinePlan
from ptxkit.testing.pipelines.text_builder import InjectedFault, StaticOrRegister, TextBuilder, omit, substitute


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration, with a constant number or in a loop. slot: the index of its slot; parity: of the phase of the
    slot's mbarrier.
    """

    number: StaticOrRegister
    slot: StaticOrRegister
    parity: StaticOrRegister

    @staticmethod
    def at(number: int, stages: int) -> Iteration:
        """Returns an iteration with a constant number."""
        return Iteration(number, number % stages, number // stages % 2)


@dataclass(frozen=True, slots=True)
class BuildContext:
    """The registers that all parts share. thread: the thread's number. first: whether it is 0; issue: whether the
    thread issues copies.

    fills: whether the thread is a producer, if there are roles. mine: the thread's number among the producers; own: the
    address of the element of that number in the first slot, which begins at `tiles`. source, target: the CTA's part of
    the arrays, or the maps' addresses. block: the CTA's number; home: the part of the input that it reads.
    """

    plan: PipelinePlan
    builder: TextBuilder
    thread: str
    is_first_thread: str
    is_issuer: str
    is_producer: str
    producer_index: str
    tiles: str
    own_element: str
    source: str
    target: str
    block: str
    input_part: str

    def is_refilled(self, turn: Iteration) -> bool:
        """Returns whether the slot of an iteration is filled again later."""
        plan = self.plan
        if isinstance(turn.number, int):
            return turn.number + plan.stages < plan.rounds
        return plan.rounds > plan.stages

    def is_reuse(self, turn: Iteration) -> bool:
        """Returns whether the slot of an iteration was filled before."""
        plan = self.plan
        return turn.number >= plan.stages if isinstance(turn.number, int) else plan.rounds > plan.stages


TILES = "tiles"
FULL = "full"
EMPTY = "empty"


def build_setup(plan: PipelinePlan, script: TextBuilder) -> BuildContext:
    """Emits the code for threads, their roles, and their parts of the arrays."""
    thread = script.value("mov.u32", "%tid.x")
    first = script.value("setp.eq.u32", thread, "0", kind="pred")
    fills = first
    mine = thread
    if plan.roles == "producer":
        fills = script.value("setp.ge.u32", thread, str(plan.consumers), kind="pred")
        mine = script.value("and.b32", thread, "31")
    issue = _choose_issuer(plan, script, thread, first, fills)
    block = home = script.value("mov.u32", "%ctaid.x")
    if plan.mechanism in MULTICASTS:
        home = script.value("mov.u32", "%clusterid.x")
    source = script.new_register("b64")
    script.emit(f"ld.param.u64 {source}, [in_];" if not plan.has_map else f"mov.b64 {source}, in_;")
    if plan.has_map:
        script.emit(f"cvta.param.u64 {source}, {source};")
    elif plan.input_count > 1:
        script.emit(f"mad.wide.u32 {source}, {home}, {plan.rounds * plan.input_tile_bytes}, {source};")
    target = script.new_register("b64")
    if plan.drain == "tensor":
        script.emit(f"mov.b64 {target}, out_;")
        script.emit(f"cvta.param.u64 {target}, {target};")
    else:
        script.emit(f"ld.param.u64 {target}, [out_];")
    tiles = script.value("mov.u32", TILES)
    own = script.value("mad.lo.u32", mine, str(plan.size), tiles)
    return BuildContext(plan, script, thread, first, issue, fills, mine, tiles, own, source, target, block, home)


def _choose_issuer(plan: PipelinePlan, script: TextBuilder, thread: str, first: str, fills: str) -> str:
    """Returns the predicate of the one thread that issues copies of whole tiles."""
    if not plan.elected:
        if plan.roles == "unified":
            return first
        return script.value("setp.eq.u32", thread, str(plan.consumers), kind="pred")
    elected, warp = script.new_register("pred"), fills
    script.emit(f"elect.sync _|{elected}, 0xffffffff;")
    if plan.roles == "unified":
        warp = script.value("setp.lt.u32", thread, "32", kind="pred")
    script.emit(f"and.pred {elected}, {elected}, {warp};")
    return elected


def initialize_mbarriers(room: BuildContext, counts: dict[str, int], *, cluster: bool = False) -> None:
    """Initializes the mbarriers in the first thread. counts: arrivals of a phase, by the barriers' name.

    cluster: whether other CTAs use them: then a barrier of the cluster follows.
    """
    plan, script = room.plan, room.builder
    if not counts and not cluster:
        return
    with script.guarded_by(room.is_first_thread):
        for name, count in counts.items():
            for stage in range(plan.stages):
                at = script.shared_address(name, stage, 8)
                script.emit(
                    f"mbarrier.init{plan.mbarrier_space}.b64 [{at}], {count};",
                    faults=_init_faults(room, name, stage, count),
                )
        if cluster:
            script.emit("fence.mbarrier_init.release.cluster;")
    if cluster:
        return
    script.emit("bar.sync 0;", faults=(omit("delete-barrier", ptx5xx.MBARRIER_USE_BEFORE_INIT),))


def _init_faults(room: BuildContext, name: str, stage: int, count: int) -> tuple[InjectedFault, ...]:
    """Returns the faults of an initialization. A barrier that no thread waits for with an effect may have any count."""
    plan = room.plan
    at = room.builder.shared_address(name, stage, 8)
    text = f"mbarrier.init{plan.mbarrier_space}.b64 [{at}], {{}};"
    used = stage < plan.rounds if name == FULL else stage + plan.stages < plan.rounds
    touched = stage < plan.rounds
    found = []
    if touched:
        found += [omit("delete-init", ptx5xx.MBARRIER_USE_BEFORE_INIT)]
        found += [substitute("init-by-all", text.format(count), ptx5xx.MBARRIER_DOUBLE_INIT, unguarded=True)]
    if used:
        found += [
            substitute(
                "init-count-more",
                text.format(count + 1),
                ptx5xx.MBARRIER_MISSING_ARRIVALS,
                ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
                ptx6xx.BARRIER_DEADLOCK,
            )
        ]
        if count > 1:
            found += [
                substitute(
                    "init-count-less",
                    text.format(count - 1),
                    ptx5xx.MBARRIER_EXCESS_ARRIVALS,
                    ptx3xx.READ_BEFORE_WAIT,
                    ptx3xx.SOURCE_REUSED_IN_FLIGHT,
                    ptx6xx.SHARED_MEMORY_RACE,
                )
            ]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class WaitMode:
    """A kind of wait for an mbarrier. order: the modifiers, if they are not `.acquire.cta`.

    once: whether a single poll is a fault, and how it is ordered with others. uses: the uses of each slot after which
    the parity changes.
    """

    order: str = ""
    is_order_relevant: bool = True
    uses: int = 1


DEFAULT_WAIT = WaitMode()


def write_wait(
    room: BuildContext,
    name: str,
    turn: Iteration,
    parity: StaticOrRegister,
    faults: tuple[str, ...],
    mode: WaitMode = DEFAULT_WAIT,
) -> None:
    """Emits a wait until a phase of a barrier is complete. faults: codes of continuing too early, or none if it is
    harmless.
    """
    plan, script = room.plan, room.builder
    at = script.shared_address(name, turn.slot, 8)
    label, done = script.new_label("WAIT"), script.new_register("pred")

    def lines(parity: StaticOrRegister, order: str = mode.order, *, loop: bool = True) -> tuple[str, ...]:
        ask = f"mbarrier.{plan.polls}.parity{order}{plan.mbarrier_space}.b64 {done}, [{at}], {parity};"
        return (f"{label}:", ask, f"@!{done} bra {label};") if loop else (ask,)

    found: list[InjectedFault] = []
    if faults:
        hangs = (
            ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
            ptx5xx.MBARRIER_MISSING_ARRIVALS,
            ptx5xx.MBARRIER_EXCESS_ARRIVALS,
            ptx6xx.BARRIER_DEADLOCK,
        )
        found += [omit("delete-mbarrier-wait", *faults)]
        if mode.order and mode.is_order_relevant:
            found += [
                substitute(
                    "weaker-order", lines(parity, order=".relaxed.cluster"), *faults, ptx5xx.MBARRIER_WITHOUT_ORDERING
                )
            ]
        if mode.is_order_relevant:
            found += [substitute("wait-without-loop", lines(parity, loop=False), *faults)]
        if name == FULL:  # the first thread is one of those that wait for it
            invalid = f"@{room.is_first_thread} mbarrier.inval{plan.mbarrier_space}.b64 [{at}];"
            found += [
                substitute(
                    "inval-too-early",
                    (invalid, *lines(parity)),
                    ptx5xx.MBARRIER_INVAL_IN_USE,
                    ptx5xx.MBARRIER_USE_BEFORE_INIT,
                    *faults,
                )
            ]
        if isinstance(parity, int):
            found += [substitute("other-parity", lines(parity ^ 1), *faults, *hangs)]
        else:
            turned = script.new_register()
            flip = f"xor.b32 {turned}, {parity}, 1;"
            found += [substitute("other-parity", (flip, *lines(turned)), *faults, *hangs)]
            if room.plan.rounds > mode.uses * room.plan.stages:
                found += [substitute("constant-parity", lines(0), *faults, *hangs)]
    script.emit(*lines(parity), faults=tuple(found))
