"""The tensor core of sm_100: Tensor Memory, matrices by descriptor, multiplications that one thread issues.

    k = Kernel("k", threads=128, target="sm_100a")
    tensor = k.tensor_memory(256)                          # all threads come; one warp allocates 256 columns
    a, b = k.tensor_matrix(tile_a), k.tensor_matrix(tile_b)
    with k.thread_is(0):
        for step in k.unroll(4):                           # 64 of K, 32 bytes at a time
            tensor.multiply(a.moved(32 * step), b.moved(32 * step), bf16, (128, 256), accumulate=step > 0)
        tensor.commit(done)                                # an mbarrier; one arrival when all that is complete
    done.wait(0)
    k.tcgen05_fence_after_thread_sync()
    values = tensor.load(32)                               # of the thread's row, columns 0 to 31
    tensor.free()                                          # all threads come again

Tensor Memory has 128 lanes of 512 columns, each 32 bits. A result with 128 rows has row i in lane i; warp i of four
reads and writes lanes 32 i to 32 i + 31, so thread i has row i.

Source: PTX ISA, "Tensor Memory", "Matrix Descriptors", "Matrix Shape", "Tensor Memory Allocation and Management
Instructions", "TensorCore 5th Generation Matrix Multiply and accumulate Operations".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast, overload

from ptxkit.build.addresses import Address, Shared, SharedCluster
from ptxkit.build.barriers_and_fences import cta_sync
from ptxkit.build.control_flow import if_
from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.memory_declarations import shared
from ptxkit.build.registers import Register
from ptxkit.build.special_registers import constant_register
from ptxkit.build.warp_roles import warp as current_warp
from ptxkit.build.wgmma import Matrix, make_descriptor_low
from ptxkit.kernel_model.scalar_types import Scalar, ScalarT, b32, b64, f16, f32, pred, s32, u32

ALLOCATION_COLUMNS = (32, 64, 128, 256, 512)
"""That may be allocated at once."""
TRANSFER_COLUMNS = (1, 2, 4, 8, 16, 32, 64, 128)
"""Columns that one instruction loads or stores."""
_DESCRIPTOR_VERSION_BITS = 1 << 14
"""Of a descriptor's high word: the constant that says that it is one of this generation."""
_SWIZZLES = {0: 0, 128: 2, 64: 4, 32: 6}
"""Of a descriptor's layout, by the bytes that the swizzle spans."""
_KINDS: dict[str, tuple[str, int]] = {
    "f16": ("f16", 0),
    "bf16": ("f16", 1),
    "tf32": ("tf32", 2),
    "e4m3": ("f8f6f4", 0),
    "e5m2": ("f8f6f4", 1),
    "e2m3": ("f8f6f4", 3),
    "e3m2": ("f8f6f4", 4),
    "e2m1": ("f8f6f4", 5),
    "u8": ("i8", 0),
    "s8": ("i8", 1),
}
"""By the type of a matrix: the kind of multiplication, and the type's number there."""
_RESULTS: dict[str, dict[type[Scalar], int]] = {
    "f16": {f16: 0, f32: 1},
    "tf32": {f32: 1},
    "f8f6f4": {f16: 0, f32: 1},
    "i8": {s32: 2},
}
"""By the kind: the numbers of the results' types."""
_LANE_SHIFT = 21
"""The lane is in the upper half of an address, and a warp has 32 of them."""


class Tensor(Address[b32]):
    """An address in Tensor Memory: the lane in the upper half, the column in the lower."""

    space = "tensor"
    pointer = u32


def tensor_matrix(
    k: InstructionBuilder,
    place: Shared[Any],
    *,
    swizzle: int = 128,
    stride: int | None = None,
    leading: int = 16,
    transposed: bool = False,
) -> Matrix:
    """A matrix in shared memory for `tcgen05.mma`; the arguments are those of `matrix`."""
    low, apart = make_descriptor_low(place, swizzle, stride, leading)
    return Matrix(k, low, apart >> 4 | _DESCRIPTOR_VERSION_BITS | _SWIZZLES[swizzle] << 29, transposed)


