"""The events of an execution: what the instructions of a thread do, one by one.

Orders, scopes and proxies are the words of PTX without the dot; scopes are the levels of `ptxkit.semantics.ordering`.
An atomic read-modify-write is a read and a write after it. An asynchronous instruction is an issue, in program order,
and the events that it causes, which are not.

Source: PTX ISA, "Memory Consistency Model": "Operation Types", "Scope", "Proxies", "Asynchronous Operations".
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from ptxkit.fast_dataclasses import dataclass
from ptxkit.semantics.ordering import CTA_LEVEL, SYSTEM_LEVEL

GENERIC, ALIAS, TEXTURE, SURFACE, CONSTANT, ASYNC, TENSORMAP = (
    *("generic", "alias", "texture", "surface", "constant"),
    *("async", "tensormap"),
)


class EventKind(Enum):
    """What an event is. The values are the letters with which an execution is drawn."""

    READ = "R"
    WRITE = "W"
    FENCE = "F"
    PROXY_FENCE = "PF"
    SYNC = "S"
    """An operation of a barrier or an mbarrier object, or a wait for asynchronous operations."""
    ISSUE = "I"
    """The execution of an asynchronous instruction."""


@dataclass(frozen=True, slots=True)
class FencedProxy:
    """What a proxy fence connects with the generic proxy.

    direction: `both`, or `release` or `acquire` for a one-way fence, which needs the other one. spaces: the state
    spaces that it is restricted to; empty for all. location: of the one object fenced, a tensor map; None for all.
    """

    proxy: str
    direction: str = "both"
    spaces: tuple[str, ...] = ()
    location: str | None = None


@dataclass(frozen=True, slots=True)
class BarrierUse:
    """The use of a barrier of a CTA or a cluster.

    number: of the barrier. action: `sync`, `arrive` or `wait`. awaited: the threads of the test for which a phase
    waits; None for all threads that have not exited, or for those that use the barrier, if `only_users`.
    """

    level: str
    number: int
    action: str
    awaited: int | None = None
    only_users: bool = False


@dataclass(frozen=True, slots=True)
class MbarrierUse:
    """An operation on an mbarrier object at a location.

    action: `init`, `inval`, `arrive`, `pend` (one more arrival is expected in this phase), `expect`, `complete` or
    `wait`. count: of arrivals. size: bytes that are expected or complete. phase: the parity that a wait names; if
    `by_state`, how many events before it the arrival is that returned the token. holds: whether the wait returned true.
    drops: whether the arrivals count for no later phase.
    """

    location: str
    action: str
    count: int = 0
    size: int = 0
    phase: int = 0
    by_state: bool = False
    holds: bool = True
    drops: bool = False

    @property
    def is_lifetime(self) -> bool:
        """Whether it begins or ends the lifetime of the object."""
        return self.action in ("init", "inval")


SyncUse: TypeAlias = BarrierUse | MbarrierUse


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """One event of a thread, without the value that it reads or writes.

    text: the instruction. address: the virtual address; location: the memory location, which aliases share; space: its
    state space. order: of a memory operation or fence. is_atomic: part of a read-modify-write, whose read is followed
    by its write. is_reduction: by `red`, whose read is no part of an acquire pattern. fenced: what a proxy fence
    connects. only_mbarriers: whether a fence publishes only the initialization of mbarrier objects. use: of a barrier.
    depends: the reads of the thread, by number, on which the value, the address or the execution depends. issue: the
    number of the issue, for an event of an asynchronous instruction. is_ordered_issue: of an issue, whether its events
    are ordered after the earlier instructions of the thread. completes: the asynchronous events of which a wait, or the
    signal of completion, knows that they are complete. implies_fence: of an asynchronous access, whether observing its
    completion is a proxy fence for it.
    """

    kind: EventKind
    text: str
    address: str = ""
    location: str = ""
    space: str = "global"
    order: str = "weak"
    scope: int = SYSTEM_LEVEL
    proxy: str = GENERIC
    is_atomic: bool = False
    is_reduction: bool = False
    fenced: FencedProxy | None = None
    only_mbarriers: bool = False
    use: SyncUse | None = None
    depends: frozenset[int] = frozenset()
    issue: int | None = None
    is_ordered_issue: bool = True
    completes: frozenset[int] = frozenset()
    implies_fence: bool = False

    @property
    def is_access(self) -> bool:
        """Whether it reads or writes memory."""
        return self.kind is EventKind.READ or self.kind is EventKind.WRITE

    @property
    def is_strong(self) -> bool:
        """Whether it is a strong operation."""
        if self.kind is EventKind.FENCE or isinstance(self.use, MbarrierUse):
            return not isinstance(self.use, MbarrierUse) or not self.use.is_lifetime
        if isinstance(self.use, BarrierUse):
            return self.use.level == "cluster"
        return self.is_access and self.order != "weak"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a thread runs. cta, cluster and gpu are numbers in the whole test; rank: among the threads of its CTA."""

    cta: int
    cluster: int
    gpu: int
    rank: int = 0

    def includes(self, scope: int, other: Placement) -> bool:
        """Returns whether a scope of this thread includes another thread."""
        if scope >= SYSTEM_LEVEL:
            return True
        if self.gpu != other.gpu:
            return False
        mine = (self.cta, self.cluster)[scope - CTA_LEVEL] if scope <= 1 else self.gpu
        theirs = (other.cta, other.cluster)[scope - CTA_LEVEL] if scope <= 1 else other.gpu
        return mine == theirs
