"""Products of a warpgroup: threads bring the operands into shared memory, `wgmma` reads them through the async proxy.

Each round adds A (64 by 16) times B (16 by 8), halves, to what is in registers. In memory both stand as the cores of
eight rows of 16 bytes, K first: so no swizzle is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.testing.arrangements.drains import RACES, UNFENCED
from ptxkit.testing.arrangements.plan import FACTORS_BYTES, Plan
from ptxkit.testing.arrangements.room import TILES, Room, Turn
from ptxkit.testing.arrangements.rounds import each_round
from ptxkit.testing.arrangements.script import Index, instead, without

FACTORS = "factors"
"""B, by slot."""

_CORES = (128 >> 4) << 16 | (256 >> 4) << 32
"""Of a descriptor: bytes from one core to the next along K, and along the rows."""

_PENDING = ("PTX311", "PTX314", "PTX621", "PTX303")
Halves = np.ndarray[Any, np.dtype[np.float16]]


def shared_of(plan: Plan) -> list[str]:
    """Declarations beside the slots."""
    return [f".shared .align 128 .b8 {FACTORS}[{plan.stages * FACTORS_BYTES}];"]


def written(room: Room) -> None:
    """The body behind the setup."""
    plan, script = room.plan, room.script
    sums = [script.value("mov.f32", "0f00000000", kind="f32") for _ in range(4)]
    factors = script.value("setp.lt.u32", room.thread, str(FACTORS_BYTES // 16), kind="pred")
    own = script.value("mad.wide.u32", room.thread, "16", room.source, kind="b64")

    def one(turn: Turn) -> None:
        _bring(room, turn, own, factors)
        _multiply(room, turn, sums)

    each_round(room, one)
    # What the last wait of the rounds left pending.
    last = plan.stages > 1
    wait = "wgmma.wait_group.sync.aligned 0;"
    faults = (without("delete-group-wait", *_PENDING), instead("wait-for-less", wait.replace("0;", "1;"), *_PENDING))
    script.do(wait, faults=faults if last else ())
    at = script.value("mad.lo.u32", room.block, str(plan.consumers), room.thread)
    where = script.value("mad.wide.u32", at, "16", room.target, kind="b64")
    script.do(f"st.global.v4.f32 [{where}], {{{', '.join(sums)}}};")


def _bring(room: Room, turn: Turn, own: str, factors: str) -> None:
    """Both operands of a round, by all threads and by some, then the fence of each, and the barrier."""
    plan, script = room.plan, room.script
    from_ = script.far(own, turn.number, plan.brought)
    words = [script.new() for _ in range(4)]
    said = f"{{{', '.join(words)}}}"
    for array, stride, only in ((TILES, plan.tile, ""), (FACTORS, FACTORS_BYTES, factors)):
        start = script.value("mad.lo.u32", room.thread, "16", script.value("mov.u32", array))
        to = script.place(start, turn.slot, stride)
        source = from_ if not only else script.value("add.u64", *_sum(from_, plan.tile), kind="b64")
        guard = f"@{only} " if only else ""
        script.do(f"{guard}ld.global.v4.u32 {said}, [{source}];")
        script.do(f"{guard}st.shared.v4.u32 [{to}], {said};")
    fence, meet = "fence.proxy.async.shared::cta;", "bar.sync 0;"
    script.do(
        fence,
        meet,
        faults=(
            instead("delete-proxy-fence", meet, *UNFENCED),
            instead("fence-by-one", (f"@{room.first} {fence}", meet), *UNFENCED),
            instead("fence-other-memory", ("fence.proxy.async.global;", meet), *UNFENCED),
            instead("fence-without-proxy", ("fence.acq_rel.cta;", meet), *UNFENCED),
            instead("delete-barrier", fence, *RACES),
        ),
    )


def _sum(place: str, further: int) -> tuple[str, str]:
    base, _, known = place.partition("+")
    return base, str(int(known or 0) + further)


def _multiply(room: Room, turn: Turn, sums: list[str]) -> None:
    """One product; so many may be pending behind it as there are other slots."""
    plan, script = room.plan, room.script
    first = _descriptor(room, TILES, turn.slot, plan.tile)
    second = _descriptor(room, FACTORS, turn.slot, FACTORS_BYTES)
    is_first = not isinstance(turn.number, int) or turn.number == 0
    fence = "wgmma.fence.sync.aligned;"
    script.do(fence, faults=(without("delete-wgmma-fence", "PTX312"),) if is_first else ())
    product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
    multiply = f"{product} {{{', '.join(sums)}}}, {first}, {second}, 1, 1, 1, 0, 0;"
    script.do(multiply, faults=(instead("multiply-by-some", f"@{room.first} {multiply}", "PTX315", "PTX603"),))
    ends = not isinstance(turn.number, int) or turn.number + 1 == plan.rounds
    script.do("wgmma.commit_group.sync.aligned;", faults=(without("delete-commit", *_PENDING),) if ends else ())
    wait = "wgmma.wait_group.sync.aligned {};"
    # It matters where the next round fills a slot again.
    known = isinstance(turn.number, int)
    again = plan.stages <= int(turn.number) + 1 < plan.rounds if known else plan.rounds > plan.stages
    fewer = instead("wait-for-less", wait.format(plan.stages), *_PENDING)
    lost = without("delete-group-wait", *_PENDING)
    script.do(wait.format(plan.stages - 1), faults=(lost, fewer) if again else ())
    script.do("bar.sync 0;")


def _descriptor(room: Room, array: str, slot: Index, stride: int) -> str:
    script = room.script
    place = script.place(array, slot, stride)
    at = place if place.startswith("%") else script.value("mov.u32", place)
    units = script.value("shr.u32", script.value("and.b32", at, "0x3FFF0"), "4")
    wide = script.value("cvt.u64.u32", units, kind="b64")
    return script.value("or.b64", wide, str(_CORES), kind="b64")


def operands_of(plan: Plan) -> Halves:
    """Rows of cores: of A, then of B, small whole numbers; (grid, rounds, 144, 8)."""
    chance = np.random.default_rng(plan.seed)
    rows = plan.brought // 16
    return chance.integers(-4, 5, (plan.grid, plan.rounds, rows, 8)).astype(np.float16)


def expected_of(plan: Plan) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The sums as threads hold them: (grid, 128, 4)."""
    rows = operands_of(plan).astype(np.float32)
    first = rows[:, :, :128].reshape(plan.grid, plan.rounds, 8, 2, 8, 8).transpose(0, 1, 2, 4, 3, 5)
    second = rows[:, :, 128:].reshape(plan.grid, plan.rounds, 2, 8, 8).transpose(0, 1, 3, 2, 4)
    a = first.reshape(plan.grid, plan.rounds, 64, 16)
    b = second.reshape(plan.grid, plan.rounds, 8, 16)
    total = np.einsum("grmk,grnk->gmn", a, b).astype(np.float32)
    threads = np.arange(128)
    row, column = threads // 32 * 16 + threads % 32 // 4, threads % 4 * 2
    return np.stack([total[:, row + 8 * (at // 2), column + at % 2] for at in range(4)], axis=-1)
