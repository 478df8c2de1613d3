"""The interface of observers of accesses; see `ptxkit/emulator/races/happens_before_monitor.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.engine.machine import Cluster, Machine
    from ptxkit.emulator.races.tensor_memory_order import TensorMemoryOrder
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.sync.async_operation import AsyncOperation, DeferredArrival
    from ptxkit.emulator.sync.mbarrier import Mbarrier
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class MemoryObserver:
    """Receives every access and every event that orders accesses. This base class ignores them at almost no cost."""

    is_checking = False

    def __init__(self) -> None:
        self.machine: Machine | None = None
        self.tensor_memory_order: TensorMemoryOrder | None = None
        """What minds Tensor Memory."""

    def on_access(  # noqa: PLR0913, PLR0917 (all properties of an access)
        self,
        group: ThreadGroup,
        kind: str,
        pool: ByteBuffer,
        places: Any,
        size: int,
        order: str,
        scope: str | None,
        value: Any = None,
    ) -> None:
        """Threads read, write or update `size` bytes at places of a pool; called before they do.

        kind: `read`, `write` or `update`. order: `weak`, or one that makes the access strong. value: what is written.
        """

    def on_fence(self, group: ThreadGroup, order: str, scope: str) -> None:
        """Threads execute a fence."""

    def on_barrier_arrive(self, group: ThreadGroup, phase: Any) -> None:
        """Threads have arrived at a barrier of their CTA."""

    def on_barrier_complete(self, cta: Cta, phase: Any) -> None:
        """A barrier of a CTA has completed and releases its threads."""

    def on_barrier_pass(self, group: ThreadGroup, phase: Any) -> None:
        """Threads continue after a barrier."""

    def on_warp_collective(self, group: ThreadGroup, masks: Any) -> None:
        """Lanes of a warp execute an instruction together, which orders no memory."""

    def on_warp_sync(self, group: ThreadGroup, masks: Any) -> None:
        """Lanes of a warp wait for each other, and know all accesses of each other."""

    def on_cluster_arrive(self, group: ThreadGroup, phase: Any, order: str) -> None:
        """Threads arrive at the barrier of their cluster."""

    def on_cta_exit(self, cta: Cta) -> None:
        """All threads of a CTA have exited."""

    def on_tensor_memory_op(self, group: ThreadGroup, kind: str, detail: str) -> None:
        """Threads read or write Tensor Memory, wait for that, or execute a fence (`kind`), which is checked next."""

    def on_tensor_memory_checked(self) -> None:
        """The operation on Tensor Memory has been checked."""

    def on_grid_dependency_wait(self, group: ThreadGroup) -> None:
        """Threads wait for the grids that this one depends on."""

    def on_cluster_exit(self, cluster: Cluster) -> None:
        """All CTAs of a cluster have exited."""

    def on_cluster_barrier_pass(self, group: ThreadGroup, phase: Any) -> None:
        """Threads continue after the barrier of their cluster."""

    def make_progress(self) -> bool:
        """No thread can proceed: perform an asynchronous action. Return whether there was any."""
        return False

    # ------------------------------------------------------------------------------- asynchronous operations

    def on_proxy_fence(
        self, group: ThreadGroup, proxy: str, space: str | None, direction: str, scope: str | None, address: Any = None
    ) -> None:
        """Threads execute a fence between the generic proxy and another. direction: release, acquire or both.

        space: the state space that it is restricted to, None for all. address: of the one object that it covers, or
        None.
        """

    def on_tensor_map_use(self, group: ThreadGroup, thread: int, pool: ByteBuffer, place: int) -> None:
        """A thread copies by the tensor map at a place of a pool."""

    def on_issue(self, operation: AsyncOperation) -> None:
        """An asynchronous operation starts: it is ordered after all that its threads know."""

    def on_deferred_arrive(self, arrival: DeferredArrival) -> None:
        """Threads will arrive at an mbarrier when their copies so far are complete."""

    def on_source_read(self, operation: AsyncOperation, rows: Any, through: Mbarrier | None) -> None:
        """Rows of an operation have read their sources, and this will be signalled; called before the signal.

        through: the mbarrier that will signal it; None where the threads wait for it themselves.
        """

    def on_completion(self, operation: AsyncOperation, rows: Any, through: Mbarrier | None) -> None:
        """Rows of an operation are complete, and this will be signalled; called before the signal."""

    def on_group_commit(self, group: ThreadGroup, kind: str) -> None:
        """Threads commit their groups of a kind."""

    def on_group_wait(self, group: ThreadGroup, kind: str, limits: Any, *, reads_only: bool) -> None:
        """Threads have waited for their groups of a kind whose numbers are below the limit of each thread."""

    def on_mbarrier_signal(self, operation: AsyncOperation | DeferredArrival, barrier: Mbarrier) -> None:
        """A complete operation signals an mbarrier: it is about to count bytes, or an arrival, in the current phase."""

    def on_mbarrier_init(self, group: ThreadGroup, thread: int, barrier: Mbarrier) -> None:
        """A thread has initialized an mbarrier."""

    def on_mbarrier_inval(self, group: ThreadGroup, index: Any, barrier: Mbarrier) -> None:
        """Threads (`index`) are about to invalidate an mbarrier."""

    def on_mbarrier_use(self, group: ThreadGroup, index: Any, barrier: Mbarrier) -> None:
        """Threads (`index`) execute an operation on a live mbarrier."""

    def on_mbarrier_arrive(self, group: ThreadGroup, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads (`index`) are about to arrive at an mbarrier."""

    def on_phase_complete(self, barrier: Mbarrier) -> None:
        """The current phase of an mbarrier (`barrier.phase`) is complete."""

    def on_phase_observed(self, group: ThreadGroup, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads (`index`) have observed that the phase before the current one is complete."""
