"""Exchanges between the lanes of a warp: shuffles, votes and matches, typed as their operands.

All lanes of the mask `members` must execute the same exchange, or the kernel has undefined behavior.

Source: PTX ISA, "Data Movement and Conversion Instructions: shfl.sync", "Parallel Synchronization and Communication
Instructions: vote.sync, match.sync".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.build.math_functions import where
from ptxkit.build.packing import unpack
from ptxkit.build.registers import Register, check_predicate
from ptxkit.kernel_model.scalar_types import ScalarT, b32, pred, u16, u32
from ptxkit.syntax.constants import WARP_SIZE

if TYPE_CHECKING:
    from ptxkit.build.instructions import InstructionBuilder

LaneMask: TypeAlias = int | Register[Any]
"""A mask of lanes in 32 bits, of which bit n is that of lane n."""

FULL_MASK = 0xFFFFFFFF
"""The mask of all lanes of a warp."""


def shuffle_xor(
    k: InstructionBuilder,
    value: Register[ScalarT],
    lane_mask: int | Register[u32],
    *,
    width: int = WARP_SIZE,
    members: LaneMask = FULL_MASK,
) -> Register[ScalarT]:
    """Returns the value of the lane whose number differs from the lane's in the bits of `lane_mask`: `shfl.sync.bfly`.

    The result has the type of the value. Values of 32 bits take one shuffle, those of 64 bits two, of 128 bits four;
    those of 8 and 16 bits are extended to 32 by `cvt`, and a predicate is selected by `selp` and compared by `setp`.
    `width` is the number of lanes that exchange among each other, a power of two.
    """
    return _shuffle(k, "bfly", value, lane_mask, width, members)


def shuffle_up(
    k: InstructionBuilder,
    value: Register[ScalarT],
    distance: int | Register[u32],
    *,
    width: int = WARP_SIZE,
    members: LaneMask = FULL_MASK,
) -> Register[ScalarT]:
    """Returns the value of the lane `distance` lanes below: `shfl.sync.up`.

    The first `distance` lanes of each `width` keep their own. Types and costs are those of `shuffle_xor`.
    """
    return _shuffle(k, "up", value, distance, width, members)


def shuffle_down(
    k: InstructionBuilder,
    value: Register[ScalarT],
    distance: int | Register[u32],
    *,
    width: int = WARP_SIZE,
    members: LaneMask = FULL_MASK,
) -> Register[ScalarT]:
    """Returns the value of the lane `distance` lanes above: `shfl.sync.down`.

    The last `distance` lanes of each `width` keep their own. Types and costs are those of `shuffle_xor`.
    """
    return _shuffle(k, "down", value, distance, width, members)


def shuffle_idx(
    k: InstructionBuilder,
    value: Register[ScalarT],
    lane: int | Register[u32],
    *,
    width: int = WARP_SIZE,
    members: LaneMask = FULL_MASK,
) -> Register[ScalarT]:
    """Returns the value of the lane with the number `lane` among each `width` lanes: `shfl.sync.idx`.

    Types and costs are those of `shuffle_xor`.
    """
    return _shuffle(k, "idx", value, lane, width, members)


def ballot(k: InstructionBuilder, predicate: Register[pred], *, members: LaneMask = FULL_MASK) -> Register[u32]:
    """Returns the mask of the lanes in which the predicate holds: `vote.sync.ballot`. Bit n is that of lane n."""
    return _vote(k, "vote_sync_ballot", predicate, members).reinterpret(u32)


def any_(k: InstructionBuilder, predicate: Register[pred], *, members: LaneMask = FULL_MASK) -> Register[pred]:
    """Returns whether the predicate holds in any lane of `members`: `vote.sync.any`."""
    return _vote(k, "vote_sync_any", predicate, members)


def all_(k: InstructionBuilder, predicate: Register[pred], *, members: LaneMask = FULL_MASK) -> Register[pred]:
    """Returns whether the predicate holds in all lanes of `members`: `vote.sync.all`."""
    return _vote(k, "vote_sync_all", predicate, members)


def match_any(k: InstructionBuilder, value: Register[Any], *, members: LaneMask = FULL_MASK) -> Register[u32]:
    """Returns the mask of the lanes whose value has the same bits, of 32 or 64: `match.any.sync`."""
    if not isinstance(value, Register) or value.type.bits not in (32, 64):
        raise BuildTypeError(f"match_any compares values of 32 or 64 bits, not {value!r}")
    found = k.instruction(f"match_any_sync_b{value.type.bits}", (value, members), into=k.register(u32))
    return cast("Register[u32]", found)


def _vote(k: InstructionBuilder, name: str, predicate: Register[pred], members: LaneMask) -> Register[Any]:
    return cast("Register[Any]", k.instruction(name, (check_predicate(predicate), members)))


def _shuffle(
    k: InstructionBuilder,
    mode: str,
    value: Register[ScalarT],
    lane: int | Register[u32],
    width: int,
    members: LaneMask,
) -> Register[ScalarT]:
    """Returns the value of another lane. The last operand of the instruction has the segment's mask and its bound."""
    if not isinstance(value, Register):
        raise BuildTypeError(f"a shuffle exchanges registers, not {value!r}: all lanes have the same constant")
    if isinstance(width, bool) or not isinstance(width, int) or not 1 <= width <= WARP_SIZE or width & (width - 1):
        raise BuildValueError(f"the lanes of a shuffle exchange among 1, 2, 4, 8, 16 or 32 of them, not {width!r}")
    bound = (WARP_SIZE - width) << 8 | (0 if mode == "up" else WARP_SIZE - 1)
    scalar = value.type
    if scalar is pred:
        moved = _shuffle(k, mode, where(k, cast("Register[pred]", value), 1, 0, u32), lane, width, members)
        return cast("Register[ScalarT]", moved != 0)
    if scalar.bits < b32.bits:
        wide: Register[u32] = Register(k, u16, value.name).convert(u32)
        back = _shuffle(k, mode, wide, lane, width, members).convert(u16)
        return Register(k, scalar, back.name, value.multiple)
    if scalar.bits > b32.bits:
        words = [_shuffle(k, mode, each, lane, width, members) for each in unpack(k, value, b32)]
        place = k.register(scalar)
        k.emit(f"mov.b{scalar.bits}", place, tuple(words))
        return place
    place = k.register(scalar)
    k.instruction(f"shfl_sync_{mode}", (value, lane, bound, members), into=place)
    return place
