"""What a pipeline is: the choices of which everything else follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ptxkit.fast_dataclasses import dataclass, replace

Choose: TypeAlias = Callable[[int], int]
"""A number below the argument; the smallest is the simplest choice."""

MECHANISMS = ("cp.async", "cp.async mbarrier", "bulk", "tensor")
MULTICASTS = ("multicast", "tensor multicast")
WGMMA_MECHANISMS = ("wgmma",)
FACTOR_BYTES = 256
"""Of the smaller operand of a product."""

CLUSTER_MECHANISMS = ("dsmem", "st.async", "red.async", *MULTICASTS)
ROLES = ("unified", "producer")
DRAINS = ("sum", "plain", "bulk", "bulk reduce", "tensor")

LANES = 32


@dataclass(frozen=True, slots=True)
class PipelinePlan:
    """One arrangement.

    A tile has one element for each consumer, of `size` bytes; a CTA takes in `rounds` of them, one after the other,
    through `stages` slots. Each consumer reads the element of the consumer `shift` further; where that is 1, of the
    other one of its pair.

    mechanism: how tiles come in. roles: whether all threads do all, or a warp fills and others consume. drain: how
    results leave: summed up and stored at the end, or stored in each round. ahead: how many rounds are asked for before
    the first is used (unified): `stages`, or one less, where one barrier a round does for both.
    handover: between the roles, by mbarriers or by named barriers. releases: who gives a slot back: every `thread`,
    or one lane for its `warp`. elected: whether the issuing lane is elected or the first. unrolled: rounds one by one.
    counted: whether the slot is counted along or computed from the round. branches: around what few threads do.
    polls: how an mbarrier is waited for. parts: copies of a tile. cached: cp.async by `.ca`. noinc: counted arrivals of
    cp.async. buffers: of a drain. announces: which threads announce the bytes: the `issuer`, or `all` arrive.
    rank: of a tensor. cluster: CTAs of one; shares: whether each copies a part for all. seed: of the numbers in memory.
    zeros: bytes at the end of an element that cp.async does not read, but fills.
    attends: who of the warp that fills waits for an empty slot, where one lane alone copies and announces: that lane,
    the `issuer`, or the whole `warp`. It meets before the copy: lanes that wait and do not meet could be lapped, as the
    phase that they wait for, and the next one, can be over before they ask.
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
    announces: str = "issuer"
    rank: int = 1
    cluster: int = 1
    shares: bool = False
    zeros: int = 0
    seed: int = 0
    attends: str = "issuer"

    @property
    def consumers(self) -> int:
        """Threads that consume."""
        return self.warps * LANES

    @property
    def threads(self) -> int:
        """Of a CTA."""
        return self.consumers + (LANES if self.roles == "producer" else 0)

    @property
    def tile_bytes(self) -> int:
        """Bytes of a tile."""
        return self.consumers * self.size

    @property
    def input_tile_bytes(self) -> int:
        """Bytes of a round in global memory."""
        return self.tile_bytes + (FACTOR_BYTES if self.mechanism in WGMMA_MECHANISMS else 0)

    @property
    def input_count(self) -> int:
        """How many parts the input has: one for each CTA, or each cluster."""
        return self.grid // self.cluster if self.mechanism in MULTICASTS else self.grid

    @property
    def has_map(self) -> bool:
        """Whether tiles come in as boxes of a tensor."""
        return self.mechanism in ("tensor", "tensor multicast")

    @property
    def mbarrier_space(self) -> str:
        """The state space of the CTA's mbarriers, as the target spells it."""
        return ".shared::cta" if target_number(self.target) >= 90 else ".shared"

    @property
    def has_bulk(self) -> bool:
        """Whether the mechanism is the asynchronous proxy's."""
        return self.mechanism in ("bulk", "tensor")

    @property
    def has_idle_lanes(self) -> bool:
        """Whether lanes of the warp that fills have no part in that: then nothing shows that they have waited."""
        return self.roles == "producer" and self.has_bulk and self.announces == "issuer"

    @property
    def has_full_barriers(self) -> bool:
        """Whether mbarriers signal that a tile is there."""
        return self.mechanism not in ("cp.async", *WGMMA_MECHANISMS)


def choose_plan(
    choose: Choose, target: str, mechanisms: tuple[str, ...], drains: tuple[str, ...] = DRAINS
) -> PipelinePlan:
    """A plan out of choices. mechanisms: those that the version and the target have."""

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
        announces=str(one("issuer", "all")),
        rank=1 + choose(3),
        cluster=cluster,
        shares=is_clustered and yes(),
        zeros=4 * choose(size // 4) if mechanism.startswith("cp.async") else 0,
        seed=choose(1 << 10),
    )
    return replace(plan, attends=str(one("issuer", "warp"))) if plan.has_idle_lanes else plan


def target_number(target: str) -> int:
    """90 of sm_90a."""
    return int("".join(each for each in target if each.isdigit()))
