"""Groups of threads that execute something together: one thread, a warp, several warps, any threads, or the whole CTA.

Source: PTX ISA, "Cooperative Thread Arrays", "Parallel Synchronization and Communication Instructions: bar".
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.build.barriers_and_fences import cta_sync, warp_sync
from ptxkit.build.errors import BuildError, BuildTypeError, BuildValueError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.limits import NAMED_BARRIERS
from ptxkit.build.registers import Register
from ptxkit.build.special_registers import read_special
from ptxkit.build.warp_roles import check_consecutive_warps, thread_rank
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.scalar_types import u32
from ptxkit.syntax.constants import WARP_SIZE


@dataclass(frozen=True, slots=True)
class Group:
    """`size` threads of a CTA; `rank` is the number of the executing thread in the group.

    `barrier` is the number of the barrier that synchronizes them, or None for a warp or a single thread. Threads that
    are `scattered` do not form whole warps, and no barrier of the CTA can synchronize them.
    """

    builder: InstructionBuilder
    size: int
    rank: Register[u32] | int
    barrier: int | None = None
    scattered: bool = False

    def sync(self) -> None:
        """Synchronizes all threads of the group; does nothing for a single thread. Raises `BuildError` for scattered
        threads.
        """
        if self.scattered:
            raise BuildError(
                "barriers of a CTA count whole warps, so these threads synchronize at an mbarrier: "
                "memcpy_async(..., barrier=)"
            )
        if self.barrier == 0:
            cta_sync(self.builder)
        elif self.barrier is not None:
            cta_sync(self.builder, self.barrier, self.size)
        elif self.size > 1:
            warp_sync(self.builder)


def this_thread(k: InstructionBuilder) -> Group:
    """Returns the group that consists of the executing thread."""
    return Group(k, 1, 0)


def this_warp(k: InstructionBuilder) -> Group:
    """Returns the group of the 32 threads of the warp."""
    return Group(k, 32, read_special(k, "%laneid"))


def this_cta(k: InstructionBuilder) -> Group:
    """Returns the group of all threads of the CTA. Raises `BuildError` if the kernel does not fix its shape."""
    if k.threads is None:
        raise BuildError("the size of the group is the CTA's: Kernel(..., threads=...)")
    x, y, z = k.threads
    return Group(k, x * y * z, thread_rank(k), 0)


def these_warps(k: InstructionBuilder, warps: Iterable[int] | int, *, barrier: int | None = None) -> Group:
    """Returns the group of all threads of consecutive warps, such as those of a role: `range(1, 5)`.

    `barrier` is the number of the named barrier that synchronizes them, 1 to 15; a single warp needs none.
    """
    numbers = check_consecutive_warps(k, warps)
    if len(numbers) == 1 and barrier is None:
        return this_warp(k)
    if isinstance(barrier, bool) or not isinstance(barrier, int) or not 1 <= barrier < NAMED_BARRIERS:
        raise BuildValueError(
            f"several warps synchronize at a named barrier, 1 to {NAMED_BARRIERS - 1}, not {barrier!r}"
        )
    x, y, z = k.threads or (0, 0, 0)
    if numbers[-1] * WARP_SIZE + WARP_SIZE > x * y * z:
        raise BuildValueError(f"warp {numbers[-1]} of the CTA is not a whole one, and a barrier counts whole warps")
    first = numbers[0] * WARP_SIZE
    return Group(k, len(numbers) * WARP_SIZE, thread_rank(k) - first if first else thread_rank(k), barrier)


def these_threads(k: InstructionBuilder, size: int, rank: Register[u32]) -> Group:
    """Returns a group of any `size` threads of the CTA, such as those with even numbers: `k.these_threads(64, k.tid.x
    // 2)`.

    `rank` is the number of the executing thread in the group. Only an mbarrier can track the copies of such a group.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise BuildValueError(f"the number of threads of a group is an integer of at least 1, not {size!r}")
    if not isinstance(rank, Register) or rank.type is not u32:
        raise BuildTypeError(f"a thread's number in a group is a u32 register, not {rank!r}")
    return Group(k, size, rank, scattered=True)