def instruction_descriptor(
    shape: tuple[int, int],
    element: type[Scalar] | str,
    *,
    b_element: type[Scalar] | str | None = None,
    result: type[Scalar] = f32,
    transposed: tuple[bool, bool] = (False, False),
    negated: tuple[bool, bool] = (False, False),
    ctas: int = 1,
) -> int:
    """The 32 bits that describe a dense multiplication to `tcgen05.mma`: shape, types, directions.

    `shape` is rows and columns of the result; with two CTAs, of both together. `element` and `b_element` are the types
    of A and B.
    """
    kind, number = _kind_and_number(element)
    b_kind, b_number = _kind_and_number(element if b_element is None else b_element)
    if kind != b_kind:
        raise BuildTypeError(f"no instruction multiplies {_element_word(element)} by {_element_word(b_element)}")
    if result not in _RESULTS[kind]:
        words = " or ".join(each.word for each in _RESULTS[kind])
        raise BuildTypeError(f"products of {_element_word(element)} are added up as {words}, not {result.word}")
    if any(negated) and kind == "i8":
        raise BuildTypeError("integers are not negated as they are multiplied")
    rows, columns = _check_shape(shape, kind, ctas)
    found = _RESULTS[kind][result] << 4 | number << 7 | b_number << 10
    found |= negated[0] << 13 | negated[1] << 14 | transposed[0] << 15 | transposed[1] << 16
    return found | columns >> 3 << 17 | rows >> 4 << 24


def _check_shape(shape: tuple[int, int], kind: str, ctas: int) -> tuple[int, int]:
    rows, columns = shape
    if rows not in ((64, 128) if ctas == 1 else (128, 256)):
        raise BuildValueError(f"{ctas} CTA{'s' * (ctas > 1)} multiply {64 * ctas} or {128 * ctas} rows, not {rows!r}")
    step = 8 if rows == 64 else 16
    if kind == "i8" and (ctas == 2 or columns > 32):
        step = 16 * ctas
    if columns % step or not step <= columns <= 256:
        raise BuildValueError(f"with {rows} rows there are {step} to 256 columns by {step}s, not {columns!r}")
    return rows, columns


