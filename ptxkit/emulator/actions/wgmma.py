"""Asynchronous multiplication by a warpgroup.

Each warp of the group has 16 rows of A and of D. The products are computed when the instruction is issued. An
asynchronous operation is issued as well, which keeps the operands in shared memory in use until a wait.

Source: PTX ISA, "Asynchronous Multiply-and-Accumulate Instruction: wgmma.mma_async", "wgmma.mma_async.sp".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics.catalogue import ptx2xx, ptx3xx
from ptxkit.emulator.core.address_windows import RANK_SHIFT
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.state.byte_transfers import NO_OFFSET, ByteTransfer
from ptxkit.emulator.state.memory import ByteBuffer
from ptxkit.emulator.sync.async_operation import WGMMA, AsyncOperation
from ptxkit.emulator.sync.warp_rendezvous import gather_operands
from ptxkit.emulator.tensor.fragments import accumulator_layout, gather_matrix, multiplicand_layout, scatter_registers
from ptxkit.emulator.tensor.matmul import MatrixProduct
from ptxkit.emulator.tensor.multiplication import MmaShape, shape_of
from ptxkit.emulator.tensor.shared_tiles import decode_codes, unit_addresses
from ptxkit.emulator.tensor.sparse_metadata import expand_sparse
from ptxkit.emulator.threads.thread_groups import BlockSignal, ThreadGroup
from ptxkit.isa.functions import bits

if TYPE_CHECKING:
    from ptxkit.emulator.races.tensor_memory_order import TensorMemoryUse

FULL_MASK = numpy.uint32(0xFFFF_FFFF)
_ROWS = 64
_WARP_ROWS = 16
"""The rows of each warp."""
_UNIT_BYTES = 16
_HALF = 8


@effect_semantics
def wgmma(*, shape: str, **product: Any) -> Function:
    """Computes D = A * B + D. A is a vector of registers or a descriptor, B a descriptor; a sign of -1 negates all
    elements.
    """
    work = _WgmmaOperation(shape_of(shape), MatrixProduct(**product), sparse=False)

    def multiply(group: ThreadGroup, d: Any, a: Any, b: Any, scale: Any, *signs_and_turns: Any) -> Any:
        return work.execute(group, d, a, b, scale, signs_and_turns)

    return multiply


@effect_semantics
def wgmma_sparse(*, shape: str, **product: Any) -> Function:
    """Computes as `wgmma` does, with a sparse A, whose metadata are in a register of the lanes that a selector
    names.
    """
    work = _WgmmaOperation(shape_of(shape), MatrixProduct(**product), sparse=True)

    def multiply(
        group: ThreadGroup, d: Any, a: Any, b: Any, metadata: Any, selector: Any, scale: Any, *more: Any
    ) -> Any:
        return work.execute(group, d, a, b, scale, more, metadata, _uniform_number(selector))

    return multiply


class _WgmmaOperation:
    """The properties of a multiplication that are known when the instruction is decoded."""

    def __init__(self, shape: MmaShape, product: MatrixProduct, sparse: bool) -> None:
        self.shape, self.product, self.sparse = shape, product, sparse
        self.columns = shape.k // 2 if sparse else shape.k
        self.width = bits(product.left)
        self.a_layout = multiplicand_layout(_WARP_ROWS, self.columns, self.width)
        self.d_layout = accumulator_layout(_WARP_ROWS, shape.n, bits(product.result))

    def execute(  # noqa: PLR0913, PLR0917
        self,
        group: ThreadGroup,
        d: Any,
        a: Any,
        b: Any,
        scale: Any,
        signs_and_turns: Any,
        metadata: Any = None,
        selector: int = 0,
    ) -> Any:
        """Returns D's registers for each thread, or a signal that waits for lanes of the warp."""
        a_sign, b_sign, a_turn, b_turn = (_uniform_number(each) for each in signs_and_turns)  # a sign is 1 or all ones
        held = isinstance(a, tuple)
        count = group.lanes.count
        given = [*d, *(a if held else (a,)), b, scale, *(() if metadata is None else (metadata,))]
        flat = tuple(numpy.broadcast_to(each, (count,)) for each in given)
        found = gather_operands(
            group, f"wgmma.{self.shape}", numpy.full(count, FULL_MASK), flat, ptx3xx.PARTIAL_WARPGROUP
        )
        if isinstance(found, BlockSignal):
            return found
        warps, own = numpy.unique(found.warp, return_inverse=True)
        values = [each[warps] for each in found.values]
        of_d, rest = values[: len(d)], values[len(d) :]
        of_a, (of_b, of_scale, *of_metadata) = (rest[: len(a)], rest[len(a) :]) if held else (rest[:1], rest[1:])
        reads = SharedReads(group, warps)
        b_width, a_turned, b_turned = bits(self.product.right), bool(a_turn), bool(b_turn)
        y = numpy.swapaxes(reads.read_matrix(of_b[:, 0], self.shape.n, self.shape.k, b_width, b_turned), -1, -2)
        x = (
            gather_matrix(of_a, self.a_layout)
            if held
            else reads.read_warp_rows(of_a[0][:, 0], self.columns, self.width, a_turned)
        )
        if self.sparse:
            x = expand_sparse(x, of_metadata[0], selector, self.width)
        c = gather_matrix(of_d, self.d_layout)
        c = numpy.where(of_scale[:, 0].astype(bool)[:, None, None], c, c.dtype.type(0))
        reads.issue()
        results = scatter_registers(
            self.product.compute(x, y, c, (1.0 if a_sign == 1 else -1.0, 1.0 if b_sign == 1 else -1.0)), self.d_layout
        )
        return tuple(each[own, found.lane] for each in results)


