"""Determines what an effect orders: its release and acquire semantics, its scope, and the proxies that it connects.

The analyzer decides whether accesses may be ordered on some path, the machine whether they are in one run. Both use
this module for single effects, and combine several effects on their own. Where the two interpret an effect differently,
a parameter names the difference. Orders and scopes are the words of PTX without the dot.

Source: PTX ISA, "Memory Consistency Model": "Scope", "Release and Acquire Patterns", "Proxies", "Causality Order";
"membar / fence", "bar, barrier", "barrier.cluster", "mbarrier.arrive", "mbarrier.test_wait / mbarrier.try_wait".
"""

from __future__ import annotations

from functools import lru_cache

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import (
    Barrier,
    Effect,
    MbarrierArrive,
    MbarrierTrack,
    MbarrierWait,
    MemoryFence,
    ProxyFence,
)

CTA_LEVEL, CLUSTER_LEVEL, GPU_LEVEL, SYSTEM_LEVEL = range(4)
"""The levels of scopes: a scope includes those of lower levels of the same thread."""

_SCOPE_LEVELS = {"cta": CTA_LEVEL, "cluster": CLUSTER_LEVEL, "gpu": GPU_LEVEL, "sys": SYSTEM_LEVEL}


def scope_level(scope: str | None) -> int:
    """Returns the level of a scope. An effect without a scope, such as a volatile access, has the widest."""
    return _SCOPE_LEVELS.get(scope or "sys", SYSTEM_LEVEL)


RELEASE_ORDERS = frozenset({"release", "acq_rel", "sc"})
"""The orders of operations that release their thread's earlier accesses."""

ACQUIRE_ORDERS = frozenset({"acquire", "acq_rel", "sc"})
"""The orders of operations that acquire what was released."""

MAY_RELEASE_ORDERS = RELEASE_ORDERS | {"volatile", "mmio"}
"""The orders that the analyzer treats as possible releases; the machine treats volatile and mmio as relaxed."""

MAY_ACQUIRE_ORDERS = ACQUIRE_ORDERS | {"volatile", "mmio"}
"""The orders that the analyzer treats as possible acquires."""


@dataclass(frozen=True, slots=True)
class SyncOperation:
    """The order between threads that a barrier or mbarrier operation establishes.

    releases: its thread's earlier accesses are ordered before another thread's accesses after an operation that
    `acquires`. is_relaxed: whether it orders only together with a fence, before the release or after the acquire.
    scope_level: the scope of the threads that it orders. is_deferred: whether it takes place when other operations are
    complete, not where it is executed. The machine then releases what was observed at its issue; the analyzer ignores
    it where it needs the position of a release.
    """

    releases: bool
    acquires: bool
    is_relaxed: bool
    scope_level: int
    is_deferred: bool = False


_operation = lru_cache(maxsize=64)(SyncOperation)

SYNC_EFFECTS = frozenset((Barrier, MbarrierArrive, MbarrierWait, MbarrierTrack))
"""The classes of the effects that may establish an order as barrier or mbarrier operations; none has subclasses."""


def sync_operation_of(effect: Effect) -> SyncOperation | None:
    """Returns the order that an effect establishes as a barrier or mbarrier operation; None if it is not one.

    The lanes of a collective instruction (a relaxed barrier of a warp) converge without ordering memory.
    """
    if type(effect) not in SYNC_EFFECTS:  # most events are accesses
        return None
    if isinstance(effect, Barrier):
        is_relaxed = effect.order == "relaxed"
        if effect.level == "warp" and is_relaxed:
            return None
        level = CLUSTER_LEVEL if effect.level == "cluster" else CTA_LEVEL
        return _operation(effect.action != "wait", effect.action != "arrive", is_relaxed, level)
    if isinstance(effect, MbarrierArrive):
        is_relaxed = effect.order not in RELEASE_ORDERS
        return _operation(True, False, is_relaxed, scope_level(effect.scope), effect.asynchronous)
    if isinstance(effect, MbarrierWait):
        return _operation(False, True, effect.order not in ACQUIRE_ORDERS, scope_level(effect.scope))
    if isinstance(effect, MbarrierTrack):
        return _operation(True, False, False, CTA_LEVEL, True)
    return None


