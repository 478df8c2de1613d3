"""Warp specialization: different warps execute different code.

    k = Kernel("gemm", threads=384, registers=168)
    with k.role(warps=range(4), registers=40):     # the first warpgroup: the producer
        ...
    with k.role(warps=range(4, 12), registers=232):
        ...

A role is a branch on the warp's number, which is the same in all lanes of a warp, so all lanes of a warp have the same
role. `bar.sync 0` waits for all threads of the CTA; inside a role, a named barrier synchronizes the threads of the role
(`k.bar_sync(1, 128)`).

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
from ptxkit.syntax.constants import WARP_SIZE

WARPS_PER_WARPGROUP = 4
"""The number of warps of a warpgroup."""
ALL_LANES = 0xFFFFFFFF


class WarpRole(IfBlock):
    """Executes its block in some warps; all other threads skip it."""

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
    """Returns the number of the thread in the CTA, counted along x first. It is computed once, in the prologue."""
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
    """Returns the number of the thread's warp in the CTA."""
    return thread_rank(k) >> 5


def uniform(k: InstructionBuilder, value: Register[u32]) -> Register[u32]:
    """Returns a value that is the same in all lanes of the warp, in a form that ptxas knows to be uniform:
    `redux.sync.or`.

    Values, branches and addresses that depend on it are then computed once for each warp. All lanes must execute it.
    """
    same = cast("Register[Any]", k.instruction("redux_sync_or_b32", (value, ALL_LANES)))
    return Register(k, u32, same.name, value.multiple)


def role(
    k: InstructionBuilder, *, warps: Iterable[int] | int, registers: int | None = None, by: Register[u32] | None = None
) -> WarpRole:
    """Executes the block in consecutive warps: `with k.role(warps=range(4)):`.

    `by` is a register that holds the number of the warp, such as `k.uniform(k.warp)`. `registers` is the number of
    registers that each thread has in the role, a multiple of 8 from 24 to 256, which `setmaxnreg` sets for whole
    warpgroups. The kernel must then state the number that its threads start with: `Kernel(..., registers=168)`. Raises
    `BuildValueError` for warps that are not consecutive or that the CTA does not have, and `BuildError` if the kernel
    does not fix its shape.
    """
    numbers = check_consecutive_warps(k, warps)
    return WarpRole(
        k,
        _is_in_warps(k, numbers, _count_warps(k), by),
        _register_change_direction(k, numbers, registers),
        registers,
    )


def check_consecutive_warps(k: InstructionBuilder, warps: Iterable[int] | int) -> list[int]:
    """Returns the numbers of warps in ascending order.

    Raises `BuildValueError` if they are not consecutive, or if the CTA has no such warp.
    """
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
