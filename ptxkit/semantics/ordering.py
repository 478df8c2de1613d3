"""What an effect orders: what it releases or acquires, for the threads of which scope, and which proxies it connects.

The analyser decides whether accesses may be ordered on some path, the machine whether they are in one run. Both find
here what an effect contributes, and combine several effects on their own. Where the two read an effect differently, a
parameter names the difference. Orders and scopes are the words of PTX without the dot.

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

# ------------------------------------------------------------------------------------------------------------ scopes

CTA_LEVEL, CLUSTER_LEVEL, GPU_LEVEL, SYSTEM_LEVEL = range(4)
"""The levels of scopes: a scope includes those of lower levels of the same thread."""

_SCOPE_LEVELS = {"cta": CTA_LEVEL, "cluster": CLUSTER_LEVEL, "gpu": GPU_LEVEL, "sys": SYSTEM_LEVEL}


def scope_level(scope: str | None) -> int:
    """The level of a scope. An effect without one, such as a volatile access, has the widest."""
    return _SCOPE_LEVELS.get(scope or "sys", SYSTEM_LEVEL)


# ------------------------------------------------------------------------------------------------- orders of accesses

RELEASE_ORDERS = frozenset({"release", "acq_rel", "sc"})
"""The orders of operations that release what their thread did before."""

ACQUIRE_ORDERS = frozenset({"acquire", "acq_rel", "sc"})
"""The orders of operations that acquire what was released."""

MAY_RELEASE_ORDERS = RELEASE_ORDERS | {"volatile", "mmio"}
"""The orders that the analyser takes for possible releases; the machine takes volatile and mmio for relaxed."""


# ----------------------------------------------------------------------------------------------- barriers and mbarriers


@dataclass(frozen=True, slots=True)
class SyncOperation:
    """What a barrier or mbarrier operation orders between threads.

    releases: what its thread did before is ordered before what another thread does after an operation that `acquires`.
    is_relaxed: only together with a fence, before the one or after the other. scope_level: the threads between which it
    orders. is_deferred: it takes place when other operations are complete, not where it is executed: the machine
    releases what was known at its issue; where the analyser needs the place of a release, it leaves it out.
    """

    releases: bool
    acquires: bool
    is_relaxed: bool
    scope_level: int
    is_deferred: bool = False


_operation = lru_cache(maxsize=64)(SyncOperation)


def sync_operation_of(effect: Effect) -> SyncOperation | None:
    """What an effect orders between threads by a barrier or an mbarrier; None where it is no such operation.

    The lanes of a collective instruction (a relaxed barrier of a warp) meet without ordering memory.
    """
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


def is_relaxed_sync(effect: Effect) -> bool:
    """Whether an effect synchronises by a barrier or an mbarrier, but orders nothing without a fence."""
    operation = sync_operation_of(effect)
    return operation is not None and operation.is_relaxed


# ------------------------------------------------------------------------------------------------------------- fences


def is_fence(effect: Effect, *, proxy_fences: bool) -> bool:
    """Whether an effect is a fence that gives order to relaxed operations. It releases and acquires, whatever it names.

    proxy_fences: whether any proxy fence is one, as for a caller that decides whether accesses may be ordered. By the
    manual, and in the machine, only those with a scope are, in their direction.
    """
    return isinstance(effect, MemoryFence) or (proxy_fences and isinstance(effect, ProxyFence))


def fence_level(effect: Effect, *, restricted: bool) -> int | None:
    """The level of a memory fence; None for any other effect.

    restricted: whether fences count that publish only the initialisation of mbarriers, or only one kind of shared
    memory. In the machine they publish all.
    """
    if not isinstance(effect, MemoryFence) or (effect.only is not None and not restricted):
        return None
    return scope_level(effect.scope)


# ------------------------------------------------------------------------------------------------------------ proxies

IMPLICIT_FENCE_GROUPS = frozenset({"bulk", "wgmma"})
"""The groups whose completion is a proxy fence for those who wait, as is that of a copy that an mbarrier tracks."""


def covers_space(spaces: tuple[str, ...], space: str) -> bool:
    """Whether a proxy fence covers `shared` or `global`. spaces: what it is restricted to, none for all."""
    return not spaces or any(each.partition("::")[0] == space for each in spaces)


def connects_proxies(effect: Effect, proxy: str, space: str, direction: str | None = None) -> bool:
    """Whether an effect is a fence between the generic proxy and another one for accesses to a state space.

    direction: `both`, or `release` or `acquire` for a half that needs the other; None for any.
    """
    return (
        isinstance(effect, ProxyFence)
        and effect.proxy == proxy
        and direction in (None, effect.direction)
        and covers_space(effect.spaces, space)
    )


def is_half_proxy_fence(effect: Effect, proxy: str | None = None) -> bool:
    """Whether an effect is a fence for a proxy (None: for any) that needs another one of the opposite direction."""
    return isinstance(effect, ProxyFence) and effect.direction != "both" and proxy in (None, effect.proxy)


def proxy_fence_direction(effect: Effect, proxy: str) -> str | None:
    """The direction of a fence for a proxy: `both`, `release` or `acquire`; None of any other effect."""
    return effect.direction if isinstance(effect, ProxyFence) and effect.proxy == proxy else None
