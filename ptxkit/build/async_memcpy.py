"""`memcpy_async`: a copy by a group of threads that uses the fastest mechanism for its alignment, size and target.

    copy = k.memcpy_async(tile, source[first], 4096, group=k.this_cta(), barrier=ready)
    token = ready.arrive()
    ready.wait(token=token)
    copy.mechanism, copy.reason                   # 'bulk', 'both addresses and the size are multiples of 16 bytes'

All threads of the group must call it. If a barrier is given, its current phase does not complete before the copy is
complete: each thread then arrives at the barrier and waits for the phase. Without a barrier, `copy.wait()` waits for
the copy and synchronizes the threads of the group.

    copy = k.memcpy_async(target[first], tile, 4096, group=k.this_cta())      # 'bulk' where the kernel is for sm_90
    copy.wait(read=True)                                                      # the tile may be overwritten

A copy out of shared memory cannot signal an mbarrier: the thread that issues a bulk copy commits a bulk group, and
waits for all of its groups in `copy.wait()`. A bulk copy includes what the threads of the group stored to the source
before, because each thread executes a proxy fence and the group synchronizes before the copy. If the copy uses plain
loads and stores, the caller must synchronize the threads before it.

Source: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy", "... cp.async", "... cp.async.bulk";
CUDA C++ Programming Guide, "Asynchronous Data Copies".
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, cast

from ptxkit.build.addresses import Address, Global, Shared
from ptxkit.build.barrier_uses import SelfExpectingCopy
from ptxkit.build.barriers_and_fences import fence_view_async, tma_store_arrive, tma_store_wait
from ptxkit.build.control_flow import for_range, if_
from ptxkit.build.errors import BuildTypeError, BuildValueError, find_caller
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.limits import MAX_UNROLLED_ITERATIONS
from ptxkit.build.mbarrier import Barrier
from ptxkit.build.registers import Register, largest_power_of_two_factor
from ptxkit.build.special_registers import read_special
from ptxkit.build.thread_groups import Group
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.kernel_model.limits import MAX_CLUSTER_CTAS
from ptxkit.kernel_model.scalar_types import Scalar, b8, b16, b32, b64, u32
from ptxkit.kernel_model.verification import BuildWarning, warn_at

if TYPE_CHECKING:
    from ptxkit.isa.targets import Target

BULK, CP_ASYNC, PLAIN = "bulk", "cp.async", "ld/st"
"""The mechanisms: bulk copies (the Tensor Memory Accelerator), `cp.async` copies of each thread, and plain loads and
stores.
"""


_WORD_TYPES: dict[int, type[Scalar]] = {8: b64, 4: b32, 2: b16, 1: b8}


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy that `memcpy_async` has started.

    `mechanism` is `bulk`, `cp.async` or `ld/st`, and `reason` states why it was selected. `unit` is the number of bytes
    that each instruction moves, or 0 if one instruction moves all of them.
    """

    mechanism: str
    unit: int
    reason: str
    finish: Callable[[bool], None] = field(repr=False)

    def wait(self, *, read: bool = False) -> None:
        """Waits for a copy that no barrier tracks, and synchronizes the threads of the group.

        If `read` is set, the wait for a bulk copy to global memory ends when its source has been read, not when its
        destination has been written. Raises `BuildTypeError` if a barrier tracks the copy.
        """
        self.finish(read)


@dataclass(frozen=True, slots=True)
class _CopyPlan:
    mechanism: str
    unit: int
    reason: str