class TensorMemory:
    """Columns of Tensor Memory that this CTA has, `columns` of them. ctas: 2 where pairs of CTAs multiply together."""

    def __init__(self, k: InstructionBuilder, columns: int, *, warp: int, ctas: int) -> None:
        if columns not in ALLOCATION_COLUMNS:
            raise BuildValueError(
                f"{', '.join(map(str, ALLOCATION_COLUMNS))} columns are allocated at once, not {columns!r}"
            )
        if ctas not in (1, 2):
            raise BuildValueError(f"one CTA multiplies, or a pair, not {ctas!r}")
        self._k = k
        self.columns, self.ctas, self._warp = columns, ctas, warp
        self._group = f"cta_group_{ctas}"
        place = shared(k, u32, 1, name=f"tensor_memory_{len(k.declarations.variables)}")
        with if_(k, current_warp(k) == warp):
            k.instruction(f"tcgen05_alloc_{self._group}_sync_aligned_shared_cta_b32", (place, columns))
            k.instruction(f"tcgen05_relinquish_alloc_permit_{self._group}_sync_aligned", ())
        k.instruction("tcgen05_fence_before_thread_sync", ())
        cta_sync(k)
        k.instruction("tcgen05_fence_after_thread_sync", ())
        self.address: Register[u32] = place.load()

    def free(self) -> None:
        """Deallocates the columns when all threads of the CTA have come here. No access to them may be pending."""
        k = self._k
        k.instruction("tcgen05_fence_before_thread_sync", ())
        cta_sync(k)
        with if_(k, current_warp(k) == self._warp):
            k.instruction("tcgen05_fence_after_thread_sync", ())
            k.instruction(f"tcgen05_dealloc_{self._group}_sync_aligned_b32", (self.address, self.columns))

    def at(self, column: int | Register[u32] = 0) -> Tensor:
        """The column of that number, from lane 0 on."""
        if isinstance(column, int) and not 0 <= column < self.columns:
            raise BuildValueError(f"there are columns 0 to {self.columns - 1}, and no column {column}")
        return Tensor(self._k, b32, self.address + column, 4)

    # -------------------------------------------------------------------------------------- multiplication

    def multiply(
        self,
        a: Matrix | Tensor,
        b: Matrix,
        element: type[Scalar] | str,
        shape: tuple[int, int],
        *,
        column: int | Register[u32] = 0,
        accumulate: bool | Register[pred] = True,
        **more: Any,
    ) -> None:
        """Starts `D = A * B + D`, or `A * B` where `accumulate` does not hold, for 32 bytes of K: `tcgen05.mma`.

        One thread issues it (of a pair of CTAs, one of the first). D begins at `column`. `a` is a matrix in shared
        memory, or in Tensor Memory. `shape`, `element` and `more` are those of `instruction_descriptor`.
        """
        k = self._k
        if not isinstance(b, Matrix) or not isinstance(a, Matrix | Tensor):
            raise BuildTypeError(f"a matrix is one of k.tensor_matrix(...), not {b if isinstance(a, Matrix) else a!r}")
        directions = (isinstance(a, Matrix) and a.transposed, b.transposed)
        bits = instruction_descriptor(shape, element, transposed=directions, ctas=self.ctas, **more)
        left: object = a.descriptor() if isinstance(a, Matrix) else a
        enabled = accumulate
        if isinstance(accumulate, bool):
            enabled = cast("Register[pred]", k.instruction("setp_ne_u32", (constant_register(k, accumulate), 0)))
        opcode = f"tcgen05.mma.cta_group::{self.ctas}.kind::{_kind_and_number(element)[0]}"
        k.emit(opcode, self.at(column), left, b.descriptor(), constant_register(k, bits), enabled)

    def commit(
        self, barrier: Shared[b64] | SharedCluster[b64], *, multicast: Register[Any] | int | None = None
    ) -> None:
        """Arrives once at an mbarrier when all that this thread started is complete: `tcgen05.commit`.

        `multicast` is the mask of the CTAs of the cluster at whose mbarriers, each at the same offset, it arrives.
        """
        name = f"tcgen05_commit_{self._group}_mbarrier_arrive_one_shared_cluster"
        if multicast is None:
            self._k.instruction(f"{name}_b64", (barrier,))
        else:
            self._k.instruction(f"{name}_multicast_cluster_b64", (barrier, multicast))

    # --------------------------------------------------------------------------------------- loads, stores

    @overload
    def load(self, count: int, column: int | Register[u32] = 0, *, wait: bool = True) -> tuple[Register[f32], ...]: ...

    @overload
    def load(
        self, count: int, column: int | Register[u32], scalar: type[ScalarT], *, wait: bool = True
    ) -> tuple[Register[ScalarT], ...]: ...

    def load(
        self, count: int, column: int | Register[u32] = 0, scalar: type[Scalar] = f32, *, wait: bool = True
    ) -> tuple[Register[Any], ...]:
        """`count` columns from `column` on, of the lane that is the thread's own: `tcgen05.ld` of shape `32x32b`.

        All threads of the warp come here. With `wait`, they are there afterwards (`tcgen05.wait::ld`); else the
        registers may not be used before such a wait. `scalar` is what the columns hold.
        """
        self._check_count(count, column)
        if scalar.bits != 32:
            raise BuildTypeError(f"a column holds 32 bits, and not .{scalar.word}")
        found: tuple[Register[Any], ...] = tuple(self._k.register(scalar) for _ in range(count))
        self._k.emit(f"tcgen05.ld.sync.aligned.32x32b.x{count}.b32", found, self._own_lane_address(column))
        if wait:
            self._k.instruction("tcgen05_wait_ld_sync_aligned", ())
        return found

    def store(self, values: Sequence[Register[Any]], column: int | Register[u32] = 0, *, wait: bool = True) -> None:
        """Stores a column from each register, from `column` on, to the thread's own lane: `tcgen05.st`.

        With `wait`, they are there afterwards (`tcgen05.wait::st`). A thread multiplies by them after a fence and a
        barrier.
        """
        self._check_count(len(values), column)
        self._k.emit(
            f"tcgen05.st.sync.aligned.32x32b.x{len(values)}.b32", self._own_lane_address(column), tuple(values)
        )
        if wait:
            self._k.instruction("tcgen05_wait_st_sync_aligned", ())

    # ------------------------------------------------------------------------------------------ workings

    def _own_lane_address(self, column: int | Register[u32]) -> Tensor:
        lanes = (current_warp(self._k) & 3) << _LANE_SHIFT
        return Tensor(self._k, b32, self.at(column).to_register() + lanes, 4)

    def _check_count(self, count: int, column: int | Register[u32]) -> None:
        if count not in TRANSFER_COLUMNS:
            raise BuildValueError(f"{', '.join(map(str, TRANSFER_COLUMNS))} columns are moved at once, not {count!r}")
        if isinstance(column, int) and column + count > self.columns:
            raise BuildValueError(f"there are {self.columns} columns, and {column + count} are named")


def tensor_memory(k: InstructionBuilder, columns: int, *, warp: int = 0, ctas: int = 1) -> TensorMemory:
    """Allocates 32 to 512 columns of Tensor Memory, by one warp: see `ptxkit.build.tcgen05`. Needs sm_100a.

    All threads of the CTA come here, and again to `free()`. ctas: 2 where pairs of CTAs multiply together.
    """
    return TensorMemory(k, columns, warp=warp, ctas=ctas)


def _kind_and_number(element: type[Scalar] | str) -> tuple[str, int]:
    word = _element_word(element)
    if word not in _KINDS:
        raise BuildTypeError(f"tcgen05 multiplies {', '.join(_KINDS)}, not {word}")
    return _KINDS[word]


def _element_word(element: type[Scalar] | str | None) -> str:
    return element if isinstance(element, str) else element.word if element is not None else ""
