"""The tensor core of sm_100: Tensor Memory, matrix descriptors, and multiplications that one thread issues.

    k = Kernel("k", threads=128, target="sm_100a")
    tensor = k.tensor_memory(256)                          # all threads execute it; one warp allocates 256 columns
    a, b = k.tensor_matrix(tile_a), k.tensor_matrix(tile_b)
    with k.thread_is(0):
        for step in k.unroll(4):                           # 64 of K, 32 bytes at a time
            tensor.multiply(a.moved(32 * step), b.moved(32 * step), bf16, (128, 256), accumulate=step > 0)
        tensor.commit(done)                                # arrives once at an mbarrier when all of it is complete
    done.wait(0)
    k.tcgen05_fence_after_thread_sync()
    values = tensor.load(32)                               # columns 0 to 31 of the thread's row
    tensor.free()                                          # all threads execute it, too

Tensor Memory has 128 lanes of 512 columns of 32 bits. Row i of a result with 128 rows is in lane i. Warp i of a
warpgroup reads and writes lanes 32 i to 32 i + 31, so thread i has row i.

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
"""The numbers of columns that can be allocated at once."""
TRANSFER_COLUMNS = (1, 2, 4, 8, 16, 32, 64, 128)
"""The numbers of columns that one instruction can load or store."""
_DESCRIPTOR_VERSION_BITS = 1 << 14
"""The bits in a descriptor's high word that identify a descriptor of this generation."""
_SWIZZLES = {0: 0, 128: 2, 64: 4, 32: 6}
"""The layout codes of a descriptor, by the width of the swizzle in bytes."""
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
"""The kind of multiplication and the code of the type in it, by the element type of a matrix."""
_RESULTS: dict[str, dict[type[Scalar], int]] = {
    "f16": {f16: 0, f32: 1},
    "tf32": {f32: 1},
    "f8f6f4": {f16: 0, f32: 1},
    "i8": {s32: 2},
}
"""The codes of the result types, by the kind of multiplication."""
_LANE_SHIFT = 21
"""The position of the lane in an address, and the number of lanes of a warp."""


class Tensor(Address[b32]):
    """An address in Tensor Memory: the lane is in the upper half, the column in the lower half."""

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
    """Returns a matrix in shared memory for `tcgen05.mma`; the arguments are those of `matrix`."""
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
    """Returns the instruction descriptor of a dense `tcgen05.mma`: 32 bits with its shape, types and transpositions.

    `shape` is the rows and columns of the result, for two CTAs those of both together. `element` and `b_element` are
    the types of A and B, by default the same. Raises `BuildTypeError` for types and `BuildValueError` for shapes that
    no instruction has.
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
    """`columns` allocated columns of Tensor Memory. `ctas` is 2 if pairs of CTAs multiply together, else 1."""

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
        """Deallocates the columns after a barrier of the CTA. All threads must execute it, and no access may be
        pending.
        """
        k = self._k
        k.instruction("tcgen05_fence_before_thread_sync", ())
        cta_sync(k)
        with if_(k, current_warp(k) == self._warp):
            k.instruction("tcgen05_fence_after_thread_sync", ())
            k.instruction(f"tcgen05_dealloc_{self._group}_sync_aligned_b32", (self.address, self.columns))

    def at(self, column: int | Register[u32] = 0) -> Tensor:
        """Returns the address of a column in lane 0. Raises `BuildValueError` if a constant column is not allocated."""
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
        """Starts `D = A * B + D`, or `A * B` if `accumulate` does not hold, for 32 bytes of K: `tcgen05.mma`.

        One thread issues it, for a pair of CTAs a thread of the first one. D begins at `column`. `a` is a matrix in
        shared memory or in Tensor Memory. `shape`, `element` and `more` have the meaning of `instruction_descriptor`.
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
        """Arrives once at an mbarrier when all operations that this thread started are complete: `tcgen05.commit`.

        `multicast` is a mask of CTAs of the cluster; the operation arrives at the mbarrier at the same offset in each.
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
        """Loads `count` columns from `column` on of the thread's own lane: `tcgen05.ld` of shape `32x32b`.

        All threads of the warp must execute it. `scalar` is the type of the values, which has 32 bits. With `wait`, the
        values are available afterwards (`tcgen05.wait::ld`); else the registers must not be used before such a wait.
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
        """Stores one column from each register, from `column` on, to the thread's own lane: `tcgen05.st`.

        All threads of the warp must execute it. With `wait`, the stores are complete afterwards (`tcgen05.wait::st`). A
        multiplication by another thread needs a fence and a barrier first.
        """
        self._check_count(len(values), column)
        self._k.emit(
            f"tcgen05.st.sync.aligned.32x32b.x{len(values)}.b32", self._own_lane_address(column), tuple(values)
        )
        if wait:
            self._k.instruction("tcgen05_wait_st_sync_aligned", ())

    # ----------------------------------------------------------------------------------------- internals

    def _own_lane_address(self, column: int | Register[u32]) -> Tensor:
        lanes = (current_warp(self._k) & 3) << _LANE_SHIFT
        return Tensor(self._k, b32, self.at(column).to_register() + lanes, 4)

    def _check_count(self, count: int, column: int | Register[u32]) -> None:
        if count not in TRANSFER_COLUMNS:
            raise BuildValueError(f"{', '.join(map(str, TRANSFER_COLUMNS))} columns are moved at once, not {count!r}")
        if isinstance(column, int) and column + count > self.columns:
            raise BuildValueError(f"there are {self.columns} columns, and {column + count} are named")


def tensor_memory(k: InstructionBuilder, columns: int, *, warp: int = 0, ctas: int = 1) -> TensorMemory:
    """Allocates 32 to 512 columns of Tensor Memory in one warp: see `ptxkit.build.tcgen05`. Needs sm_100a.

    All threads of the CTA must execute it, and later `free()`. `ctas` is 2 if pairs of CTAs multiply together. Raises
    `BuildValueError` if `columns` is not a power of two of that range.
    """
    return TensorMemory(k, columns, warp=warp, ctas=ctas)


def _kind_and_number(element: type[Scalar] | str) -> tuple[str, int]:
    word = _element_word(element)
    if word not in _KINDS:
        raise BuildTypeError(f"tcgen05 multiplies {', '.join(_KINDS)}, not {word}")
    return _KINDS[word]


def _element_word(element: type[Scalar] | str | None) -> str:
    return element if isinstance(element, str) else element.word if element is not None else ""