def memcpy_async(
    k: InstructionBuilder,
    destination: Address[Any],
    source: Address[Any],
    size: int | Register[u32],
    *,
    group: Group,
    barrier: Barrier | None = None,
    multicast: int | None = None,
) -> Copy:
    """Starts a copy of `size` bytes between global and shared memory. All threads of `group` must call it.

    The result states the selected mechanism and the reason. The current phase of the mbarrier `barrier` waits for the
    copy. `multicast` is a mask of CTAs of the cluster: all of them must call this function with the same source and a
    separate barrier, and all receive the bytes at the same offset. Raises `BuildTypeError` if the addresses are not
    in global or shared memory, and `BuildValueError` for a size below 1 or an invalid mask. See
    `ptxkit.build.async_memcpy`.
    """
    if not isinstance(destination, Global | Shared) or not isinstance(source, Global | Shared):
        raise BuildTypeError(f"a copy is between global and shared memory, not from {source!r} to {destination!r}")
    known = size.multiple if isinstance(size, Register) else largest_power_of_two_factor(_check_size(size))
    aligned = min(destination.alignment, source.alignment, known)
    if isinstance(destination, Shared) and isinstance(source, Global):
        plan = _plan_load(k.target, aligned, tracked=barrier is not None)
    elif multicast is not None:
        raise BuildTypeError("a multicast copies a part of global memory to the shared memory of CTAs")
    else:
        out = isinstance(destination, Global) and isinstance(source, Shared)
        plan = _plan_store(k.target, aligned, group, out=out, tracked=barrier is not None)
    ranks = _check_multicast_mask(multicast)
    _warn_of_missing_target(plan, group)
    begun = len(k.recorder.body)
    if plan.mechanism == BULK:
        if barrier is None:
            return _emit_bulk_store(k, destination, source, size, group, plan)
        _emit_bulk_load(k, destination, source, size, group, barrier, ranks)
        _record_self_expecting_copy(k, barrier, begun)
        return Copy(BULK, 0, plan.reason, _reject_wait)
    _emit_thread_copies(k, destination, source, size, group, plan)
    if barrier is not None:
        if plan.mechanism == CP_ASYNC:
            barrier.track_cp_async(counted=False)
        _record_self_expecting_copy(k, barrier, begun)
        return Copy(plan.mechanism, plan.unit, plan.reason, _reject_wait)

    def finish(_read: bool) -> None:
        if plan.mechanism == CP_ASYNC:
            k.instruction("cp_async_wait_all", ())
        group.sync()

    return Copy(plan.mechanism, plan.unit, plan.reason, finish)


def _reject_wait(_read: bool) -> None:
    raise BuildTypeError("a barrier tracks this copy: arrive at it and wait for its phase")


def _plan_load(target: Target | None, aligned: int, *, tracked: bool) -> _CopyPlan:
    """Returns the mechanism for a copy from global to shared memory whose addresses and size are multiples of `aligned`
    bytes.
    """
    unit = min(aligned, 16)
    if target is not None and target.number < 80:
        return _plan_plain(unit, f"sm_{target.number} has no asynchronous copies")
    if unit < 4:
        return _plan_plain(
            unit, f"asynchronous copies move at least 4 bytes, and only {unit} divides addresses and size"
        )
    if unit < 16:
        return _CopyPlan(CP_ASYNC, unit, f"addresses and size are multiples of {unit} bytes, and bulk copies need 16")
    if not tracked:
        return _CopyPlan(CP_ASYNC, unit, "no barrier is given to which a bulk copy could report its end")
    without = _reason_against_bulk(target)
    return _CopyPlan(CP_ASYNC, unit, without) if without else _CopyPlan(BULK, 0, _ALIGNED_REASON)


def _plan_store(target: Target | None, aligned: int, group: Group, *, out: bool, tracked: bool) -> _CopyPlan:
    """Returns the mechanism for a copy from shared to global memory (`out`), or within one of the two."""
    unit = min(aligned, 16)
    if not out:
        return _plan_plain(unit, "only copies between global and shared memory are asynchronous")
    if unit < 16:
        return _plan_plain(unit, f"addresses and size are multiples of {unit} bytes, and bulk copies need 16")
    if tracked:
        return _plan_plain(
            unit, "a bulk copy to global memory reports its end to no mbarrier: wait for the copy instead"
        )
    if group.scattered:
        return _plan_plain(unit, "a bulk copy is issued after a barrier, and these threads have none")
    without = _reason_against_bulk(target)
    return _plan_plain(unit, without) if without else _CopyPlan(BULK, 0, _ALIGNED_REASON)


_ALIGNED_REASON = "both addresses and the size are multiples of 16 bytes"
_NO_TARGET_REASON = "the kernel names no target, and bulk copies need sm_90"


def _reason_against_bulk(target: Target | None) -> str:
    """Returns why the target has no bulk copies, or an empty text if it has them."""
    if target is None:
        return _NO_TARGET_REASON
    return "" if target.number >= 90 else f"bulk copies need sm_90, and the kernel is for sm_{target.number}"


def _warn_of_missing_target(plan: _CopyPlan, group: Group) -> None:
    """Warns where one thread copies piece by piece only because the kernel names no target that has bulk copies."""
    if group.size == 1 and plan.reason == _NO_TARGET_REASON:
        message = f"one thread copies by {plan.mechanism}: {plan.reason}; write Kernel(..., target='sm_90')"
        warn_at(message, BuildWarning, find_caller())


def _plan_plain(unit: int, reason: str) -> _CopyPlan:
    return _CopyPlan(PLAIN, unit, reason)


