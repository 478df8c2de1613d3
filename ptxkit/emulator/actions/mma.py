"""Matrix multiplication by a warp.

Source: PTX ISA, "Multiply-and-Accumulate Instruction: mma", "mma.sp", "Warp-level Matrix Multiply-and-Accumulate
Instruction: wmma.mma", "Warp-level matrix transpose instruction: movmatrix".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.sync.warp_rendezvous import WarpOperands, gather_operands
from ptxkit.emulator.tensor.matmul import MatrixProduct
from ptxkit.emulator.tensor.multiplication import (
    ScaleFactors,
    multiply,
    multiply_m8n8k4,
    multiply_scaled,
    multiply_sparse,
    shape_of,
)
from ptxkit.emulator.threads.thread_groups import BlockSignal, ThreadGroup

FULL_MASK = numpy.uint32(0xFFFF_FFFF)


@effect_semantics
def mma(*, shape: str, a_layout: str = "row", b_layout: str = "col", quads: bool = False, **product: Any) -> Function:
    """Multiplies the matrices of a warp: D = A * B + C. The other arguments are those of `MatrixProduct`."""
    kind = MatrixProduct(**product)
    if quads:
        compute: Callable[..., Any] = multiply_m8n8k4(kind, a_layout == "row", b_layout == "row")
    else:
        compute = multiply(shape_of(shape), kind)
    return _warp_computation(f"mma.{shape}", lambda parts: compute(*parts))


@effect_semantics
def mma_sparse(*, shape: str, **product: Any) -> Function:
    """Multiplies as `mma` does, with a sparse A."""
    compute = multiply_sparse(shape_of(shape), MatrixProduct(**product))

    def of(group: ThreadGroup, a: Any, b: Any, c: Any, metadata: Any, selector: Any) -> Any:
        which = int(numpy.ravel(selector)[0])
        whole = _warp_computation(f"mma.sp.{shape}", lambda parts: compute(*parts[:3], parts[3][0], which))
        return whole(group, a, b, c, (metadata,))

    return of


@effect_semantics
def mma_scaled(*, shape: str, kind: str, size: str | None, scale: str, **product: Any) -> Function:
    """Multiplies as `mma` does, with a scale factor for each block of A and of B.

    With metadata and a selector, A is sparse.
    """
    vector = int(size.partition("::")[2][0]) if size else {"kind::mxf8f6f4": 1, "kind::mxf4": 2}[kind]
    sparse = bool(product.pop("sparse", False))
    compute = multiply_scaled(shape_of(shape), MatrixProduct(**product), vector, scale, sparse)

    def of(group: ThreadGroup, a: Any, b: Any, c: Any, *more: Any) -> Any:
        metadata, rest = (more[:1], more[2:]) if sparse else ((), more)
        a_data, a_byte, a_lanes, b_data, b_byte, b_lanes = rest
        a_place, b_place = (_uniform_numbers(byte, lanes) for byte, lanes in ((a_byte, a_lanes), (b_byte, b_lanes)))

        def compute_scaled(parts: Sequence[Any]) -> Any:
            left, right = ScaleFactors(parts[3][0], *a_place), ScaleFactors(parts[4][0], *b_place)
            return compute(*parts[:3], left, right, *(part[0] for part in parts[5:]))

        whole = _warp_computation(f"mma.scaled.{shape}", compute_scaled)
        return whole(group, a, b, c, (a_data,), (b_data,), *((each,) for each in metadata))

    return of


@effect_semantics
def transpose_matrix() -> Function:
    """Transposes an 8x8 matrix, of which each lane holds two elements of 16 bits."""
    whole = _warp_computation("movmatrix", lambda parts: [transpose_register(parts[0][0])])

    def of(group: ThreadGroup, a: Any) -> Any:
        found = whole(group, (a,))
        return found if isinstance(found, BlockSignal) else found[0]

    return of


def transpose_register(register: Any) -> Any:
    """Returns the transpose of an 8x8 matrix in one register of each lane; lane l holds two elements of row l / 4."""
    rows = numpy.ascontiguousarray(register).view(numpy.uint16).reshape(*register.shape[:-1], 8, 8)
    columns = numpy.ascontiguousarray(numpy.swapaxes(rows, -1, -2))
    return columns.view(numpy.uint32).reshape(register.shape)


def _uniform_numbers(*operands: Any) -> tuple[int, ...]:
    """Returns the values of selectors, which are the same in all lanes."""
    return tuple(int(numpy.ravel(each)[0]) for each in operands)


def _warp_computation(name: str, compute: Callable[[Sequence[Any]], Any]) -> Function:
    """Returns a computation on whole warps, from vectors of registers, (warps, 32) each, to the result's registers."""

    def meet(group: ThreadGroup, *vectors: Any) -> Any:
        count = group.lanes.count
        flat = [numpy.broadcast_to(each, (count,)) for vector in vectors for each in vector]
        found = gather_operands(group, name, numpy.full(count, FULL_MASK), tuple(flat))
        if isinstance(found, BlockSignal):
            return found
        warps, own = numpy.unique(found.warp, return_inverse=True)
        results = compute(_split_vectors(found, warps, vectors))
        return tuple(each[own, found.lane] for each in results)

    return meet


def _split_vectors(found: WarpOperands, warps: Any, vectors: Sequence[Any]) -> list[list[Any]]:
    """Returns the values of some warps, vector by vector."""
    values = iter(found.values)
    return [[next(values)[warps] for _ in vector] for vector in vectors]
