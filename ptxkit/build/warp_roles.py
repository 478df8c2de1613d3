"""Warp specialisation: which warps do what.

    k = Kernel("gemm", threads=384, registers=168)
    with k.role(warps=range(4), registers=40):     # the first warpgroup: the producer
        ...
    with k.role(warps=range(4, 12), registers=232):
        ...

Roles are branches on the warp's number, which all lanes of a warp have in common, so a warp is in one role as a whole.
`bar.sync` waits for all threads of the CTA: inside a role, threads meet at a named barrier (`k.bar_sync(1, 128)`).

Source: PTX ISA, "Special Registers: %tid", "Miscellaneous Instructions: setmaxnreg".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from ptxkit.build.control_flow import IfBlock
from ptxkit.build.errors import BuildError, BuildValueError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.registers import Register
from ptxkit.build.special_registers import read_special
from ptxkit.kernel_model.scalar_types import pred, u32

WARP_SIZE, WARPS_PER_WARPGROUP = 32, 4
"""Threads of a warp, and warps of a warpgroup."""
ALL_LANES = 0xFFFFFFFF


class WarpRole(IfBlock):
    """The warps of some numbers; all other threads go past."""

    __slots__ = ("_register_change",)

    def __init__(self, flow: InstructionBuilder, predicate: Register[pred], change: str, registers: int | None) -> None:
        super().__init__(flow, predicate)
        self._register_change = (change, registers)

    def __enter__(self) -> None:
        super().__enter__()
        change, registers = self._register_change
        if registers is not None:
            self._flow.instruction(f"setmaxnreg_{change}", (registers,))


def thread_rank(k: InstructionBuilder) -> Register[u32]:
    """The thread's number in the CTA, x fastest: computed once, where it is first asked for."""
    if k.threads is None:
        raise BuildError("the number of a thread follows from the CTA's shape: Kernel(..., threads=...)")
    x, y, z = k.threads
    rank = read_special(k, "%tid.x")
    if y > 1:
        rank = rank + read_special(k, "%tid.y") * x
    if z > 1:
        rank = rank + read_special(k, "%tid.z") * (x * y)
    return rank


def warp(k: InstructionBuilder) -> Register[u32]:
    """The number of the thread's warp in the CTA."""
    return thread_rank(k) >> 5


def uniform(k: InstructionBuilder, value: Register[u32]) -> Register[u32]:
    """A value that all lanes of the warp have in common, so computed that ptxas knows it: `redux.sync.or`.

    What follows from it (branches, addresses, descriptors) is then computed once a warp. All lanes come here.
    """
    same = cast("Register[Any]", k.instruction("redux_sync_or_b32", (value, ALL_LANES)))
    return Register(k, u32, same.name, value.multiple)


def role(
    k: InstructionBuilder, *, warps: Iterable[int] | int, registers: int | None = None, by: Register[u32] | None = None
) -> WarpRole:
    """The warps of these numbers, which follow one another: `with k.role(warps=range(4)):`.

    `by` is the warp's number where a register holds it already, such as `k.uniform(k.warp)`. `registers` is how many
    each of their threads has in the role, 24 to 256 by eights; `setmaxnreg` sets it for whole warpgroups. The kernel
    must state what it starts with: Kernel(..., registers=168).
    """
    numbers = check_consecutive_warps(k, warps)
    return WarpRole(
        k,
        _is_in_warps(k, numbers, _count_warps(k), by),
        _register_change_direction(k, numbers, registers),
        registers,
    )


def check_consecutive_warps(k: InstructionBuilder, warps: Iterable[int] | int) -> list[int]:
    """The numbers of warps, in order; BuildValueError where one is left out, or the CTA has no such warp."""
    numbers = sorted({warps} if isinstance(warps, int) else set(warps))
    if not numbers or numbers != list(range(numbers[0], numbers[-1] + 1)) or numbers[0] < 0:
        raise BuildValueError(f"a role is that of warps whose numbers follow one another, not {numbers}")
    count = _count_warps(k)
    if numbers[-1] >= count:
        raise BuildValueError(f"the CTA has warps 0 to {count - 1}; there is no warp {numbers[-1]}")
    return numbers


def _count_warps(k: InstructionBuilder) -> int:
    if k.threads is None:
        raise BuildError("a role needs the CTA's shape: Kernel(..., threads=...)")
    x, y, z = k.threads
    return -(-x * y * z // WARP_SIZE)


def _is_in_warps(k: InstructionBuilder, numbers: list[int], count: int, by: Register[u32] | None) -> Register[pred]:
    first, last = numbers[0], numbers[-1]
    own = warp(k) if by is None else by
    if first == last:
        return own == first
    if first == 0:
        return own <= last
    if last == count - 1:
        return own >= first
    return own - first <= last - first


def _register_change_direction(k: InstructionBuilder, numbers: list[int], registers: int | None) -> str:
    if registers is None:
        return ""
    if k.registers is None:
        raise BuildError("a role changes the registers that the kernel starts with: Kernel(registers=...)")
    if numbers[0] % WARPS_PER_WARPGROUP or len(numbers) % WARPS_PER_WARPGROUP:
        raise BuildValueError("registers change for whole warpgroups: four warps, the first a multiple of four")
    return "dec" if registers <= k.registers else "inc"
