"""Reductions over the threads of a warp and of a CTA.

Source: PTX ISA, "Data Movement and Conversion Instructions: shfl.sync".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.build.errors import BuildError
from ptxkit.build.registers import Register
from ptxkit.kernel_model.scalar_types import f32, u32

if TYPE_CHECKING:
    from ptxkit.build.function_builder import FunctionBuilder

WARP_LANES = 32
_FULL_MASK = 0xFFFFFFFF

MergeFunction = Callable[[Sequence[Register[Any]], Sequence[Register[Any]]], Sequence[Register[Any]]]
"""Merges two partial results of some values each. The function must be commutative and associative."""


def reduce_over_warp(
    k: FunctionBuilder, values: Sequence[Register[Any]], merge: MergeFunction, lanes: int = WARP_LANES
) -> tuple[Register[Any], ...]:
    """Merges the partial results of `lanes` lanes (a power of two), and returns the result in every lane.

    All lanes of the warp must execute it.
    """
    merged = tuple(values)
    distance = lanes // 2
    while distance:
        others = [
            k.shfl_sync_bfly_b32(value, distance, WARP_LANES - 1, _FULL_MASK, into=_new_register_like(k, value))
            for value in merged
        ]
        merged = tuple(merge(merged, others))
        distance //= 2
    return merged


def reduce_over_cta(
    k: FunctionBuilder, values: Sequence[Register[f32]], merge: MergeFunction, neutral: Sequence[float]
) -> tuple[Register[f32], ...]:
    """Merges the partial results of all threads of the CTA, and returns the result in every thread.

    `neutral` holds the neutral values of the merge. All threads of the CTA must execute it; it contains one barrier.
    The CTA must have one dimension and consist of whole warps.
    """
    if k.threads is None or k.threads[1:] != (1, 1) or k.threads[0] % WARP_LANES:
        raise BuildError("a reduction over the CTA needs whole warps in one dimension: Kernel(..., threads=...)")
    warps = k.threads[0] // WARP_LANES
    merged = reduce_over_warp(k, values, merge)
    if warps == 1:
        return merged
    parts = k.shared(f32, warps * len(merged), name=f"parts_{len(k.declarations.variables)}")
    with k.if_(k.laneid == 0):
        for number, value in enumerate(merged):
            parts[k.warp + number * warps].store(value)
    k.cta_sync()
    lanes = 1 << (warps - 1).bit_length()
    found: list[Register[f32]] = []
    mine = k.laneid & (lanes - 1)
    for number, start in enumerate(neutral):
        part = k.variable(f32, start)
        k.instruction("ld", (parts[mine + number * warps],), into=part, guard=mine < warps)
        found.append(part)
    return reduce_over_warp(k, found, merge, lanes)


def _new_register_like(k: FunctionBuilder, value: Register[Any]) -> Register[Any]:
    return k.register(value.type if value.type.bits == 32 else u32)
