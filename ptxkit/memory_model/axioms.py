"""The memory consistency model of PTX: its relations and axioms, in the order of the manual.

`EventRelations` has what the events determine without values, `CausalOrders` what depends on the values that reads
return and on the order of `fence.sc` operations, and `AXIOMS` what a consistent execution satisfies. `a @ b` is "first
a, then b", and `r.between(A, B)` the pairs of r from A to B. Each definition names the section of the manual that it
comes from; where the manual is silent, it states what was decided, and why.

Proxies follow Lustig, Cooksey, Giroux: "Mixed-Proxy Extensions for the NVIDIA PTX Memory Consistency Model" (ISCA
2022), by which a proxy fence concerns the accesses of its own thread block: under the policy `strict` also the async
proxy, of which under `isa` a fence anywhere on the path suffices.

Source: PTX ISA, "Memory Consistency Model".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from ptxkit.fast_dataclasses import dataclass
from ptxkit.memory_model.events import ALIAS, ASYNC, GENERIC, EventKind, MbarrierUse, MemoryEvent
from ptxkit.memory_model.relations import Relation, members
from ptxkit.memory_model.rendezvous import Rendezvous
from ptxkit.memory_model.skeletons import Skeleton
from ptxkit.semantics.ordering import ACQUIRE_ORDERS, RELEASE_ORDERS, covers_space

ISA, STRICT = "isa", "strict"
"""The policies, as in `ptxkit lint --policy`."""


def _is_strong_write(event: MemoryEvent) -> bool:
    """Operation Types. Waits observe arrivals at mbarrier objects and cluster barriers as reads observe writes."""
    if event.use is not None:
        return event.is_strong and event.use.action not in ("wait", "sync")
    return event.kind is EventKind.WRITE and event.is_strong


def _is_strong_read(event: MemoryEvent) -> bool:
    """Operation Types. A wait that returned false observes nothing."""
    if event.use is not None:
        holds = not isinstance(event.use, MbarrierUse) or event.use.holds
        return event.is_strong and event.use.action == "wait" and holds
    return event.kind is EventKind.READ and event.is_strong


class EventRelations:
    """The relations that the events of an execution determine, whatever the reads return."""

    def __init__(self, skeleton: Skeleton, policy: str) -> None:
        self.skeleton, self.policy = skeleton, policy
        self.events, self.count = skeleton.events, skeleton.count
        self.program_order = skeleton.program_order
        self.none = Relation([0] * self.count)

    # ------------------------------------------------------------------------- Asynchronous Operations

    @cached_property
    def issue_order(self) -> Relation:
        """Asynchronous operations are ordered after the earlier instructions of their thread: from the issue on.

        Those of wgmma.mma_async are not: what precedes it has to be fenced. A fence of the async proxy orders them, and
        so does a barrier or a wait: silent about these; decided so because operands that a copy wrote need no more.
        """
        pairs: list[tuple[int, int]] = []
        for at in members(self.skeleton.asynchronous):
            issue = self.skeleton.issues[at]
            assert issue is not None
            if self.events[issue].is_ordered_issue:
                pairs.append((issue, at))
            else:
                before = self.program_order.inverse.rows[issue] & (self.proxy_fences | self.skeleton.synchronizations)
                pairs += [(each, at) for each in members(before)]
        return Relation.of_pairs(self.count, pairs)

    # ------------------------------------------------------------------------- Morally strong operations

    @cached_property
    def morally_strong(self) -> Relation:
        """Operations of one thread, or strong ones whose scopes include each other's thread; by one proxy; and memory
        operations overlap completely.
        """
        skeleton = self.skeleton
        in_scope = skeleton.pairs_where(self._include_each_other, skeleton.where(lambda event: event.is_strong))
        related = (self.program_order | self.program_order.inverse | in_scope) & skeleton.same_proxy
        return related - (related.between(skeleton.accesses, skeleton.accesses) - skeleton.same_address)

    def _include_each_other(self, one: int, other: int) -> bool:
        mine, theirs = self.skeleton.place(one), self.skeleton.place(other)
        return mine.includes(self.events[one].scope, theirs) and theirs.includes(self.events[other].scope, mine)

    # ------------------------------------------------------------------------- Release and Acquire Patterns

    @cached_property
    def release_patterns(self) -> Relation:
        """From the first operation of a release pattern to its strong write."""
        writes = self.skeleton.where(_is_strong_write)
        releases = self.skeleton.where(lambda event: _is_strong_write(event) and event.order in RELEASE_ORDERS)
        fences = self.skeleton.where(
            lambda event: event.kind is EventKind.FENCE and event.order in RELEASE_ORDERS and not event.only_mbarriers
        )
        on_location = (self.program_order & self.skeleton.same_address).optional
        return on_location.between(releases, writes) | self.program_order.between(fences, writes)

    @cached_property
    def acquire_patterns(self) -> Relation:
        """From the strong read of an acquire pattern to its last operation. The read of a `red` is in none."""
        reads = self.skeleton.where(lambda event: _is_strong_read(event) and not event.is_reduction)
        acquires = self.skeleton.where(lambda event: _is_strong_read(event) and event.order in ACQUIRE_ORDERS)
        fences = self.skeleton.where(lambda event: event.kind is EventKind.FENCE and event.order in ACQUIRE_ORDERS)
        on_location = (self.program_order & self.skeleton.same_address).optional
        return on_location.between(reads, acquires) | self.program_order.between(reads, fences)

    @cached_property
    def mbarrier_releases(self) -> Relation:
        """From an mbarrier.init, over `fence.mbarrier_init`, to a later strong write: the fence publishes nothing else
        ("membar, fence").
        """
        inits = self.skeleton.where(lambda event: isinstance(event.use, MbarrierUse) and event.use.action == "init")
        fences = self.skeleton.where(lambda event: event.only_mbarriers)
        writes = self.skeleton.where(_is_strong_write)
        return self.program_order.between(inits, fences) @ self.program_order.between(fences, writes)

    # ------------------------------------------------------------------------- Proxies

    @cached_property
    def proxy_fences(self) -> int:
        """The proxy fences."""
        return self.skeleton.where(lambda event: event.fenced is not None)

    @cached_property
    def generic(self) -> int:
        """The accesses by the generic proxy."""
        return self.skeleton.where(lambda event: event.is_access and event.proxy == GENERIC)

    @cached_property
    def asynchronous_accesses(self) -> int:
        """The accesses by the async proxy."""
        return self.skeleton.where(lambda event: event.is_access and event.proxy == ASYNC)

    @cached_property
    def has_other_proxies(self) -> bool:
        """Whether there are accesses by other proxies, or aliases."""
        skeleton = self.skeleton
        return self.generic | skeleton.initial != skeleton.accesses or skeleton.same_address != skeleton.same_location

    def fence_targets(self, direction: str) -> Relation:
        """From a proxy fence of a direction to the accesses by the proxy that it connects with the generic one.

        They are of its thread block (ISCA 2022). Under `isa`, a fence of the async proxy is for those of any: "Async
        Proxy" and "membar, fence" are silent about blocks; decided so because both sides' fences are in use.
        """
        skeleton = self.skeleton
        fences = skeleton.where(lambda event: event.fenced is not None and event.fenced.direction == direction)
        accesses = skeleton.accesses & skeleton.threads_events
        pairs = ((one, other) for one in members(fences) for other in members(accesses) if self._concerns(one, other))
        far = self.asynchronous_accesses if self.policy == ISA else 0
        return Relation.of_pairs(self.count, pairs) & (skeleton.same_block | Relation([far] * self.count))

    def _concerns(self, fence: int, at: int) -> bool:
        fenced, event = self.events[fence].fenced, self.events[at]
        assert fenced is not None
        return (
            fenced.proxy == event.proxy
            and covers_space(fenced.spaces, event.space.partition("::")[0])
            and fenced.location in (None, event.location)
        )

    @cached_property
    def bidirectional_targets(self) -> Relation:
        """`fence_targets`, of fences in both directions."""
        return self.fence_targets("both")

    @cached_property
    def alias_fences(self) -> int:
        """The fences between virtual addresses of one location."""
        return self.skeleton.where(lambda event: event.fenced is not None and event.fenced.proxy == ALIAS)


class CausalOrders:
    """The orders that depend on what reads return and on the order of `fence.sc` operations.

    reads_from: from a write to a read of its value. fence_sc: Fence-SC Order. rendezvous: the phases of barriers.
    """

    def __init__(self, model: EventRelations, rendezvous: Rendezvous, reads_from: Relation, fence_sc: Relation) -> None:
        self.model, self.skeleton, self.rendezvous = model, model.skeleton, rendezvous
        self.reads_from, self.fence_sc = reads_from, fence_sc

    # ------------------------------------------------------------------------- Observation Order

    @cached_property
    def observation(self) -> Relation:
        """From a write to a read that is morally strong and returns its value, also through atomic operations."""
        steps = self.model.morally_strong & self.reads_from | self.skeleton.atomic_pairs
        return steps.closure.between(self.skeleton.writes, self.skeleton.reads)

    @cached_property
    def phase_observation(self) -> Relation:
        """From an arrival at an mbarrier object or a cluster barrier to a wait that observes its phase."""
        return Relation.of_pairs(self.model.count, self.rendezvous.observed)

    # ------------------------------------------------------------------------- Memory synchronization

    @cached_property
    def synchronizes(self) -> Relation:
        """By Fence-SC order, barriers, and release patterns that acquire patterns observe."""
        model = self.model
        barriers = Relation.of_pairs(model.count, self.rendezvous.synchronized)
        observed = (self.observation | self.phase_observation) @ model.acquire_patterns
        patterns = model.release_patterns @ observed & model.morally_strong
        return self.fence_sc | barriers | patterns | model.mbarrier_releases @ observed

    # ------------------------------------------------------------------------- Asynchronous Operations

    @cached_property
    def completion(self) -> Relation:
        """From an asynchronous operation to a wait that observes that it is complete: for its group, or for the phase
        of an mbarrier object in which its completion was counted.
        """
        signals = self.phase_observation.between(self.skeleton.asynchronous)
        return self.skeleton.group_waits | self.skeleton.signals @ signals @ self.model.acquire_patterns

    # ------------------------------------------------------------------------- Causality Order: base causality order

    @cached_property
    def thread_causality(self) -> Relation:
        """Base causality order between operations that are not asynchronous."""
        return (self.model.program_order | self.synchronizes).closure

    @cached_property
    def base_causality(self) -> Relation:
        """Program order and synchronization, transitively. An asynchronous operation is after what precedes its issue,
        and before what follows a wait for it; "it does not transitively establish ordering" between the two.
        """
        model, core = self.model, self.thread_causality
        if not self.skeleton.asynchronous:
            return core
        into, out = core.optional @ model.issue_order, self.completion @ core.optional
        return core | into | out | out @ model.issue_order | self.skeleton.inner_order

    # ------------------------------------------------------------------------- Proxy-preserved base causality order

    @cached_property
    def proxy_preserved(self) -> Relation:
        """Base causality order of accesses to one address by the generic proxy, or by one proxy in one thread block, or
        with the proxy fences between them.
        """
        model, base = self.model, self.base_causality
        if not model.has_other_proxies:
            return base & self.skeleton.same_address
        # An access by another proxy counts as generic from a fence of its proxy on, or up to one before it.
        generic = Relation.identity(model.count, model.generic)
        first = generic | base & model.bidirectional_targets.inverse
        last = generic | base & model.bidirectional_targets
        aliased = first @ base.between(-1, model.alias_fences) @ base @ last
        found = first @ base @ last | base & self._by_one_proxy | self._implicit_fences | self._one_way
        return found & self.skeleton.same_address | aliased & self.skeleton.same_location

    @cached_property
    def _by_one_proxy(self) -> Relation:
        """By one proxy in one thread block. Under `isa`, by the async proxy in any: "Async Proxy" is silent about
        blocks; decided so because one copy needs no more than the completion of the other.
        """
        skeleton, far = self.skeleton, self.model.asynchronous_accesses if self.model.policy == ISA else 0
        blocks = skeleton.same_block | Relation([far] * skeleton.count).between(far)
        return (blocks & skeleton.same_proxy).between(skeleton.accesses, skeleton.accesses)

    @cached_property
    def _implicit_fences(self) -> Relation:
        """Async Proxy; wgmma.mma_async: where the completion of a bulk copy or of wgmma.mma_async is observed, there is
        an implicit fence of the async proxy for what it wrote and read.

        `isa` also orders a generic access before an asynchronous write without a fence: "Async Proxy" is silent about
        memory that is filled again; decided so because the pipelines of vendor libraries rely on it.
        """
        model, accesses = self.model, self.model.asynchronous_accesses
        if not accesses:
            return model.none
        done = self.completion.between(accesses & self.skeleton.where(lambda event: event.implies_fence))
        after = done @ self.thread_causality.optional
        after = after | after @ model.issue_order
        found = after.between(-1, model.generic) | after @ (self.base_causality & model.bidirectional_targets)
        if model.policy == ISA:
            found = found | self.base_causality.between(model.generic, accesses & self.skeleton.writes)
        return found

    @cached_property
    def _one_way(self) -> Relation:
        """membar, fence: a proxy fence that releases, in the thread block of the generic access, and then one that
        acquires, for the other access.
        """
        model, base = self.model, self.base_causality
        acquiring = base & model.fence_targets("acquire")
        if not acquiring:
            return model.none
        releases = self.skeleton.where(lambda event: event.fenced is not None and event.fenced.direction == "release")
        return (base.between(model.generic, releases) & self.skeleton.same_block) @ base @ acquiring

    # ------------------------------------------------------------------------- Causality Order

    @cached_property
    def causality(self) -> Relation:
        """Proxy-preserved base causality order, also after a read that observes the first operation."""
        return self.proxy_preserved | self.observation @ self.proxy_preserved


class OrderedExecution:
    """An execution with all its orders. coherence: Coherence Order, a partial order of the writes of a location."""

    def __init__(self, orders: CausalOrders, coherence: Relation) -> None:
        self.orders, self.coherence = orders, coherence
        self.model, self.skeleton = orders.model, orders.skeleton

    # ------------------------------------------------------------------------- Communication Order

    @cached_property
    def from_reads(self) -> Relation:
        """From a read to the writes after the one that it returns."""
        return self.orders.reads_from.inverse @ self.coherence

    @cached_property
    def communication(self) -> Relation:
        """All that makes accesses visible to each other."""
        return self.orders.reads_from | self.coherence | self.from_reads

    # ------------------------------------------------------------------------- Conflict and Data-races

    @cached_property
    def races(self) -> Relation:
        """Conflicting accesses that are neither morally strong nor in causality order, each pair once."""
        writes = self.skeleton.writes & self.skeleton.threads_events
        accesses = self.skeleton.accesses & self.skeleton.threads_events
        overlapping = self.skeleton.same_location
        conflicts = overlapping.between(writes, accesses) | overlapping.between(accesses, writes)
        ordered = self.orders.causality | self.orders.causality.inverse
        found = conflicts - self.model.morally_strong - ordered | self._unordered_lifetimes
        return Relation([row >> at + 1 << at + 1 for at, row in enumerate(found.rows)])

    @cached_property
    def _unordered_lifetimes(self) -> Relation:
        """From mbarrier.init and mbarrier.inval to the other operations on the object that are not ordered with them.

        Silent about their order in "mbarrier"; decided so because they write the object, and are not strong. An
        operation at the end of an asynchronous instruction counts as its issue. A wait is only ordered by what its
        thread did before, as an earlier try of it may come too early.
        """
        skeleton, core = self.skeleton, self.orders.thread_causality
        before_wait = skeleton.program_order | core @ skeleton.program_order
        pairs = []
        for one, first in skeleton.mbarrier_uses:
            for other, second in skeleton.mbarrier_uses:
                acting = [at if (issue := skeleton.issues[at]) is None else issue for at in (one, other)]
                if not first.is_lifetime or first.location != second.location or acting[0] == acting[1]:
                    continue
                order = before_wait if second.action == "wait" else core
                if not order.has(*acting) and not core.has(acting[1], acting[0]):
                    pairs.append((min(one, other), max(one, other)))
        return Relation.of_pairs(skeleton.count, pairs)


@dataclass(frozen=True, slots=True)
class Axiom:
    """A property of every consistent execution. section: of the manual. violations: the pairs that contradict it."""

    name: str
    section: str
    violations: Callable[[OrderedExecution], Relation]


def _coherence(execution: OrderedExecution) -> Relation:
    """A write that precedes an overlapping one in causality order precedes it in coherence order."""
    writes = execution.skeleton.writes
    ordered = execution.orders.causality.between(writes, writes) & execution.skeleton.same_location
    return ordered - execution.coherence | execution.coherence.closure.loops


def _fence_sc(execution: OrderedExecution) -> Relation:
    """Fence-SC order does not contradict causality order.

    Causality order is defined for memory operations only; decided so: base causality order, to which fences belong.
    """
    return execution.orders.fence_sc & execution.orders.thread_causality.inverse


def _atomicity(execution: OrderedExecution) -> Relation:
    """No morally strong write is between the read and the write of an atomic operation.

    Single-copy atomicity follows from the granularity: a location is read and written as a whole.
    """
    strong = execution.model.morally_strong
    between = (execution.from_reads & strong) @ (execution.coherence & strong)
    return between & execution.skeleton.atomic_pairs


def _no_thin_air(execution: OrderedExecution) -> Relation:
    """No value depends on itself."""
    return (execution.orders.reads_from | execution.skeleton.dependencies).closure.loops


def _sc_per_location(execution: OrderedExecution) -> Relation:
    """Among operations that are morally strong in pairs, communication order does not contradict program order.

    Two steps of communication suffice: a longer chain among such operations implies a shorter one.
    """
    skeleton = execution.skeleton
    steps = execution.communication & execution.model.morally_strong
    ordered = execution.model.program_order & skeleton.same_address & skeleton.same_proxy
    return ordered & (steps | steps @ steps).inverse


def _causality(execution: OrderedExecution) -> Relation:
    """A read returns no write after it in causality order, and none that is older than one before it."""
    return (execution.orders.reads_from | execution.from_reads) & execution.orders.causality.inverse


AXIOMS = (
    Axiom("Coherence", "Coherence", _coherence),
    Axiom("Fence-SC", "Fence-SC", _fence_sc),
    Axiom("Atomicity", "Atomicity", _atomicity),
    Axiom("No Thin Air", "No Thin Air", _no_thin_air),
    Axiom("SC per Location", "Sequential Consistency Per Location", _sc_per_location),
    Axiom("Causality", "Causality", _causality),
)
"""The axioms of the model, by the titles of their sections below "Axioms"."""


def violated_axioms(execution: OrderedExecution) -> Sequence[tuple[Axiom, Relation]]:
    """Returns the axioms that an execution contradicts, with the pairs that do; none if it is consistent."""
    return [(axiom, found) for axiom in AXIOMS if (found := axiom.violations(execution))]


def is_consistent(execution: OrderedExecution) -> bool:
    """Returns whether an execution satisfies all axioms."""
    return not any(axiom.violations(execution) for axiom in AXIOMS)
