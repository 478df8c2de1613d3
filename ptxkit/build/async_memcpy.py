"""`memcpy_async`: a copy by a group of threads, by the fastest unit that alignment, size and target allow.

    copy = k.memcpy_async(tile, source[first], 4096, group=k.this_cta(), barrier=ready)
    token = ready.arrive()
    ready.wait(token=token)
    copy.mechanism, copy.reason                   # 'bulk', 'both addresses and the size are multiples of 16 bytes'

All threads of the group call it. With a barrier, its current phase does not complete before the copy has: each thread
then arrives, and waits for the phase. Without one, `copy.wait()` waits, and the threads of the group meet.

    copy = k.memcpy_async(target[first], tile, 4096, group=k.this_cta())      # 'bulk' where the kernel is for sm_90
    copy.wait(read=True)                                                      # the tile may be overwritten

Out of shared memory no mbarrier can tell of the end: the thread that issues a bulk copy closes a group of copies, and
waits for it in `copy.wait()`, for all of its groups. What the threads of the group stored there before is copied, since
each fences its stores and they meet in front of a bulk copy; in front of loads and stores they must have met.

Source: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy", "... cp.async", "... cp.async.bulk";
CUDA C++ Programming Guide, "Asynchronous Data Copies".
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, cast

from ptxkit.build.addresses import Address, Global, Shared
from ptxkit.build.errors import BuildTypeError, BuildValueError, find_caller
from ptxkit.build.mbarrier import Barrier
from ptxkit.build.recorder import SelfExpectingCopy
from ptxkit.build.registers import Register, largest_power_of_two_factor
from ptxkit.build.scalar_types import Scalar, b8, b16, b32, b64, u32
from ptxkit.fast_dataclasses import dataclass, field

if TYPE_CHECKING:
    from ptxkit.build.function_builder import FunctionBuilder
    from ptxkit.build.thread_groups import Group
    from ptxkit.isa.targets import Target

BULK, CP_ASYNC, PLAIN = "bulk", "cp.async", "ld/st"
"""The mechanisms: the bulk copy engine (TMA), asynchronous copies of each thread (LDGSTS), loads and stores."""

MAX_UNROLLED_ITERATIONS = 16
"""So many turns of a loop of known length are written out."""

_MAX_CLUSTER_CTAS = 16
"""Of a cluster, at most."""
_WORD_TYPES: dict[int, type[Scalar]] = {8: b64, 4: b32, 2: b16, 1: b8}


@dataclass(frozen=True, slots=True)
class Copy:
    """What a copy became. mechanism: `bulk`, `cp.async` or `ld/st`; unit: bytes that each instruction moves, 0 for all.

    reason: what decided it.
    """

    mechanism: str
    unit: int
    reason: str
    finish: Callable[[bool], None] = field(repr=False)

    def wait(self, *, read: bool = False) -> None:
        """Waits for a copy that no barrier tracks; the threads of the group meet.

        read: only until the source is read, where a bulk copy goes to global memory; else until it is written.
        """
        self.finish(read)


@dataclass(frozen=True, slots=True)
class _CopyPlan:
    mechanism: str
    unit: int
    reason: str


def memcpy_async(
    kernel: FunctionBuilder,
    destination: Address[Any],
    source: Address[Any],
    size: int | Register[u32],
    group: Group,
    barrier: Barrier | None,
    multicast: int | None = None,
) -> Copy:
    """See `Kernel.memcpy_async`."""
    if not isinstance(destination, Global | Shared) or not isinstance(source, Global | Shared):
        raise BuildTypeError(f"a copy is between global and shared memory, not from {source!r} to {destination!r}")
    known = size.multiple if isinstance(size, Register) else largest_power_of_two_factor(_check_size(size))
    aligned = min(destination.alignment, source.alignment, known)
    if isinstance(destination, Shared) and isinstance(source, Global):
        plan = _plan_load(kernel.target, aligned, tracked=barrier is not None)
    elif multicast is not None:
        raise BuildTypeError("a multicast brings a part of global memory to the shared memory of CTAs")
    else:
        out = isinstance(destination, Global) and isinstance(source, Shared)
        plan = _plan_store(kernel.target, aligned, group, out=out, tracked=barrier is not None)
    ranks = _check_multicast_mask(multicast)
    begun = len(kernel.body)
    if plan.mechanism == BULK:
        if barrier is None:
            return _emit_bulk_store(kernel, destination, source, size, group, plan)
        _emit_bulk_load(kernel, destination, source, size, group, barrier, ranks)
        _record_self_expecting_copy(kernel, barrier, begun)
        return Copy(BULK, 0, plan.reason, _reject_wait)
    _emit_thread_copies(kernel, destination, source, size, group, plan)
    if barrier is not None:
        if plan.mechanism == CP_ASYNC:
            barrier.track_cp_async(counted=False)
        _record_self_expecting_copy(kernel, barrier, begun)
        return Copy(plan.mechanism, plan.unit, plan.reason, _reject_wait)

    def finish(_read: bool) -> None:
        if plan.mechanism == CP_ASYNC:
            kernel.instruction("cp_async_wait_all", ())
        group.sync()

    return Copy(plan.mechanism, plan.unit, plan.reason, finish)


def _reject_wait(_read: bool) -> None:
    raise BuildTypeError("a barrier tracks this copy: arrive at it and wait for its phase")


def _plan_load(target: Target | None, aligned: int, *, tracked: bool) -> _CopyPlan:
    """The mechanism from global to shared memory, for addresses and a size that are multiples of `aligned` bytes."""
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
        return _CopyPlan(CP_ASYNC, unit, "no barrier is given, which a bulk copy would tell of its end")
    without = _reason_against_bulk(target)
    return _CopyPlan(CP_ASYNC, unit, without) if without else _CopyPlan(BULK, 0, _ALIGNED_REASON)


def _plan_store(target: Target | None, aligned: int, group: Group, *, out: bool, tracked: bool) -> _CopyPlan:
    """The mechanism from shared to global memory (`out`), or within one of them."""
    unit = min(aligned, 16)
    if not out:
        return _plan_plain(unit, "only copies between global and shared memory are asynchronous")
    if unit < 16:
        return _plan_plain(unit, f"addresses and size are multiples of {unit} bytes, and bulk copies need 16")
    if tracked:
        return _plan_plain(
            unit, "no mbarrier is told of the end of a bulk copy to global memory: wait for the copy instead"
        )
    if group.scattered:
        return _plan_plain(unit, "a bulk copy is issued behind a barrier, and these threads meet at none")
    without = _reason_against_bulk(target)
    return _plan_plain(unit, without) if without else _CopyPlan(BULK, 0, _ALIGNED_REASON)


_ALIGNED_REASON = "both addresses and the size are multiples of 16 bytes"


def _reason_against_bulk(target: Target | None) -> str:
    """Why there is no copy engine; nothing where there is one."""
    if target is None:
        return "the kernel names no target, and bulk copies need sm_90"
    return "" if target.number >= 90 else f"bulk copies need sm_90, and the kernel is for sm_{target.number}"


def _plan_plain(unit: int, reason: str) -> _CopyPlan:
    return _CopyPlan(PLAIN, unit, reason)


def _check_size(size: object) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise BuildValueError(f"a copy has a whole number of bytes, at least 1, not {size!r}")
    return size


def _check_multicast_mask(multicast: object) -> int | None:
    """The CTAs of a multicast, as bits; BuildValueError where there is none, or a cluster has no such CTA."""
    if multicast is None:
        return None
    if isinstance(multicast, bool) or not isinstance(multicast, int) or not 0 < multicast < 1 << _MAX_CLUSTER_CTAS:
        raise BuildValueError(
            f"a multicast has a mask of the cluster's CTAs, 1 to {(1 << _MAX_CLUSTER_CTAS) - 1}: {multicast!r}"
        )
    return multicast


def _if_first_thread(kernel: FunctionBuilder, group: Group) -> AbstractContextManager[object]:
    """What the group's first thread does."""
    return nullcontext() if group.size == 1 else kernel.if_(cast("Register[u32]", group.rank) == 0)


