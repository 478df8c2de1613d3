"""Multiplication by a warp.

Source: PTX ISA, "Multiply-and-Accumulate Instruction: mma", "mma.sp", "Warp-level Matrix Multiply-and-Accumulate
Instruction: wmma.mma", "Warp-level matrix transpose instruction: movmatrix".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ptxkit.emulate.groups import Blocked, Group
from ptxkit.emulate.meetings import Gathered, gather
from ptxkit.emulate.registry import Function, action
from ptxkit.emulate.tensor.multiplication import (
    Scale,
    multiply,
    multiply_quads,
    multiply_scaled,
    multiply_sparse,
    shape_of,
)
from ptxkit.emulate.tensor.products import Product
from ptxkit.emulate.tensor.rows import turned

ALL = numpy.uint32(0xFFFF_FFFF)


@action
def mma(*, shape: str, a_layout: str = "row", b_layout: str = "col", quads: bool = False, **product: Any) -> Function:
    """D = A * B + C by the lanes of a warp together. product: see `tensor.products.Product`."""
    kind = Product(**product)
    if quads:
        compute: Callable[..., Any] = multiply_quads(kind, a_layout == "row", b_layout == "row")
    else:
        compute = multiply(shape_of(shape), kind)
    return _together(f"mma.{shape}", lambda parts: compute(*parts))


@action
def mma_sparse(*, shape: str, **product: Any) -> Function:
    """The same with a sparse A."""
    compute = multiply_sparse(shape_of(shape), Product(**product))

    def of(group: Group, a: Any, b: Any, c: Any, metadata: Any, selector: Any) -> Any:
        which = int(numpy.ravel(selector)[0])
        whole = _together(f"mma.sp.{shape}", lambda parts: compute(*parts[:3], parts[3][0], which))
        return whole(group, a, b, c, (metadata,))

    return of


@action
def mma_scaled(*, shape: str, kind: str, size: str | None, scale: str, **product: Any) -> Function:
    """The same with a scale factor for each block of A and of B; with metadata and a selector A is sparse."""
    vector = int(size.partition("::")[2][0]) if size else {"kind::mxf8f6f4": 1, "kind::mxf4": 2}[kind]
    sparse = bool(product.pop("sparse", False))
    compute = multiply_scaled(shape_of(shape), Product(**product), vector, scale, sparse)

    def of(group: Group, a: Any, b: Any, c: Any, *more: Any) -> Any:
        metadata, rest = (more[:1], more[2:]) if sparse else ((), more)
        a_data, a_byte, a_lanes, b_data, b_byte, b_lanes = rest
        a_place, b_place = (_numbers(byte, lanes) for byte, lanes in ((a_byte, a_lanes), (b_byte, b_lanes)))

        def computed(parts: Sequence[Any]) -> Any:
            left, right = Scale(parts[3][0], *a_place), Scale(parts[4][0], *b_place)
            return compute(*parts[:3], left, right, *(part[0] for part in parts[5:]))

        whole = _together(f"mma.scaled.{shape}", computed)
        return whole(group, a, b, c, (a_data,), (b_data,), *((each,) for each in metadata))

    return of


@action
def transpose_matrix() -> Function:
    """An 8x8 matrix, two elements of 16 bits in each lane, transposed."""
    whole = _together("movmatrix", lambda parts: [turned(parts[0][0])])

    def of(group: Group, a: Any) -> Any:
        found = whole(group, (a,))
        return found if isinstance(found, Blocked) else found[0]

    return of


def _numbers(*operands: Any) -> tuple[int, ...]:
    """What selectors are, which are the same in all lanes."""
    return tuple(int(numpy.ravel(each)[0]) for each in operands)


def _together(name: str, compute: Callable[[Sequence[Any]], Any]) -> Function:
    """A computation on whole warps: vectors of registers, (warps, 32) each, to the result's registers."""

    def meet(group: Group, *vectors: Any) -> Any:
        count = group.lanes.count
        flat = [numpy.broadcast_to(each, (count,)) for vector in vectors for each in vector]
        found = gather(group, name, numpy.full(count, ALL), tuple(flat))
        if isinstance(found, Blocked):
            return found
        group.cta.machine.order.warp_meets(group, found.masks())
        warps, own = numpy.unique(found.warp, return_inverse=True)
        results = compute(_split(found, warps, vectors))
        return tuple(each[own, found.lane] for each in results)

    return meet


def _split(found: Gathered, warps: Any, vectors: Sequence[Any]) -> list[list[Any]]:
    """The values of these warps, vector by vector."""
    values = iter(found.values)
    return [[next(values)[warps] for _ in vector] for vector in vectors]
