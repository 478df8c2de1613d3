"""Tensor maps as kernel parameters: bulk loads, stores and reductions of whole boxes of a tensor.

    source = k.tensor_map("source", bf16, box=(64, 128), swizzle=128)
    ...
    full.arrive_expect_tx(source.bytes)
    source.load(tile, (x, y), full)

The host encodes the map (`ptxkit.device.TensorMap`) and passes it by value; the launch checks that it fits the
declaration in the kernel. Coordinates and extents are in the order of PTX, with the innermost dimension first.

Source: PTX ISA, "Tensors", "Data Movement and Conversion Instructions: cp.async.bulk.tensor", "...
cp.reduce.async.bulk.tensor", "... cp.async.bulk.prefetch.tensor", "... prefetch".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ptxkit.build.addresses import Generic, Shared, SharedCluster
from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.build.registers import InstructionEmitter, Register
from ptxkit.kernel_model.scalar_types import Scalar, b8, b64, s32, u32
from ptxkit.kernel_model.tensor_form import TensorForm
from ptxkit.tensormap_limits import MAX_BOX, MAX_PIXELS, MAX_RANK

Coordinate: TypeAlias = "Register[s32] | Register[u32] | int"

SWIZZLE_PERIODS = {0: 128, 32: 256, 64: 512, 128: 1024}
"""The number of bytes after which the pattern of a swizzle repeats, by its width in bytes."""
TENSOR_REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")


class TensorMap:
    """A tensor map that the launch passes. `bytes` is the number of bytes that each load reports to its mbarrier."""

    def __init__(self, builder: InstructionEmitter, form: TensorForm, address: Generic[b8]) -> None:
        self.builder = builder
        self.form = form
        self.address = address

    def __repr__(self) -> str:
        return f"TensorMap({self.form.element.word}, box={self.form.box})"

    @property
    def bytes(self) -> int:
        """The size of a whole box in bytes."""
        return self.form.bytes

    def load(
        self,
        destination: Shared[Any],
        coordinates: Sequence[Coordinate],
        barrier: Shared[b64] | SharedCluster[b64],
        *,
        offsets: Sequence[Register[Any] | int] = (),
        multicast: Register[Any] | int | None = None,
        policy: Register[b64] | None = None,
    ) -> None:
        """Starts a copy of the box at `coordinates` into shared memory, which reports `bytes` to the mbarrier.

        `offsets` are those of the filter of an `im2col` map. `multicast` is a mask of CTAs of the cluster: each
        receives the box at the same offset, and its mbarrier at the same offset is signaled. `policy` is a cache policy
        (`createpolicy`). Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk.tensor".
        """
        self._check_box(destination)
        name = f"cp_async_bulk_tensor_{self._mode_suffix()}"
        operands: list[object] = [destination, self._coordinate_operand(coordinates), barrier]
        if self.form.mode == "im2col":
            operands.append(self._filter_offsets(offsets))
        elif offsets:
            raise BuildTypeError("offsets are those of a filter: of an im2col map")
        if multicast is not None:
            name += "_multicast_cluster"
            operands.append(multicast)
        self._issue(name, operands, policy)
        self.builder.recorder.set_copy_bytes(self.bytes)

    def store(
        self, coordinates: Sequence[Coordinate], source: Shared[Any], *, policy: Register[b64] | None = None
    ) -> None:
        """Starts a copy of a box from shared memory to `coordinates`, as part of the thread's next bulk group."""
        self._check_box(source)
        kind = self._mode_suffix("im2col_no_offs")
        self._issue(f"cp_async_bulk_tensor_{kind}", [self._coordinate_operand(coordinates), source], policy)

    def reduce(
        self,
        operation: str,
        coordinates: Sequence[Coordinate],
        source: Shared[Any],
        *,
        policy: Register[b64] | None = None,
    ) -> None:
        """Starts `tensor[box] = operation(tensor[box], source)`, element by element, as part of the next bulk group.

        `operation` is `add`, `min`, `max`, `inc`, `dec`, `and`, `or` or `xor`.
        """
        if operation not in TENSOR_REDUCTIONS:
            raise BuildValueError(f"a reduction is one of {', '.join(TENSOR_REDUCTIONS)}, not {operation!r}")
        self._check_box(source)
        name = f"cp_reduce_async_bulk_tensor_{self._rank_suffix()}_{operation}"
        if self.form.mode == "im2col":
            name += "_im2col_no_offs"
        self._issue(name, [self._coordinate_operand(coordinates), source], policy)

    def gather4(
        self,
        destination: Shared[Any],
        column: Coordinate,
        rows: Sequence[Coordinate],
        barrier: Shared[b64],
        *,
        policy: Register[b64] | None = None,
    ) -> None:
        """Starts a copy of four arbitrary rows of a matrix, from a column on, into shared memory. Needs sm_100."""
        self._issue(
            "cp_async_bulk_tensor_2d_tile_gather4", [destination, self._row_operand(column, rows), barrier], policy
        )
        self.builder.recorder.set_copy_bytes(4 * self.form.box[0] * self.form.element.size())

    def scatter4(
        self,
        column: Coordinate,
        rows: Sequence[Coordinate],
        source: Shared[Any],
        *,
        policy: Register[b64] | None = None,
    ) -> None:
        """Starts a copy from shared memory to four arbitrary rows of a matrix, as part of the next bulk group. Needs
        sm_100.
        """
        self._issue("cp_async_bulk_tensor_2d_tile_scatter4", [self._row_operand(column, rows), source], policy)

    def prefetch(
        self,
        coordinates: Sequence[Coordinate],
        *,
        offsets: Sequence[Register[Any] | int] = (),
        policy: Register[b64] | None = None,
    ) -> None:
        """Prefetches a box into the L2 cache. Its completion is not reported."""
        operands: list[object] = [self._coordinate_operand(coordinates)]
        if self.form.mode == "im2col":
            operands.append(self._filter_offsets(offsets))
        self._issue(f"cp_async_bulk_prefetch_tensor_{self._mode_suffix()}", operands, policy)

    def prefetch_map(self) -> None:
        """Prefetches the tensor map itself into the cache."""
        self.builder.instruction("prefetch_tensormap", (self.address,))

    # ----------------------------------------------------------------------------------------- internals

    def _issue(self, name: str, operands: list[object], policy: Register[b64] | None) -> None:
        if policy is not None:
            name += "_L2_cache_hint"
            operands.append(policy)
        self.builder.instruction(name, operands)

    def _rank_suffix(self) -> str:
        return f"{self.form.rank}d"

    def _mode_suffix(self, im2col: str = "im2col") -> str:
        return self._rank_suffix() if self.form.mode == "tiled" else f"{self._rank_suffix()}_{im2col}"

    def _coordinate_operand(self, coordinates: Sequence[Coordinate]) -> tuple[object, ...]:
        if len(coordinates) != self.form.rank:
            raise BuildTypeError(f"{self!r} has {self.form.rank} dimensions; got {len(coordinates)} coordinates")
        return self.address, tuple(_as_signed(each) for each in coordinates)

    def _row_operand(self, column: Coordinate, rows: Sequence[Coordinate]) -> tuple[object, ...]:
        if len(rows) != 4:
            raise BuildTypeError(f"four rows are copied at once, not {len(rows)}")
        return self.address, tuple(_as_signed(each) for each in (column, *rows))

    def _filter_offsets(self, offsets: Sequence[Register[Any] | int]) -> tuple[Register[Any] | int, ...]:
        if len(offsets) != self.form.rank - 2:
            raise BuildTypeError(f"the filter has {self.form.rank - 2} dimensions; got {len(offsets)} offsets")
        return tuple(offsets)

    def _check_box(self, place: Shared[Any]) -> None:
        """Checks that a box is in shared memory that is aligned to the pattern of its swizzle."""
        if not isinstance(place, Shared):
            raise BuildTypeError(f"a box is copied to and from the CTA's shared memory, not {place!r}")
        needed = SWIZZLE_PERIODS[self.form.swizzle]
        if place.alignment < needed:
            raise BuildTypeError(
                f"a box with a swizzle of {self.form.swizzle} bytes is aligned to {needed} bytes, and not {place!r}; "
                f"declare the array with align={needed}, or use .aligned({needed}) if the address is aligned"
            )
        room = None if place.count is None else place.count * place.type.size()
        if room is not None and room < self.bytes:
            raise BuildValueError(f"a box has {self.bytes} bytes, and {place!r} has {room}")