def _emit_bulk_load(
    kernel: FunctionBuilder,
    destination: Address[Any],
    source: Address[Any],
    size: int | Register[u32],
    group: Group,
    barrier: Barrier,
    ranks: int | None,
) -> None:
    """One thread announces the bytes and issues the copy; of a multicast, that of the first CTA, for all."""
    with _if_first_thread(kernel, group):
        barrier.expect_tx(size)
        if ranks is None:
            kernel.instruction("cp_async_bulk", (destination, source, size, barrier))
            return
        with kernel.if_(kernel.cluster_ctarank == largest_power_of_two_factor(ranks).bit_length() - 1):
            kernel.instruction("cp_async_bulk_multicast_cluster", (destination, source, size, barrier, ranks))


def _record_self_expecting_copy(kernel: FunctionBuilder, barrier: Barrier, begun: int) -> None:
    """Remembers that the copy, written from a place in the body on, told the mbarrier what its phase waits for."""
    variable = kernel.find_origin_variable(barrier.base if isinstance(barrier.base, str) else barrier.base.name)
    if variable is not None:
        statements = tuple(entry.statement for entry in kernel.body[begun:])
        kernel.self_expecting_copies.append(SelfExpectingCopy(variable, find_caller(), statements))


def _emit_bulk_store(
    kernel: FunctionBuilder,
    destination: Address[Any],
    source: Address[Any],
    size: int | Register[u32],
    group: Group,
    plan: _CopyPlan,
) -> Copy:
    """All fence what they stored and meet, and one thread issues the copy, and waits for it."""
    kernel.fence_view_async()
    group.sync()
    with _if_first_thread(kernel, group):
        kernel.instruction("cp_async_bulk", (destination, source, size))
        kernel.tma_store_arrive()

    def finish(read: bool) -> None:
        with _if_first_thread(kernel, group):
            kernel.tma_store_wait(read=read)
        group.sync()

    return Copy(BULK, 0, plan.reason, finish)


