"""Asynchronous multiplication by a warpgroup.

Each warp of the group has 16 rows of A and of D. What the products are is computed when the instruction is issued; that
its operands in shared memory are in use until a wait is known to all who watch memory.

Source: PTX ISA, "Asynchronous wgmma Multiply-and-Accumulate Operation: wgmma.mma_async", "wgmma.mma_async.sp".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import Fault
from ptxkit.emulate.groups import Blocked, Group
from ptxkit.emulate.meetings import gather
from ptxkit.emulate.memory import Pool
from ptxkit.emulate.operations import WGMMA, Operation
from ptxkit.emulate.registry import Function, action
from ptxkit.emulate.tensor.fragments import accumulator, matrix, multiplicand, registers
from ptxkit.emulate.tensor.multiplication import Shape, shape_of
from ptxkit.emulate.tensor.products import Product
from ptxkit.emulate.tensor.sparse import dense
from ptxkit.emulate.tensor.tiles import codes, units
from ptxkit.emulate.transfers import NOWHERE, Transfer
from ptxkit.emulate.windows import RANK_SHIFT
from ptxkit.isa.functions import bits

if TYPE_CHECKING:
    from ptxkit.emulate.tensor_order import Issue

ALL = numpy.uint32(0xFFFF_FFFF)
_ROWS = 64
_PART = 16
"""Rows of each warp."""
_UNIT = 16
_HALF = 8


@action
def wgmma(*, shape: str, **product: Any) -> Function:
    """D = A * B + D. A is a vector of registers or a descriptor, B a descriptor; -1 of a sign negates all elements."""
    work = _Work(shape_of(shape), Product(**product), sparse=False)

    def multiply(group: Group, d: Any, a: Any, b: Any, scale: Any, *signs_and_turns: Any) -> Any:
        return work.done(group, d, a, b, scale, signs_and_turns)

    return multiply


@action
def wgmma_sparse(*, shape: str, **product: Any) -> Function:
    """The same with a sparse A, whose metadata are in a register of the lanes that a selector names."""
    work = _Work(shape_of(shape), Product(**product), sparse=True)

    def multiply(group: Group, d: Any, a: Any, b: Any, metadata: Any, selector: Any, scale: Any, *more: Any) -> Any:
        return work.done(group, d, a, b, scale, more, metadata, _number(selector))

    return multiply


class _Work:
    """What is known of a multiplication when the program is read."""

    def __init__(self, shape: Shape, product: Product, sparse: bool) -> None:
        self.shape, self.product, self.sparse = shape, product, sparse
        self.columns = shape.k // 2 if sparse else shape.k
        self.width = bits(product.left)
        self.left = multiplicand(_PART, self.columns, self.width)
        self.result = accumulator(_PART, shape.n, bits(product.result))

    def done(  # noqa: PLR0913, PLR0917
        self,
        group: Group,
        d: Any,
        a: Any,
        b: Any,
        scale: Any,
        signs_and_turns: Any,
        metadata: Any = None,
        selector: int = 0,
    ) -> Any:
        """D's registers for each thread, or that lanes of the warp are awaited."""
        a_sign, b_sign, a_turn, b_turn = (_number(each) for each in signs_and_turns)  # a sign has all bits or one
        held = isinstance(a, tuple)
        count = group.lanes.count
        given = [*d, *(a if held else (a,)), b, scale, *(() if metadata is None else (metadata,))]
        flat = tuple(numpy.broadcast_to(each, (count,)) for each in given)
        found = gather(group, f"wgmma.{self.shape}", numpy.full(count, ALL), flat, "PTX315")
        if isinstance(found, Blocked):
            return found
        group.cta.machine.order.warp_meets(group, found.masks())
        warps, own = numpy.unique(found.warp, return_inverse=True)
        values = [each[warps] for each in found.values]
        of_d, rest = values[: len(d)], values[len(d) :]
        of_a, (of_b, of_scale, *of_metadata) = (rest[: len(a)], rest[len(a) :]) if held else (rest[:1], rest[1:])
        reads = Reads(group, warps)
        b_width, a_turned, b_turned = bits(self.product.right), bool(a_turn), bool(b_turn)
        y = numpy.swapaxes(reads.tile(of_b[:, 0], self.shape.n, self.shape.k, b_width, b_turned), -1, -2)
        x = matrix(of_a, self.left) if held else reads.part(of_a[0][:, 0], self.columns, self.width, a_turned)
        if self.sparse:
            x = dense(x, of_metadata[0], selector, self.width)
        c = matrix(of_d, self.result)
        c = numpy.where(of_scale[:, 0].astype(bool)[:, None, None], c, c.dtype.type(0))
        reads.issue()
        results = registers(
            self.product.of(x, y, c, (1.0 if a_sign == 1 else -1.0, 1.0 if b_sign == 1 else -1.0)), self.result
        )
        return tuple(each[own, found.lane] for each in results)


