"""The plan of a pipeline: the choices that determine everything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ptxkit.fast_dataclasses import dataclass, replace

Choose: TypeAlias = Callable[[int], int]
"""A function that returns a number below its argument; the smallest is the simplest choice."""

MECHANISMS = ("cp.async", "cp.async mbarrier", "bulk", "tensor")
MULTICASTS = ("multicast", "tensor multicast")
WGMMA_MECHANISMS = ("wgmma",)
FACTOR_BYTES = 256
"""The bytes of the smaller operand of a product."""

CLUSTER_MECHANISMS = ("dsmem", "st.async", "red.async", *MULTICASTS)
ROLES = ("unified", "producer")
DRAINS = ("sum", "plain", "bulk", "bulk reduce", "tensor")

LANES = 32


@dataclass(frozen=True, slots=True)
class PipelinePlan:
    """One arrangement.

    A tile has one element for each consumer, of `size` bytes; a CTA processes `rounds` of them, one after the other,
    through `stages` slots. Each consumer reads the element of the consumer `shift` further; if that is 1, of the other
    one of its pair.

    mechanism: how tiles are copied in. roles: whether all threads have the same role, or a warp fills the slots and
    others consume them. drain: the kind of output: a sum that is stored at the end, or a store in each iteration.
    ahead: how many iterations are prefetched before the first is used (unified): `stages`, or one less, if one barrier
    for each iteration serves both. handover: the synchronization between the roles, by mbarriers or by named barriers.
    releases: which threads release a slot: every `thread`, or one lane for its `warp`. elected: whether the issuing
    lane is elected or the first. unrolled: whether the loop is unrolled. counted: whether the slot is incremented or
    computed from the iteration. branches: whether the code of few threads is in a branch. polls: how an mbarrier is
    waited for. parts: copies of a tile. cached: cp.async with `.ca`. noinc: counted arrivals of cp.async. buffers: of
    an output. expects: which threads expect the bytes: the `issuer`, or `all` arrive. rank: of a tensor. cluster:
    CTAs of a cluster; shares: whether each copies a part for all. seed: of the numbers in memory. zeros: bytes at the
    end of an element that cp.async does not read, but fills with zeros. attends: which threads of the warp that fills
    wait for an empty slot if a single lane copies and expects: that lane, the `issuer`, or the whole `warp`. The warp
    synchronizes before the copy: lanes that wait and do not synchronize could be lapped, since the phase that they wait
    for, and the next one, can be complete before they poll.
    """

    target: str
    mechanism: str = "cp.async"
    roles: str = "unified"
    drain: str = "sum"
    stages: int = 1
    rounds: int = 1
    warps: int = 1
    size: int = 4
    shift: int = 1
    ahead: int = 1
    grid: int = 1
    handover: str = "mbarrier"
    releases: str = "thread"
    elected: bool = False
    unrolled: bool = True
    counted: bool = False
    branches: bool = False
    polls: str = "try_wait"
    parts: int = 1
    cached: bool = True
    noinc: bool = True
    buffers: int = 1
    expects: str = "issuer"
    rank: int = 1
    cluster: int = 1
    shares: bool = False
    zeros: int = 0
    seed: int = 0
    attends: str = "issuer"

    @property
    def consumers(self) -> int:
        """The number of threads that consume."""
        return self.warps * LANES

    @property
    def threads(self) -> int:
        """The number of threads of a CTA."""
        return self.consumers + (LANES if self.roles == "producer" else 0)

    @property
    def tile_bytes(self) -> int:
        """The bytes of a tile."""
        return self.consumers * self.size

    @property
    def input_tile_bytes(self) -> int:
        """The bytes of an iteration in global memory."""
        return self.tile_bytes + (FACTOR_BYTES if self.mechanism in WGMMA_MECHANISMS else 0)

    @property
    def input_count(self) -> int:
        """The number of parts of the input: one for each CTA, or each cluster."""
        return self.grid // self.cluster if self.mechanism in MULTICASTS else self.grid

    @property
    def has_map(self) -> bool:
        """Whether tiles are boxes of a tensor."""
        return self.mechanism in ("tensor", "tensor multicast")

    @property
    def mbarrier_space(self) -> str:
        """The state space of the CTA's mbarriers, as the target spells it."""
        return ".shared::cta" if target_number(self.target) >= 90 else ".shared"

    @property
    def has_bulk(self) -> bool:
        """Whether the mechanism uses the async proxy."""
        return self.mechanism in ("bulk", "tensor")

    @property
    def has_idle_lanes(self) -> bool:
        """Whether lanes of the warp that fills do not take part in it: then nothing shows that they have waited."""
        return self.roles == "producer" and self.has_bulk and self.expects == "issuer"

    @property
    def has_full_barriers(self) -> bool:
        """Whether mbarriers signal that a tile has arrived."""
        return self.mechanism not in ("cp.async", *WGMMA_MECHANISMS)


def choose_plan(
    choose: Choose, target: str, mechanisms: tuple[str, ...], drains: tuple[str, ...] = DRAINS
) -> PipelinePlan:
    """Returns a plan from choices. mechanisms: those that the version and the target support."""

    def one(*values: object) -> object:
        return values[choose(len(values))] if len(values) > 1 else values[0]

    def yes() -> bool:
        return choose(2) == 1

    mechanism = str(one(*mechanisms))
    is_new = "bulk" in mechanisms
    is_clustered = mechanism in CLUSTER_MECHANISMS
    is_product = mechanism in WGMMA_MECHANISMS
    roles = "unified" if is_clustered or is_product else str(one(*ROLES))
    cluster = int(str(one(2, 4))) if is_clustered else 1
    stages, rounds = 1 + choose(4), 1 + choose(6)
    warps, size = (4, 16) if is_product else (1 + choose(3), int(str(one(4, 8, 16))))
    ahead = stages
    if mechanism == "cp.async" and roles == "unified" and stages > 1:
        ahead = int(str(one(stages, stages - 1)))
    plan = PipelinePlan(
        target=target,
        mechanism=mechanism,
        roles=roles,
        drain="sum" if is_product else str(one(*(each for each in drains if is_new or each in ("sum", "plain")))),
        stages=stages,
        rounds=rounds,
        warps=warps,
        size=size,
        shift=1 + choose(warps * LANES - 1),
        ahead=ahead,
        grid=cluster * (1 + choose(2)),
        handover="named" if mechanism == "cp.async" else "mbarrier",
        releases=str(one("thread", "warp")),
        elected=is_new and yes(),
        unrolled=not yes(),
        counted=yes(),
        branches=yes(),
        polls=str(one("try_wait", "test_wait")) if is_new else "test_wait",
        parts=1 + choose(2),
        cached=size < 16 or not yes(),
        noinc=not yes(),
        buffers=1 + choose(2),
        expects=str(one("issuer", "all")),
        rank=1 + choose(3),
        cluster=cluster,
        shares=is_clustered and yes(),
        zeros=4 * choose(size // 4) if mechanism.startswith("cp.async") else 0,
        seed=choose(1 << 10),
    )
    return replace(plan, attends=str(one("issuer", "warp"))) if plan.has_idle_lanes else plan


def target_number(target: str) -> int:
    """Returns 90 for sm_90a."""
    return int("".join(each for each in target if each.isdigit()))
