"""Barriers, fences and clusters, by the names that CUDA C++ and the ISA have for them: methods of the builder.

Each emits one or two instructions, which its docstring names; layer 1 has them all, too (`k.bar_sync(0)`).

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier", "... barrier.cluster",
"... membar / fence", "Data Movement and Conversion Instructions: cp.async.bulk.wait_group", "... mapa",
"... getctarank".
"""

from __future__ import annotations

from typing import Any, cast, overload

from ptxkit.build.addresses import Generic, Shared, SharedCluster
from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.limits import NAMED_BARRIERS
from ptxkit.build.mbarrier import Barrier, RemoteBarrier
from ptxkit.build.registers import Register
from ptxkit.kernel_model.scalar_types import ScalarT, pred, u32

_FENCE_SCOPES = {"cta": "cta", "cluster": "cluster", "gpu": "gpu", "system": "sys", "sys": "sys"}


# ------------------------------------------------------------------------------------------ CTA, warp


def cta_sync(k: InstructionBuilder, barrier: int = 0, threads: int | None = None) -> None:
    """All threads of the CTA meet, or `threads` of them at a named barrier: `bar.sync`."""
    k.instruction("bar_sync", _barrier_operands(barrier, threads))


def cta_arrive(k: InstructionBuilder, barrier: int, threads: int) -> None:
    """Arrives at the barrier of `threads` threads without a wait; the others wait by `cta_sync`: `bar.arrive`."""
    k.instruction("bar_arrive", _barrier_operands(barrier, threads))


def cta_sync_count(
    k: InstructionBuilder, predicate: Register[pred], barrier: int = 0, threads: int | None = None
) -> Register[u32]:
    """The threads meet as by `cta_sync`; in how many of them the predicate holds: `bar.red.popc`."""
    return cast("Register[u32]", k.instruction("bar_red_popc_u32", (*_barrier_operands(barrier, threads), predicate)))


def cta_sync_and(
    k: InstructionBuilder, predicate: Register[pred], barrier: int = 0, threads: int | None = None
) -> Register[pred]:
    """The threads meet as by `cta_sync`; whether the predicate holds in all: `bar.red.and`."""
    return cast("Register[pred]", k.instruction("bar_red_and_pred", (*_barrier_operands(barrier, threads), predicate)))


def cta_sync_or(
    k: InstructionBuilder, predicate: Register[pred], barrier: int = 0, threads: int | None = None
) -> Register[pred]:
    """The threads meet as by `cta_sync`; whether the predicate holds in some: `bar.red.or`."""
    return cast("Register[pred]", k.instruction("bar_red_or_pred", (*_barrier_operands(barrier, threads), predicate)))


def warp_sync(k: InstructionBuilder, members: int = 0xFFFFFFFF) -> None:
    """The lanes `members` of a warp meet: `bar.warp.sync`."""
    k.instruction("bar_warp_sync", (members,))


# --------------------------------------------------------------------------------------------- cluster


def cluster_arrive(k: InstructionBuilder, *, order: str = "release", aligned: bool = True) -> None:
    """Arrives at the barrier of the cluster without a wait: `barrier.cluster.arrive`.

    `order` is `release`, or `relaxed` where a fence before it orders the accesses. With `aligned`, all threads of the
    warp execute it together.
    """
    if order not in ("release", "relaxed"):
        raise BuildValueError(f"an arrival is in release or relaxed order, not {order!r}")
    k.instruction(f"barrier_cluster_arrive_{order}{'_aligned' if aligned else ''}", ())


def cluster_wait(k: InstructionBuilder, *, aligned: bool = True) -> None:
    """Waits until all threads of the cluster have arrived: `barrier.cluster.wait`."""
    k.instruction(f"barrier_cluster_wait_acquire{'_aligned' if aligned else ''}", ())


def cluster_sync(k: InstructionBuilder, *, aligned: bool = True) -> None:
    """All threads of the cluster meet. It comes before the first access to another CTA's memory, and is the last
    instruction of a kernel in which other CTAs access this one's memory."""
    cluster_arrive(k, aligned=aligned)
    cluster_wait(k, aligned=aligned)


