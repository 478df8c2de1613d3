"""Reductions over the threads of a warp and of a CTA, and scans over a warp.

    total = k.warp_reduce("add", value)                     # in every lane
    largest = k.block_reduce("max", value)                  # in every thread
    mean, spread = k.block_reduce(merge, (mean, spread), neutral=(0.0, 0.0))

An operation is a name, or a function that merges two partial results. With several values, the function takes and
returns all of them, as for a maximum with its sum.

Source: PTX ISA, "Data Movement and Conversion Instructions: shfl.sync", "Parallel Synchronization and Communication
Instructions: redux.sync, bar".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, cast, overload

from ptxkit.build.addresses import Shared
from ptxkit.build.barriers_and_fences import cta_sync
from ptxkit.build.control_flow import predicated, variable
from ptxkit.build.errors import BuildError, BuildTypeError, BuildValueError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.math_functions import where
from ptxkit.build.memory_declarations import shared
from ptxkit.build.registers import Number, Register
from ptxkit.build.special_registers import read_special
from ptxkit.build.warp_exchange import FULL_MASK, shuffle_up, shuffle_xor
from ptxkit.build.warp_roles import warp
from ptxkit.kernel_model.scalar_types import FloatScalar, Scalar, ScalarT, SignedScalar, s32, u32
from ptxkit.syntax.constants import WARP_SIZE

OperationName: TypeAlias = Literal["add", "mul", "min", "max", "and", "or", "xor"]

Merge: TypeAlias = Callable[[Register[ScalarT], Register[ScalarT]], Register[ScalarT]]
"""Merges two partial results. The function must be associative, and for a reduction commutative."""

MergeSeveral: TypeAlias = Callable[[Sequence[Register[Any]], Sequence[Register[Any]]], Sequence[Register[Any]]]
"""Merges two partial results of several values each."""

_FIRST_TARGET_WITH_REDUX = 80
_BITWISE = ("and", "or", "xor")


@overload
def warp_reduce(
    k: InstructionBuilder,
    operation: OperationName | Merge[ScalarT],
    values: Register[ScalarT],
    *,
    width: int = WARP_SIZE,
) -> Register[ScalarT]: ...


@overload
def warp_reduce(
    k: InstructionBuilder, operation: MergeSeveral, values: Sequence[Register[Any]], *, width: int = WARP_SIZE
) -> tuple[Register[Any], ...]: ...


def warp_reduce(
    k: InstructionBuilder, operation: Any, values: Any, *, width: int = WARP_SIZE
) -> Register[Any] | tuple[Register[Any], ...]:
    """Merges the values of each `width` lanes (a power of two), and returns the result in every lane.

    Emits a `shfl.sync.bfly` and the operation for each halving of the width: five for a warp. Where the kernel names a
    target from sm_80 on, 32-bit integers of a whole warp take one `redux.sync` instead. All lanes of the warp must
    execute it. Raises `BuildTypeError` for an operation that the type does not have.
    """
    if isinstance(values, Register):
        if _has_redux(k, operation, values.type, width):
            return _emit_redux(k, operation, values)
        merge = merge_function(k, operation, values.type)
        return _reduce_lanes(k, lambda a, b: (merge(a[0], b[0]),), (values,), width)[0]
    return _reduce_lanes(k, _check_function(operation), values, width)


def warp_scan(
    k: InstructionBuilder,
    operation: OperationName | Merge[ScalarT],
    value: Register[ScalarT],
    *,
    width: int = WARP_SIZE,
) -> Register[ScalarT]:
    """Merges the values of the lanes up to each lane, with its own, among each `width` lanes: an inclusive prefix sum
    for `add`.

    Emits a `shfl.sync.up`, the operation and a `selp` for each doubling of the distance: five for a warp. All lanes of
    the warp must execute it.
    """
    merge = merge_function(k, operation, value.type)
    lane = read_special(k, "%laneid") & (width - 1) if width < WARP_SIZE else read_special(k, "%laneid")
    distance = 1
    while distance < width:
        below = shuffle_up(k, value, distance, width=width)
        value = where(k, lane >= distance, merge(below, value), value)
        distance *= 2
    return value


@overload
def block_reduce(
    k: InstructionBuilder,
    operation: OperationName | Merge[ScalarT],
    values: Register[ScalarT],
    scratch: Shared[ScalarT] | None = None,
    *,
    neutral: Number | None = None,
) -> Register[ScalarT]: ...


@overload
def block_reduce(
    k: InstructionBuilder,
    operation: MergeSeveral,
    values: Sequence[Register[Any]],
    scratch: Shared[Any] | None = None,
    *,
    neutral: Sequence[Number],
) -> tuple[Register[Any], ...]: ...


def block_reduce(
    k: InstructionBuilder,
    operation: Any,
    values: Any,
    scratch: Shared[Any] | None = None,
    *,
    neutral: Any = None,
) -> Register[Any] | tuple[Register[Any], ...]:
    """Merges the values of all threads of the CTA, and returns the result in every thread.

    The warps merge their values by `warp_reduce`, exchange the results in shared memory with one barrier
    (`bar.sync 0`), and merge them again. `scratch` is that memory: an element for each warp and value; without it, an
    array is declared. A second reduction in the same memory, as in a loop, needs a barrier before it. `neutral` is the
    neutral value of a function, one for each value; names have their own.

    All threads of the CTA must execute it; the CTA has one dimension and consists of whole warps, which
    `Kernel(threads=...)` states. Raises `BuildError` if it does not.
    """
    if isinstance(values, Register):
        start = neutral_value(operation, values.type) if isinstance(operation, str) and neutral is None else neutral

        def reduce_one(parts: Sequence[Register[Any]], width: int) -> tuple[Register[Any], ...]:
            return (warp_reduce(k, operation, parts[0], width=width),)

        return _reduce_cta(k, reduce_one, (values,), scratch, (start,))[0]

    def reduce_several(parts: Sequence[Register[Any]], width: int) -> tuple[Register[Any], ...]:
        return warp_reduce(k, operation, parts, width=width)

    return _reduce_cta(k, reduce_several, values, scratch, neutral or ())


def merge_function(k: InstructionBuilder, operation: object, scalar: type[Scalar]) -> Merge[Any]:
    """Returns the function of an operation that is given by name; a function is returned unchanged."""
    if callable(operation):
        return cast("Merge[Any]", operation)
    functions: dict[object, Merge[Any]] = {
        "add": lambda a, b: a + b,
        "mul": lambda a, b: a * b,
        "min": lambda a, b: cast("Register[Any]", k.instruction("min", (a, b))),
        "max": lambda a, b: cast("Register[Any]", k.instruction("max", (a, b))),
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
    }
    if operation not in functions or (operation in _BITWISE and issubclass(scalar, FloatScalar)):
        names = [name for name in functions if name not in _BITWISE or not issubclass(scalar, FloatScalar)]
        raise BuildTypeError(
            f"a reduction of .{scalar.word} is a function or {', '.join(map(str, names))}, not {operation!r}"
        )
    return functions[operation]


def neutral_value(operation: str, scalar: type[Scalar]) -> Number:
    """Returns the value that changes no other one of the type by the operation."""
    if operation in ("min", "max"):
        if issubclass(scalar, FloatScalar):
            return math.inf if operation == "min" else -math.inf
        signed = issubclass(scalar, SignedScalar)
        least = -(1 << (scalar.bits - 1)) if signed else 0
        return least if operation == "max" else (1 << (scalar.bits - signed)) - 1
    if operation == "and":
        return -1 if issubclass(scalar, SignedScalar) else (1 << scalar.bits) - 1
    return 1 if operation == "mul" else 0


def _has_redux(k: InstructionBuilder, operation: object, scalar: type[Scalar], width: int) -> bool:
    known = k.target is not None and k.target.number >= _FIRST_TARGET_WITH_REDUX and width == WARP_SIZE
    bitwise = operation in _BITWISE and scalar.bits == u32.bits and not issubclass(scalar, FloatScalar)
    return known and (bitwise or (operation in ("add", "min", "max") and scalar in (u32, s32)))


def _emit_redux(k: InstructionBuilder, operation: str, value: Register[ScalarT]) -> Register[ScalarT]:
    place = k.register(value.type)
    k.instruction(f"redux_sync_{operation}", (value, FULL_MASK), into=place)
    return place


def _check_function(operation: object) -> MergeSeveral:
    if not callable(operation):
        raise BuildTypeError(f"several values are merged by a function of two sequences, not {operation!r}")
    return cast("MergeSeveral", operation)


def _reduce_lanes(
    k: InstructionBuilder, merge: MergeSeveral, values: Sequence[Register[Any]], width: int
) -> tuple[Register[Any], ...]:
    merged = tuple(values)
    distance = width // 2
    while distance:
        others = [shuffle_xor(k, value, distance) for value in merged]
        merged = tuple(merge(merged, others))
        distance //= 2
    return merged


def _reduce_cta(
    k: InstructionBuilder,
    reduce: Callable[[Sequence[Register[Any]], int], tuple[Register[Any], ...]],
    values: Sequence[Register[Any]],
    scratch: Shared[Any] | None,
    neutral: Sequence[Number | None],
) -> tuple[Register[Any], ...]:
    if k.threads is None or k.threads[1:] != (1, 1) or k.threads[0] % WARP_SIZE:
        raise BuildError("a reduction over the CTA needs whole warps in one dimension: Kernel(..., threads=...)")
    if len(neutral) != len(values) or None in neutral:
        raise BuildValueError("a reduction by a function needs `neutral`, with a value for each of the values")
    warps = k.threads[0] // WARP_SIZE
    merged = reduce(values, WARP_SIZE)
    if warps == 1:
        return merged
    scalar = _check_scratch(scratch, merged, warps)
    name = f"parts_{len(k.declarations.variables)}"
    parts = shared(k, scalar, warps * len(merged), name=name) if scratch is None else scratch
    own = warp(k)
    places = [parts[own + number * warps] for number in range(len(merged))]
    with predicated(k, read_special(k, "%laneid") == 0):
        for place, value in zip(places, merged, strict=True):
            place.store(value)
    cta_sync(k)
    lanes = 1 << (warps - 1).bit_length()
    mine = read_special(k, "%laneid") & (lanes - 1)
    found = []
    for number, start in enumerate(neutral):
        part = variable(k, scalar, cast("Number", start))
        k.instruction("ld", (parts[mine + number * warps],), into=part, guard=mine < warps)
        found.append(part)
    return reduce(found, lanes)


def _check_scratch(scratch: Shared[Any] | None, values: Sequence[Register[Any]], warps: int) -> type[Scalar]:
    """Returns the type of the values, which is that of the memory."""
    types = {each.type for each in values} | ({scratch.type} if scratch is not None else set())
    if len(types) != 1:
        raise BuildTypeError(
            f"the values and the memory of a reduction have one type, not {', '.join(t.word for t in types)}"
        )
    if scratch is not None and scratch.count is not None and scratch.count < warps * len(values):
        raise BuildValueError(
            f"a reduction of {len(values)} values over {warps} warps needs {warps * len(values)} elements of shared "
            f"memory, and {scratch!r} has {scratch.count}"
        )
    return types.pop()