class SharedReads:
    """The reads of shared memory by warps, as one asynchronous operation."""

    def __init__(self, group: ThreadGroup, warps: Any) -> None:
        self.group, self.warps = group, warps
        self.pool: ByteBuffer | None = None
        self.byte_offsets: list[Any] = []
        self._read_cache: dict[tuple[int, ...], tuple[Any, Any]] = {}

    def read_matrix(
        self, descriptors: Any, rows: int, columns: int, width: int, turned: bool, rank: int | None = None
    ) -> Any:
        """Returns a matrix for each warp, by its descriptor, in the shared memory of its CTA or of the one with a
        `rank`.
        """
        found = [self._read_units(int(each), rows, columns, width, turned, rank) for each in descriptors]
        self.byte_offsets.append([places.ravel() for _, places in found])
        return numpy.stack([values for values, _ in found])

    def read_warp_rows(self, descriptors: Any, columns: int, width: int, turned: bool) -> Any:
        """Returns the 16 rows of each warp of A."""
        chosen, places = [], []
        for warp, descriptor in zip(self.warps, descriptors, strict=True):
            values, there = self._read_units(int(descriptor), _ROWS, columns, width, turned)
            first = int(warp) % 4 * _WARP_ROWS
            chosen.append(values[first : first + _WARP_ROWS])
            across = len(there) // 4
            places.append(there[int(warp) % 4 * across : (int(warp) % 4 + 1) * across].ravel())
        self.byte_offsets.append(places)
        return numpy.stack(chosen)

    def _read_units(
        self, descriptor: int, rows: int, columns: int, width: int, turned: bool, rank: int | None = None
    ) -> tuple[Any, Any]:
        """Returns the codes of a matrix, and the locations of its units."""
        cta = self.group.cta
        home = cta.rank if rank is None else rank
        key = (descriptor, rows, columns, width, turned, home)
        if key not in self._read_cache:
            try:
                address = unit_addresses(descriptor, rows, columns, width, transposed=turned)
            except ValueError as error:
                raise ExecutionFault(
                    ptx2xx.INVALID_MATRIX_DESCRIPTOR(error=error), self.group.lanes.index[:1]
                ) from error
            flat = address.ravel().astype(numpy.uint64) + numpy.uint64(home << RANK_SHIFT)
            index = numpy.broadcast_to(self.group.lanes.index[:1], flat.shape)
            space = "shared::cta" if home == cta.rank else "shared::cluster"
            self.pool, places = cta.machine.memory.locate(cta, space, flat, _UNIT_BYTES, index)
            octets = self.pool.data[places[:, None] + numpy.arange(_UNIT_BYTES)].reshape(*address.shape, _UNIT_BYTES)
            self._read_cache[key] = decode_codes(octets, width, transposed=turned), places.reshape(address.shape)
        return self._read_cache[key]

    def issue(self, kind: str = WGMMA, threads: Any = None, tensor: TensorMemoryUse | None = None) -> None:
        """Issues the reads as an operation, by `threads`, or by default by the first thread of each warp.

        `tensor` is the operation's use of Tensor Memory.
        """
        group, pool = self.group, self.pool
        assert pool is not None
        rows = [numpy.concatenate(parts) for parts in zip(*self.byte_offsets, strict=True)]
        first = numpy.stack(rows) // _HALF
        sources = numpy.concatenate([first, first + 1], axis=1)
        transfer = ByteTransfer(_HALF, pool, sources, pool, numpy.full(sources.shape, NO_OFFSET, numpy.int64))
        flying = group.cta.machine.async_engine
        threads = self.warps * 32 if threads is None else threads
        numbers = flying.committed_groups(group.cta, kind)[threads]
        operation = AsyncOperation(group, kind, (transfer,), threads, groups=numbers)
        operation.tensor_use = tensor
        flying.issue(operation)


def _uniform_number(operand: Any) -> int:
    return int(numpy.ravel(operand)[0])