@overload
def map_shared_rank(k: InstructionBuilder, address: Barrier, rank: int | Register[u32]) -> RemoteBarrier: ...


@overload
def map_shared_rank(
    k: InstructionBuilder, address: Shared[ScalarT], rank: int | Register[u32]
) -> SharedCluster[ScalarT]: ...


@overload
def map_shared_rank(
    k: InstructionBuilder, address: Generic[ScalarT], rank: int | Register[u32]
) -> Generic[ScalarT]: ...


def map_shared_rank(k: InstructionBuilder, address: Any, rank: int | Register[u32]) -> Any:  # noqa: ARG001
    """The same place in the shared memory of the cluster's CTA of that rank: `mapa`, as `address.map_rank(rank)`.

    A `Shared` address becomes one of `SharedCluster`, a `Barrier` a `RemoteBarrier`; a `Generic` one stays so.
    """
    if not isinstance(address, Shared | Generic):
        raise BuildTypeError(f"an address in the CTA's shared memory is mapped, not {address!r}")
    return address.map_rank(rank)


def query_shared_rank(
    k: InstructionBuilder,  # noqa: ARG001
    address: Shared[Any] | SharedCluster[Any] | Generic[Any],
) -> Register[u32]:
    """The rank of the CTA whose shared memory an address is in: `getctarank`."""
    found = address.to_cluster() if isinstance(address, Shared) else address
    if not isinstance(found, SharedCluster | Generic):
        raise BuildTypeError(f"an address in the cluster's shared memory has a rank, and not {address!r}")
    return found.rank()


# ---------------------------------------------------------------------------------------------- fences


def thread_fence(k: InstructionBuilder, scope: str = "gpu") -> None:
    """Orders the thread's accesses for those who synchronise with it within a scope: `fence.acq_rel`.

    scope: `cta`, `cluster`, `gpu` or `system`: CUDA's `__threadfence_block`, `__threadfence` and
    `__threadfence_system` are the first, third and fourth.
    """
    if scope not in _FENCE_SCOPES:
        raise BuildValueError(f"the scope of a fence is one of {', '.join(_FENCE_SCOPES)}, not {scope!r}")
    k.instruction(f"fence_acq_rel_{_FENCE_SCOPES[scope]}", ())


def fence_barrier_init(k: InstructionBuilder) -> None:
    """Makes this thread's `init` of mbarriers visible to other CTAs after a barrier of the cluster:
    `fence.mbarrier_init.release.cluster`."""
    k.instruction("fence_mbarrier_init_release_cluster", ())


def fence_view_async(k: InstructionBuilder) -> None:
    """Orders this thread's ordinary accesses to the CTA's shared memory before asynchronous ones that follow, also
    by other threads that it synchronises with: `fence.proxy.async.shared::cta`."""
    k.instruction("fence_proxy_async_shared_cta", ())


# ------------------------------------------------------------------------------------- bulk stores


def tma_store_arrive(k: InstructionBuilder) -> None:
    """Closes the group of this thread's bulk stores since the last one: `cp.async.bulk.commit_group`."""
    k.instruction("cp_async_bulk_commit_group", ())


def tma_store_wait(k: InstructionBuilder, pending: int = 0, *, read: bool = True) -> None:
    """Waits until at most `pending` of this thread's groups are pending: `cp.async.bulk.wait_group`.

    With `read`, only until their sources are read, which may then be overwritten; else until they are written, too.
    """
    k.instruction(f"cp_async_bulk_wait_group{'_read' if read else ''}", (pending,))


def _barrier_operands(barrier: int, threads: int | None) -> tuple[int, ...]:
    """The operands that say where threads meet; BuildValueError where no barrier has that number."""
    if not 0 <= barrier < NAMED_BARRIERS:
        raise BuildValueError(f"a CTA has barriers 0 to {NAMED_BARRIERS - 1}; there is no barrier {barrier}")
    return (barrier,) if threads is None else (barrier, threads)