def _as_signed(coordinate: Coordinate) -> object:
    return coordinate.reinterpret(s32) if isinstance(coordinate, Register) and coordinate.type is u32 else coordinate


def make_tensor_form(
    element: type[Scalar], box: Sequence[int], rank: int | None, swizzle: int, mode: str
) -> TensorForm:
    """Returns the form of a tensor map. Raises `BuildValueError` for values that no tensor map can have."""
    extents = tuple(box)
    if mode == "tiled":
        if not 1 <= len(extents) <= MAX_RANK or rank not in (None, len(extents)):
            raise BuildValueError(f"a box has as many dimensions as its tensor, 1 to {MAX_RANK}, not {len(extents)}")
        rank, most = len(extents), (MAX_BOX,) * len(extents)
    elif mode == "im2col":
        if rank is None or not 3 <= rank <= MAX_RANK or len(extents) != 2:
            raise BuildValueError("an im2col map requires its tensor's rank, 3 to 5, and its box as (channels, pixels)")
        most = (MAX_BOX, MAX_PIXELS)
    else:
        raise BuildValueError(f"the mode of a tensor map is tiled or im2col, not {mode!r}")
    for extent, limit in zip(extents, most, strict=True):
        if isinstance(extent, bool) or not isinstance(extent, int) or not 1 <= extent <= limit:
            raise BuildValueError(f"a box has 1 to {limit} elements in a dimension, not {extent!r}")
    if swizzle not in SWIZZLE_PERIODS:
        raise BuildValueError(f"a swizzle spans {', '.join(map(str, SWIZZLE_PERIODS))} bytes, not {swizzle!r}")
    row = extents[0] * element.size()
    if row % 16:
        raise BuildValueError(f"the innermost extent of a box is a multiple of 16 bytes, and not {row} bytes")
    if swizzle and row > swizzle:
        raise BuildValueError(f"with a swizzle of {swizzle} bytes a box has rows of at most as many, and not {row}")
    return TensorForm(element, rank, extents, swizzle, mode)