def _emit_thread_copies(
    kernel: FunctionBuilder,
    destination: Address[Any],
    source: Address[Any],
    size: int | Register[u32],
    group: Group,
    plan: _CopyPlan,
) -> None:
    """Each thread of the group copies every `group.size`-th unit."""
    unit = plan.unit
    to, of = _as_bytes(destination), _as_bytes(source)

    def copy(offset: Register[u32] | int) -> None:
        if plan.mechanism == CP_ASYNC:
            kernel.instruction("cp_async_cg" if unit == 16 else "cp_async_ca", (to[offset], of[offset], unit))
        else:
            _copy_unit(kernel, to[offset], of[offset], unit)

    first = group.rank * unit
    step = group.size * unit
    if isinstance(size, int) and -(-size // step) <= MAX_UNROLLED_ITERATIONS:
        for start in range(0, size, step):
            here = first + start
            with nullcontext() if start + step <= size else kernel.if_(cast("Register[u32]", here) < size):
                copy(here)
        return
    with kernel.for_range(first, size, step) as offset:
        copy(offset)


def _as_bytes(address: Address[Any]) -> Address[b8]:
    assert isinstance(address, Global | Shared)
    return address.cast(b8)


def _copy_unit(kernel: FunctionBuilder, to: Address[b8], of: Address[b8], unit: int) -> None:
    """Loads and stores `unit` bytes: a vector of two words where they are sixteen."""
    assert isinstance(to, Global | Shared)
    assert isinstance(of, Global | Shared)
    word = _WORD_TYPES[min(unit, 8)]
    if unit == 16:
        kernel.instruction("st_v2", (to.cast(word), kernel.instruction("ld_v2", (of.cast(word),))))
    else:
        to.cast(word).store(of.cast(word).load())