class Reads:
    """What warps read of shared memory, as one asynchronous operation."""

    def __init__(self, group: Group, warps: Any) -> None:
        self.group, self.warps = group, warps
        self.pool: Pool | None = None
        self.places: list[Any] = []
        self._known: dict[tuple[int, ...], tuple[Any, Any]] = {}

    def tile(self, descriptors: Any, rows: int, columns: int, width: int, turned: bool, rank: int | None = None) -> Any:
        """A matrix for each warp, by its descriptor. rank: of the CTA in whose shared memory it lies, if another."""
        found = [self._read(int(each), rows, columns, width, turned, rank) for each in descriptors]
        self.places.append([places.ravel() for _, places in found])
        return numpy.stack([values for values, _ in found])

    def part(self, descriptors: Any, columns: int, width: int, turned: bool) -> Any:
        """The 16 rows of each warp of A."""
        chosen, places = [], []
        for warp, descriptor in zip(self.warps, descriptors, strict=True):
            values, there = self._read(int(descriptor), _ROWS, columns, width, turned)
            first = int(warp) % 4 * _PART
            chosen.append(values[first : first + _PART])
            across = len(there) // 4
            places.append(there[int(warp) % 4 * across : (int(warp) % 4 + 1) * across].ravel())
        self.places.append(places)
        return numpy.stack(chosen)

    def _read(
        self, descriptor: int, rows: int, columns: int, width: int, turned: bool, rank: int | None = None
    ) -> tuple[Any, Any]:
        """Codes, and where the units lie."""
        cta = self.group.cta
        home = cta.rank if rank is None else rank
        key = (descriptor, rows, columns, width, turned, home)
        if key not in self._known:
            try:
                address = units(descriptor, rows, columns, width, transposed=turned)
            except ValueError as error:
                raise Fault("PTX206", str(error), self.group.lanes.index[:1]) from error
            flat = address.ravel().astype(numpy.uint64) + numpy.uint64(home << RANK_SHIFT)
            index = numpy.broadcast_to(self.group.lanes.index[:1], flat.shape)
            space = "shared::cta" if home == cta.rank else "shared::cluster"
            self.pool, places = cta.machine.memory.locate(cta, space, flat, _UNIT, index)
            octets = self.pool.data[places[:, None] + numpy.arange(_UNIT)].reshape(*address.shape, _UNIT)
            self._known[key] = codes(octets, width, transposed=turned), places.reshape(address.shape)
        return self._known[key]

    def issue(self, kind: str = WGMMA, threads: Any = None, tensor: Issue | None = None) -> None:
        """Let all who watch memory know. threads: who issue it, the first of each warp if nobody else.

        tensor: what it does to Tensor Memory.
        """
        group, pool = self.group, self.pool
        assert pool is not None
        rows = [numpy.concatenate(parts) for parts in zip(*self.places, strict=True)]
        first = numpy.stack(rows) // _HALF
        sources = numpy.concatenate([first, first + 1], axis=1)
        transfer = Transfer(_HALF, pool, sources, pool, numpy.full(sources.shape, NOWHERE, numpy.int64))
        flying = group.cta.machine.asynchrony
        threads = self.warps * 32 if threads is None else threads
        numbers = flying.closed(group.cta, kind)[threads]
        operation = Operation(group, kind, (transfer,), threads, groups=numbers)
        operation.tensor = tensor
        flying.issue(operation)


def _number(operand: Any) -> int:
    return int(numpy.ravel(operand)[0])
