"""Barriers, fences and clusters: methods of the builder with the names that CUDA C++ and the ISA use.

Each method emits one or two instructions, which its docstring names. Layer 1 has all of these instructions, too
(`k.bar_sync(0)`).

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier", "... barrier.cluster", "...
membar / fence", "Data Movement and Conversion Instructions: cp.async.bulk.wait_group", "... mapa", "... getctarank".
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
    """Waits until all threads of the CTA, or `threads` of them at a named barrier, have arrived: `bar.sync`.

    `barrier` is the number of the barrier, 0 to 15. `threads` is a multiple of the warp's size.
    """
    k.instruction("bar_sync", _barrier_operands(barrier, threads))


def cta_arrive(k: InstructionBuilder, barrier: int, threads: int) -> None:
    """Arrives at a barrier of `threads` threads without waiting: `bar.arrive`. Other threads wait with `cta_sync`."""
    k.instruction("bar_arrive", _barrier_operands(barrier, threads))


def cta_sync_count(
    k: InstructionBuilder, predicate: Register[pred], barrier: int = 0, threads: int | None = None
) -> Register[u32]:
    """Synchronizes as `cta_sync`, and returns the number of threads in which the predicate holds: `bar.red.popc`."""
    return cast("Register[u32]", k.instruction("bar_red_popc_u32", (*_barrier_operands(barrier, threads), predicate)))


def cta_sync_and(
    k: InstructionBuilder, predicate: Register[pred], barrier: int = 0, threads: int | None = None
) -> Register[pred]:
    """Synchronizes as `cta_sync`, and returns whether the predicate holds in all threads: `bar.red.and`."""
    return cast("Register[pred]", k.instruction("bar_red_and_pred", (*_barrier_operands(barrier, threads), predicate)))


def cta_sync_or(
    k: InstructionBuilder, predicate: Register[pred], barrier: int = 0, threads: int | None = None
) -> Register[pred]:
    """Synchronizes as `cta_sync`, and returns whether the predicate holds in any thread: `bar.red.or`."""
    return cast("Register[pred]", k.instruction("bar_red_or_pred", (*_barrier_operands(barrier, threads), predicate)))


def warp_sync(k: InstructionBuilder, members: int = 0xFFFFFFFF) -> None:
    """Waits until the lanes of the mask `members` of the warp have arrived: `bar.warp.sync`."""
    k.instruction("bar_warp_sync", (members,))


# --------------------------------------------------------------------------------------------- cluster


def cluster_arrive(k: InstructionBuilder, *, order: str = "release", aligned: bool = True) -> None:
    """Arrives at the cluster's barrier without waiting: `barrier.cluster.arrive`.

    `order` is `release`, or `relaxed` if an earlier fence orders the accesses. With `aligned`, all threads of the warp
    must execute the instruction together. Raises `BuildValueError` for another order.
    """
    if order not in ("release", "relaxed"):
        raise BuildValueError(f"an arrival is in release or relaxed order, not {order!r}")
    k.instruction(f"barrier_cluster_arrive_{order}{'_aligned' if aligned else ''}", ())


def cluster_wait(k: InstructionBuilder, *, aligned: bool = True) -> None:
    """Waits until all threads of the cluster have arrived: `barrier.cluster.wait`."""
    k.instruction(f"barrier_cluster_wait_acquire{'_aligned' if aligned else ''}", ())


def cluster_sync(k: InstructionBuilder, *, aligned: bool = True) -> None:
    """Waits until all threads of the cluster have arrived: `barrier.cluster.arrive` and `barrier.cluster.wait`.

    A kernel must call it before its first access to the shared memory of another CTA, and again before it ends if other
    CTAs access the shared memory of this one.
    """
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
    """Returns the corresponding location in the shared memory of the CTA with that rank in the cluster: `mapa`.

    The result is a `SharedCluster` address for a `Shared` address, a `RemoteBarrier` for a `Barrier`, and a `Generic`
    address for a `Generic` one. Raises `BuildTypeError` for other addresses. It is the same as
    `address.map_rank(rank)`.
    """
    if not isinstance(address, Shared | Generic):
        raise BuildTypeError(f"an address in the CTA's shared memory is mapped, not {address!r}")
    return address.map_rank(rank)


def query_shared_rank(
    k: InstructionBuilder,  # noqa: ARG001
    address: Shared[Any] | SharedCluster[Any] | Generic[Any],
) -> Register[u32]:
    """Returns the rank of the CTA whose shared memory contains an address: `getctarank`.

    Raises `BuildTypeError` for an address that is not in shared memory.
    """
    found = address.to_cluster() if isinstance(address, Shared) else address
    if not isinstance(found, SharedCluster | Generic):
        raise BuildTypeError(f"an address in the cluster's shared memory has a rank, and not {address!r}")
    return found.rank()


# ---------------------------------------------------------------------------------------------- fences


def thread_fence(k: InstructionBuilder, scope: str = "gpu") -> None:
    """Orders this thread's accesses for the threads of a scope that it synchronizes with: `fence.acq_rel`.

    `scope` is `cta` (`__threadfence_block` in CUDA C++), `cluster`, `gpu` (`__threadfence`) or `system`
    (`__threadfence_system`). Raises `BuildValueError` for another scope.
    """
    if scope not in _FENCE_SCOPES:
        raise BuildValueError(f"the scope of a fence is one of {', '.join(_FENCE_SCOPES)}, not {scope!r}")
    k.instruction(f"fence_acq_rel_{_FENCE_SCOPES[scope]}", ())


def fence_barrier_init(k: InstructionBuilder) -> None:
    """Makes this thread's initialization of mbarriers visible to other CTAs after the next barrier of the cluster:
    `fence.mbarrier_init.release.cluster`.
    """
    k.instruction("fence_mbarrier_init_release_cluster", ())


def fence_view_async(k: InstructionBuilder) -> None:
    """Makes this thread's generic accesses to the CTA's shared memory visible to later operations of the async proxy,
    including those that other threads issue after they synchronize with it: `fence.proxy.async.shared::cta`.
    """
    k.instruction("fence_proxy_async_shared_cta", ())


# ------------------------------------------------------------------------------------- bulk stores


def tma_store_arrive(k: InstructionBuilder) -> None:
    """Commits this thread's bulk stores since its last commit as one group: `cp.async.bulk.commit_group`."""
    k.instruction("cp_async_bulk_commit_group", ())


def tma_store_wait(k: InstructionBuilder, pending: int = 0, *, read: bool = True) -> None:
    """Waits until at most `pending` of this thread's bulk groups are incomplete: `cp.async.bulk.wait_group`.

    If `read` is set, the wait ends when the sources have been read and may be overwritten; else it ends when the
    destinations have been written.
    """
    k.instruction(f"cp_async_bulk_wait_group{'_read' if read else ''}", (pending,))


def _barrier_operands(barrier: int, threads: int | None) -> tuple[int, ...]:
    """Returns the operands of a barrier instruction. Raises `BuildValueError` if no barrier has that number."""
    if not 0 <= barrier < NAMED_BARRIERS:
        raise BuildValueError(f"a CTA has barriers 0 to {NAMED_BARRIERS - 1}; there is no barrier {barrier}")
    return (barrier,) if threads is None else (barrier, threads)
