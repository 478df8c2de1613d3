"""Products of a warpgroup: threads store the operands to shared memory, and `wgmma` reads them through the async proxy.

Each iteration adds A (64 by 16) times B (16 by 8), both of type f16, to the sums in registers. In memory both are
stored as core matrices of eight rows of 16 bytes, K first, so no swizzle is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.diagnostics.catalogue import ptx3xx, ptx6xx
from ptxkit.testing.pipelines.build_context import TILES, BuildContext, Iteration
from ptxkit.testing.pipelines.consumers import RACE_CODES, UNFENCED_CODES
from ptxkit.testing.pipelines.main_loop import for_each_iteration
from ptxkit.testing.pipelines.plan import FACTOR_BYTES, PipelinePlan
from ptxkit.testing.pipelines.text_builder import StaticOrRegister, omit, substitute

FACTOR_BUFFER = "factors"
"""The buffer of B, by slot."""

_DESCRIPTOR_STRIDES = (128 >> 4) << 16 | (256 >> 4) << 32
"""The strides of a descriptor: bytes from one core matrix to the next along K, and along the rows."""

_PENDING_CODES = (
    ptx3xx.REGISTERS_IN_FLIGHT,
    ptx3xx.OPERANDS_REUSED,
    ptx6xx.SHARED_MEMORY_RACE,
    ptx3xx.SOURCE_REUSED_IN_FLIGHT,
)
Halves = np.ndarray[Any, np.dtype[np.float16]]


def shared_declarations(plan: PipelinePlan) -> list[str]:
    """Returns the declarations in addition to the slots."""
    return [f".shared .align 128 .b8 {FACTOR_BUFFER}[{plan.stages * FACTOR_BYTES}];"]


def write_body(room: BuildContext) -> None:
    """Emits the body after the setup."""
    plan, script = room.plan, room.builder
    sums = [script.value("mov.f32", "0f00000000", kind="f32") for _ in range(4)]
    factors = script.value("setp.lt.u32", room.thread, str(FACTOR_BYTES // 16), kind="pred")
    own = script.value("mad.wide.u32", room.thread, "16", room.source, kind="b64")

    def one(turn: Iteration) -> None:
        _store_operands(room, turn, own, factors)
        _multiply(room, turn, sums)

    for_each_iteration(room, one)
    # Products that the last wait of the loop left pending.
    last = plan.stages > 1
    wait = "wgmma.wait_group.sync.aligned 0;"
    faults = (
        omit("delete-group-wait", *_PENDING_CODES),
        substitute("wait-for-less", wait.replace("0;", "1;"), *_PENDING_CODES),
    )
    script.emit(wait, faults=faults if last else ())
    at = script.value("mad.lo.u32", room.block, str(plan.consumers), room.thread)
    where = script.value("mad.wide.u32", at, "16", room.target, kind="b64")
    script.emit(f"st.global.v4.f32 [{where}], {{{', '.join(sums)}}};")


def _store_operands(room: BuildContext, turn: Iteration, own: str, factors: str) -> None:
    """Emits stores of both operands of an iteration, by all threads and by some, then the fence of each, and the
    barrier.
    """
    plan, script = room.plan, room.builder
    from_ = script.global_address(own, turn.number, plan.input_tile_bytes)
    words = [script.new_register() for _ in range(4)]
    operand = f"{{{', '.join(words)}}}"
    for array, stride, only in ((TILES, plan.tile_bytes, ""), (FACTOR_BUFFER, FACTOR_BYTES, factors)):
        start = script.value("mad.lo.u32", room.thread, "16", script.value("mov.u32", array))
        to = script.shared_address(start, turn.slot, stride)
        source = from_ if not only else script.value("add.u64", *_add_offset(from_, plan.tile_bytes), kind="b64")
        guard = f"@{only} " if only else ""
        script.emit(f"{guard}ld.global.v4.u32 {operand}, [{source}];")
        script.emit(f"{guard}st.shared.v4.u32 [{to}], {operand};")
    fence, meet = "fence.proxy.async.shared::cta;", "bar.sync 0;"
    script.emit(
        fence,
        meet,
        faults=(
            substitute("delete-proxy-fence", meet, *UNFENCED_CODES),
            substitute("fence-by-one", (f"@{room.is_first_thread} {fence}", meet), *UNFENCED_CODES),
            substitute("fence-other-memory", ("fence.proxy.async.global;", meet), *UNFENCED_CODES),
            substitute("fence-without-proxy", ("fence.acq_rel.cta;", meet), *UNFENCED_CODES),
            substitute("delete-barrier", fence, *RACE_CODES),
        ),
    )


def _add_offset(place: str, further: int) -> tuple[str, str]:
    base, _, known = place.partition("+")
    return base, str(int(known or 0) + further)


def _multiply(room: BuildContext, turn: Iteration, sums: list[str]) -> None:
    """Emits one product, after which as many may be pending as there are other slots."""
    plan, script = room.plan, room.builder
    first = _descriptor(room, TILES, turn.slot, plan.tile_bytes)
    second = _descriptor(room, FACTOR_BUFFER, turn.slot, FACTOR_BYTES)
    is_first = not isinstance(turn.number, int) or turn.number == 0
    fence = "wgmma.fence.sync.aligned;"
    script.emit(fence, faults=(omit("delete-wgmma-fence", ptx3xx.MISSING_REGISTER_FENCE),) if is_first else ())
    product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
    multiply = f"{product} {{{', '.join(sums)}}}, {first}, {second}, 1, 1, 1, 0, 0;"
    script.emit(
        multiply,
        faults=(
            substitute(
                "multiply-by-some",
                f"@{room.is_first_thread} {multiply}",
                ptx3xx.PARTIAL_WARPGROUP,
                ptx6xx.PARTIAL_WARP_BARRIER,
            ),
        ),
    )
    ends = not isinstance(turn.number, int) or turn.number + 1 == plan.rounds
    script.emit("wgmma.commit_group.sync.aligned;", faults=(omit("delete-commit", *_PENDING_CODES),) if ends else ())
    wait = "wgmma.wait_group.sync.aligned {};"
    # It matters if the next iteration fills a slot again.
    known = isinstance(turn.number, int)
    again = plan.stages <= int(turn.number) + 1 < plan.rounds if known else plan.rounds > plan.stages
    fewer = substitute("wait-for-less", wait.format(plan.stages), *_PENDING_CODES)
    lost = omit("delete-group-wait", *_PENDING_CODES)
    script.emit(wait.format(plan.stages - 1), faults=(lost, fewer) if again else ())
    script.emit("bar.sync 0;")


def _descriptor(room: BuildContext, array: str, slot: StaticOrRegister, stride: int) -> str:
    script = room.builder
    place = script.shared_address(array, slot, stride)
    at = place if place.startswith("%") else script.value("mov.u32", place)
    units = script.value("shr.u32", script.value("and.b32", at, "0x3FFF0"), "4")
    wide = script.value("cvt.u64.u32", units, kind="b64")
    return script.value("or.b64", wide, str(_DESCRIPTOR_STRIDES), kind="b64")


def input_operands(plan: PipelinePlan) -> Halves:
    """Returns rows of core matrices: of A, then of B, small integers; (grid, rounds, 144, 8)."""
    chance = np.random.default_rng(plan.seed)
    rows = plan.input_tile_bytes // 16
    return chance.integers(-4, 5, (plan.grid, plan.rounds, rows, 8)).astype(np.float16)


def expected_output(plan: PipelinePlan) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Returns the sums as threads hold them: (grid, 128, 4)."""
    rows = input_operands(plan).astype(np.float32)
    first = rows[:, :, :128].reshape(plan.grid, plan.rounds, 8, 2, 8, 8).transpose(0, 1, 2, 4, 3, 5)
    second = rows[:, :, 128:].reshape(plan.grid, plan.rounds, 2, 8, 8).transpose(0, 1, 3, 2, 4)
    a = first.reshape(plan.grid, plan.rounds, 64, 16)
    b = second.reshape(plan.grid, plan.rounds, 8, 16)
    total = np.einsum("grmk,grnk->gmn", a, b).astype(np.float32)
    threads = np.arange(128)
    row, column = threads // 32 * 16 + threads % 32 // 4, threads % 4 * 2
    return np.stack([total[:, row + 8 * (at // 2), column + at % 2] for at in range(4)], axis=-1)
