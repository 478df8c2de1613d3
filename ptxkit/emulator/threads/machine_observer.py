"""The interface of observers of a launch, and the list of them that a launch has.

The engine calls a method of its `ObserverList` for each event, and the list calls that method of each observer that
defines it, in the order of the observers. `ptxkit/emulator/races/happens_before_monitor.py` has the standard observers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from ptxkit.emulator.limits import MAX_CACHED_OBSERVER_LISTS
from ptxkit.emulator.state.memory import ByteBuffer
from ptxkit.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import ClusterState, CtaState, MachineState
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

_Observer = TypeVar("_Observer", bound="MachineObserver")


@dataclass(frozen=True, slots=True)
class AccessEvent:
    """Threads read, write or update `size` bytes of shared or global memory, each thread at its own offset.

    `kind` is `read`, `write` or `update`. `order` is `weak`, or the memory order of a strong access, and `scope` is its
    scope. `value` is the written value, if it is known.
    """

    group: ThreadGroup
    kind: str
    buffer: ByteBuffer
    byte_offsets: Any
    size: int
    order: str = "weak"
    scope: str | None = None
    value: Any = None


class MachineObserver:
    """Receives the events of a launch. An observer defines the methods of the events that it needs."""

    def on_launch(self, machine: MachineState) -> None:
        """A launch begins."""

    def on_access(self, event: AccessEvent) -> None:
        """Threads are about to access memory that others can access, too."""

    def on_fence(self, group: ThreadGroup, order: str, scope: str) -> None:
        """Threads execute a fence."""

    def on_barrier_arrive(self, group: ThreadGroup, phase: Any) -> None:
        """Threads have arrived at a barrier of their CTA."""

    def on_barrier_complete(self, cta: CtaState, phase: Any) -> None:
        """A barrier of a CTA has completed and releases its threads."""

    def on_barrier_pass(self, group: ThreadGroup, phase: Any) -> None:
        """Threads continue after a barrier."""

    def on_warp_sync(self, group: ThreadGroup, masks: Any) -> None:
        """Lanes of a warp wait for each other, and know all accesses of each other."""

    def on_cluster_arrive(self, group: ThreadGroup, phase: Any, order: str) -> None:
        """Threads arrive at the barrier of their cluster."""

    def on_cluster_barrier_pass(self, group: ThreadGroup, phase: Any) -> None:
        """Threads continue after the barrier of their cluster."""

    def on_collective(self, group: ThreadGroup, team: Any) -> None:
        """Threads have executed an instruction that all threads of a team (`CollectiveTeam`) execute together."""

    def on_register_count(self, group: ThreadGroup, count: int, increases: bool) -> None:
        """Threads are about to set their register count."""

    def on_cta_exit(self, cta: CtaState) -> None:
        """All threads of a CTA have exited."""

    def on_cluster_exit(self, cluster: ClusterState) -> None:
        """All CTAs of a cluster have exited."""

    def on_tensor_memory_op(self, group: ThreadGroup, kind: str, detail: str) -> None:
        """Threads read or write Tensor Memory, wait for that, or execute a fence (`kind`), which is checked next."""

    def on_tensor_memory_checked(self) -> None:
        """The operation on Tensor Memory has been checked."""

    def on_grid_dependency_wait(self, group: ThreadGroup) -> None:
        """Threads wait for the grids that this one depends on."""

    # ------------------------------------------------------------------------------- asynchronous operations

    def on_proxy_fence(
        self, group: ThreadGroup, proxy: str, space: str | None, direction: str, scope: str | None, address: Any = None
    ) -> None:
        """Threads execute a fence between the generic proxy and another: `release`, `acquire` or `both`.

        The fence is restricted to a state space (None: it covers all), or to the one object at an address.
        """

    def on_tensor_map_use(self, group: ThreadGroup, thread: int, buffer: ByteBuffer, byte_offset: int) -> None:
        """A thread copies by the tensor map at an offset of a buffer."""

    def on_issue(self, operation: Any) -> None:
        """An asynchronous operation (`AsyncOperation`) starts: it is ordered after all accesses that precede
        its threads' next ones.
        """

    def on_deferred_arrive(self, arrival: Any) -> None:
        """Threads will arrive at an mbarrier when their copies so far are complete (`DeferredArrival`)."""

    def on_source_read(self, operation: Any, rows: Any, through: Any) -> None:
        """Rows of an operation have read their sources, which will be signaled.

        `through` is the mbarrier that will signal it, or None if the threads wait for it themselves.
        """

    def on_completion(self, operation: Any, rows: Any, through: Any) -> None:
        """Rows of an operation are complete, which will be signaled, through an mbarrier or None."""

    def on_group_commit(self, group: ThreadGroup, kind: str) -> None:
        """Threads commit their groups of a kind."""

    def on_group_wait(self, group: ThreadGroup, kind: str, limits: Any, reads_only: bool) -> None:
        """Threads have waited for their groups of a kind whose numbers are below the limit of each thread."""

    # ---------------------------------------------------------------------------------------------- mbarriers

    def on_mbarrier_signal(self, operation: Any, barrier: Any) -> None:
        """A complete operation, or deferred arrival, is about to count bytes, or an arrival, in the current phase."""

    def on_mbarrier_init(self, group: ThreadGroup, thread: int, barrier: Any) -> None:
        """A thread has initialized an mbarrier."""

    def on_mbarrier_inval(self, group: ThreadGroup, index: Any, barrier: Any) -> None:
        """Threads (`index`) are about to invalidate an mbarrier."""

    def on_mbarrier_use(self, group: ThreadGroup, index: Any, barrier: Any) -> None:
        """Threads (`index`) execute an operation on a live mbarrier."""

    def on_mbarrier_arrive(self, group: ThreadGroup, index: Any, barrier: Any, order: str, scope: str) -> None:
        """Threads (`index`) are about to arrive at an mbarrier."""

    def on_phase_complete(self, barrier: Any) -> None:
        """The phase of an mbarrier before the current one (`barrier.phase`) is complete."""

    def on_phase_observed(self, group: ThreadGroup, index: Any, barrier: Any, order: str, scope: str) -> None:
        """Threads (`index`) have observed that the phase before the current one is complete."""


class ObserverList(MachineObserver):
    """The observers of a launch, in the order in which they receive each event.

    The methods are looked up once: an event without observers costs only the call that reports it, and no observer is
    called that ignores an event.
    """

    def __init__(self, observers: Sequence[MachineObserver] = ()) -> None:
        self.observers = tuple(observers)  # of different classes
        self.is_checking = bool(self.observers)
        self._by_class = {type(each): each for each in self.observers}
        for name, places in _handled_events(tuple(self._by_class)):
            handlers = [getattr(self.observers[place], name) for place in places]
            setattr(self, name, handlers[0] if len(handlers) == 1 else _call_each(handlers))

    def find(self, kind: type[_Observer]) -> _Observer | None:
        """Returns the observer of a class, or None if none exists."""
        found = self._by_class.get(kind)
        return found if isinstance(found, kind) else None


@lru_cache(maxsize=MAX_CACHED_OBSERVER_LISTS)
def _handled_events(classes: tuple[type[MachineObserver], ...]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Returns the events that any of some classes handles, each with the positions of these classes."""
    found = []
    for name, ignore in vars(MachineObserver).items():
        if name.startswith("on_"):
            places = tuple(place for place, each in enumerate(classes) if getattr(each, name) is not ignore)
            if places:
                found.append((name, places))
    return tuple(found)


def _call_each(handlers: Sequence[Callable[..., None]]) -> Callable[..., None]:
    def handle(*event: Any) -> None:
        for each in handlers:
            each(*event)

    return handle