def _check_size(size: object) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise BuildValueError(f"the size of a copy is an integer of at least 1 byte, not {size!r}")
    return size


def _check_multicast_mask(multicast: object) -> int | None:
    """Returns the mask of CTAs of a multicast. Raises `BuildValueError` if it is empty or names a CTA that no cluster
    has.
    """
    if multicast is None:
        return None
    if isinstance(multicast, bool) or not isinstance(multicast, int) or not 0 < multicast < 1 << MAX_CLUSTER_CTAS:
        raise BuildValueError(
            f"a multicast has a mask of the cluster's CTAs, 1 to {(1 << MAX_CLUSTER_CTAS) - 1}: {multicast!r}"
        )
    return multicast


def _if_first_thread(k: InstructionBuilder, group: Group) -> AbstractContextManager[object]:
    """Returns a block whose statements only the group's first thread executes."""
    return nullcontext() if group.size == 1 else if_(k, cast("Register[u32]", group.rank) == 0)


def _emit_bulk_load(
    k: InstructionBuilder,
    destination: Address[Any],
    source: Address[Any],
    size: int | Register[u32],
    group: Group,
    barrier: Barrier,
    ranks: int | None,
) -> None:
    """Emits the expect-tx of the bytes and the copy, which one thread executes.

    For a multicast copy, each CTA expects the bytes, and the first CTA of the mask issues the copy for all.
    """
    with _if_first_thread(k, group):
        barrier.expect_tx(size)
        if ranks is None:
            k.instruction("cp_async_bulk", (destination, source, size, barrier))
            return
        with if_(k, read_special(k, "%cluster_ctarank") == largest_power_of_two_factor(ranks).bit_length() - 1):
            k.instruction("cp_async_bulk_multicast_cluster", (destination, source, size, barrier, ranks))


def _record_self_expecting_copy(k: InstructionBuilder, barrier: Barrier, begun: int) -> None:
    """Records that the copy, whose statements begin at `begun` in the body, includes the expect-tx of its bytes."""
    variable = k.barrier_uses.find_origin_variable(barrier.base if isinstance(barrier.base, str) else barrier.base.name)
    if variable is not None:
        statements = tuple(entry.statement for entry in k.recorder.body[begun:])
        k.barrier_uses.self_expecting_copies.append(SelfExpectingCopy(variable, find_caller(), statements))


def _emit_bulk_store(
    k: InstructionBuilder,
    destination: Address[Any],
    source: Address[Any],
    size: int | Register[u32],
    group: Group,
    plan: _CopyPlan,
) -> Copy:
    """Emits a proxy fence and a barrier for all threads, and the copy and the wait for its first thread."""
    fence_view_async(k)
    group.sync()
    with _if_first_thread(k, group):
        k.instruction("cp_async_bulk", (destination, source, size))
        tma_store_arrive(k)

    def finish(read: bool) -> None:
        with _if_first_thread(k, group):
            tma_store_wait(k, read=read)
        group.sync()

    return Copy(BULK, 0, plan.reason, finish)


def _emit_thread_copies(
    k: InstructionBuilder,
    destination: Address[Any],
    source: Address[Any],
    size: int | Register[u32],
    group: Group,
    plan: _CopyPlan,
) -> None:
    """Emits copies in which each thread of the group copies every `group.size`-th unit."""
    unit = plan.unit
    to, of = _as_bytes(destination), _as_bytes(source)

    def copy(offset: Register[u32] | int) -> None:
        if plan.mechanism == CP_ASYNC:
            k.instruction("cp_async_cg" if unit == 16 else "cp_async_ca", (to[offset], of[offset], unit))
        else:
            _copy_unit(to[offset], of[offset], unit)

    first = group.rank * unit
    step = group.size * unit
    if isinstance(size, int) and -(-size // step) <= MAX_UNROLLED_ITERATIONS:
        for start in range(0, size, step):
            here = first + start
            with nullcontext() if start + step <= size else if_(k, cast("Register[u32]", here) < size):
                copy(here)
        return
    with for_range(k, first, size, step) as offset:
        copy(offset)


def _as_bytes(address: Address[Any]) -> Address[b8]:
    assert isinstance(address, Global | Shared)
    return address.cast(b8)


def _copy_unit(to: Address[b8], of: Address[b8], unit: int) -> None:
    """Emits a load and a store of `unit` bytes: of a vector of two words if they are 16."""
    assert isinstance(to, Global | Shared)
    assert isinstance(of, Global | Shared)
    word = _WORD_TYPES[min(unit, 8)]
    to.cast(word).store(of.cast(word).load(unit // word.size()))
