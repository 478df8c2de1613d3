"""What orders accesses to memory: nothing is watched here; see `ptxkit/emulate/clocks.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.machine import Cluster, Machine
    from ptxkit.emulate.mbarriers import Mbarrier
    from ptxkit.emulate.memory import Pool
    from ptxkit.emulate.operations import Arrival, Operation
    from ptxkit.emulate.tensor_order import TensorOrder


class Order:
    """Hears of every access and of all that orders them. This one minds nothing, and costs next to nothing."""

    watches = False

    def __init__(self) -> None:
        self.machine: Machine | None = None
        self.tensor: TensorOrder | None = None
        """What minds Tensor Memory."""

    def accessed(  # noqa: PLR0913, PLR0917 (all that an access is)
        self,
        group: Group,
        kind: str,
        pool: Pool,
        places: Any,
        size: int,
        order: str,
        scope: str | None,
        value: Any = None,
    ) -> None:
        """Threads read, write or update `size` bytes at places of a pool; before they do.

        kind: `read`, `write` or `update`. order: `weak`, or one that makes the access strong. value: what is written.
        """

    def fenced(self, group: Group, order: str, scope: str) -> None:
        """Threads execute a fence."""

    def barrier_arrives(self, group: Group, phase: Any) -> None:
        """Threads have come to a barrier of their CTA."""

    def barrier_opens(self, cta: Cta, phase: Any) -> None:
        """A barrier of a CTA lets its threads go."""

    def passes_barrier(self, group: Group, phase: Any) -> None:
        """Threads go on behind a barrier."""

    def warp_meets(self, group: Group, masks: Any) -> None:
        """Lanes of a warp execute an instruction together, which orders no memory."""

    def warp_synchronises(self, group: Group, masks: Any) -> None:
        """Lanes of a warp wait for each other, and know all that the others did."""

    def cluster_arrives(self, group: Group, phase: Any, order: str) -> None:
        """Threads come to the barrier of their cluster."""

    def cta_ends(self, cta: Cta) -> None:
        """All threads of a CTA have ended."""

    def tensor_happens(self, group: Group, kind: str, detail: str) -> None:
        """Threads read or write Tensor Memory, wait for that, or execute a fence (`kind`), which is judged next."""

    def tensor_judged(self) -> None:
        """It has been judged."""

    def grid_waits(self, group: Group) -> None:
        """Threads wait for the grids that this one depends on."""

    def cluster_ends(self, cluster: Cluster) -> None:
        """All CTAs of a cluster have ended."""

    def passes_cluster_barrier(self, group: Group, phase: Any) -> None:
        """Threads go on behind the barrier of their cluster."""

    def go_on(self) -> bool:
        """Nobody can go on: let something asynchronous happen; whether there was anything."""
        return False

    # ------------------------------------------------------------------------------- asynchronous operations

    def proxy_fenced(
        self, group: Group, proxy: str, space: str | None, direction: str, scope: str | None, address: Any = None
    ) -> None:
        """Threads execute a fence between the generic proxy and another. direction: release, acquire or both.

        space: what it is restricted to, None for all. address: of the one object that it is about, or None.
        """

    def uses_map(self, group: Group, thread: int, pool: Pool, place: int) -> None:
        """A thread copies by the tensor map at a place of a pool."""

    def issued(self, operation: Operation) -> None:
        """An asynchronous operation begins: behind what its threads did before, as they know it."""

    def arrives_later(self, arrival: Arrival) -> None:
        """Threads will arrive at an mbarrier when their copies so far are complete."""

    def has_read(self, operation: Operation, rows: Any, through: Mbarrier | None) -> None:
        """Rows of an operation have read their sources, and somebody will know; before `waited` or `signals`.

        through: the mbarrier that will tell; None where the threads wait for it themselves.
        """

    def completed(self, operation: Operation, rows: Any, through: Mbarrier | None) -> None:
        """Rows of an operation are complete, and somebody will know; before `waited` or `signals`."""

    def committed(self, group: Group, kind: str) -> None:
        """Threads close their groups of a kind."""

    def waited(self, group: Group, kind: str, limits: Any, *, reads_only: bool) -> None:
        """Threads have waited for their groups of a kind whose numbers are below the limit of each thread."""

    def signals(self, operation: Operation | Arrival, barrier: Mbarrier) -> None:
        """A complete operation tells an mbarrier: it is about to count bytes, or an arrival, in the current phase."""

    def mbarrier_begins(self, group: Group, thread: int, barrier: Mbarrier) -> None:
        """A thread has initialised an mbarrier."""

    def mbarrier_ends(self, group: Group, index: Any, barrier: Mbarrier) -> None:
        """Threads (`index`) are about to end the life of an mbarrier."""

    def uses(self, group: Group, index: Any, barrier: Mbarrier) -> None:
        """Threads (`index`) execute an operation on a live mbarrier."""

    def arrives(self, group: Group, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads (`index`) are about to arrive at an mbarrier."""

    def mbarrier_completes(self, barrier: Mbarrier) -> None:
        """The current phase of an mbarrier (`barrier.phase`) is complete."""

    def observes(self, group: Group, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads (`index`) have seen that the phase before the current one is complete."""