def is_warp_barrier(effect: object) -> bool:
    """Returns whether an effect is a barrier of the lanes of one warp."""
    return isinstance(effect, Barrier) and effect.level == "warp"


def is_cta_barrier(effect: object) -> bool:
    """Returns whether an effect is a barrier at which all threads of the CTA wait."""
    return isinstance(effect, Barrier) and (effect.level, effect.action, effect.threads) == ("cta", "sync", None)


def is_warp_convergence(effect: object) -> bool:
    """Returns whether lanes of a warp converge without ordering anything."""
    return isinstance(effect, Barrier) and (effect.level, effect.order) == ("warp", "relaxed")


def is_relaxed_sync(effect: Effect) -> bool:
    """Returns whether an effect synchronizes by a barrier or an mbarrier, but orders nothing without a fence."""
    operation = sync_operation_of(effect)
    return operation is not None and operation.is_relaxed


ALL_ORDERS = RELEASE_ORDERS | ACQUIRE_ORDERS
"""The orders of fences of either direction."""


def is_fence(effect: Effect, *, proxy_fences: bool, orders: frozenset[str] = ALL_ORDERS) -> bool:
    """Returns whether an effect is a fence that makes relaxed operations order accesses.

    proxy_fences: whether any proxy fence counts, as for a caller that decides whether accesses may be ordered.
    According to the manual, and in the machine, only those with a scope count, in their direction. orders: those of the
    memory fences that count: the ones that release, or that acquire.
    """
    is_memory_fence = isinstance(effect, MemoryFence) and effect.order in orders
    return is_memory_fence or (proxy_fences and isinstance(effect, ProxyFence))


def fence_level(effect: Effect, *, restricted: bool, orders: frozenset[str] = ALL_ORDERS) -> int | None:
    """Returns the level of a memory fence of one of some orders; None for any other effect.

    restricted: whether fences count that publish only the initialization of mbarriers, or only one kind of shared
    memory. In the machine they publish everything.
    """
    if not isinstance(effect, MemoryFence) or effect.order not in orders:
        return None
    if effect.only is not None and not restricted:
        return None
    return scope_level(effect.scope)


IMPLICIT_FENCE_GROUPS = frozenset({"bulk", "wgmma"})
"""The groups whose completion implies a proxy fence for the waiting thread.

The completion of a copy that an mbarrier tracks does as well.
"""


def covers_space(spaces: tuple[str, ...], space: str) -> bool:
    """Returns whether a proxy fence covers `shared` or `global`.

    spaces: the spaces to which it is restricted; empty for all.
    """
    return not spaces or any(each.partition("::")[0] == space for each in spaces)


def connects_proxies(effect: Effect, proxy: str, space: str, direction: str | None = None) -> bool:
    """Returns whether an effect is a fence between the generic proxy and another one for accesses to a state space.

    direction: `both`, or `release` or `acquire` for a one-way fence that needs the other one; None for any.
    """
    return (
        isinstance(effect, ProxyFence)
        and effect.proxy == proxy
        and direction in (None, effect.direction)
        and covers_space(effect.spaces, space)
    )


def is_half_proxy_fence(effect: Effect, proxy: str | None = None) -> bool:
    """Returns whether an effect is a one-way fence for a proxy, which needs another one of the opposite direction.

    proxy: the proxy; None for any.
    """
    return isinstance(effect, ProxyFence) and effect.direction != "both" and proxy in (None, effect.proxy)


def proxy_fence_direction(effect: Effect, proxy: str) -> str | None:
    """Returns the direction of a fence for a proxy: `both`, `release` or `acquire`; None for any other effect."""
    return effect.direction if isinstance(effect, ProxyFence) and effect.proxy == proxy else None
