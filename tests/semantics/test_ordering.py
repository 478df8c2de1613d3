"""The order by effects: releases and acquires, scopes and proxies."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from ptxkit.isa import table
from ptxkit.isa.effects import (
    Access,
    Barrier,
    Effect,
    MbarrierArrive,
    MbarrierInit,
    MbarrierTrack,
    MbarrierWait,
    MemoryFence,
    ProxyFence,
)
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.semantics.ordering import (
    ACQUIRE_ORDERS,
    CLUSTER_LEVEL,
    CTA_LEVEL,
    GPU_LEVEL,
    MAY_RELEASE_ORDERS,
    RELEASE_ORDERS,
    SYSTEM_LEVEL,
    connects_proxies,
    covers_space,
    fence_level,
    is_fence,
    is_half_proxy_fence,
    is_relaxed_sync,
    proxy_fence_direction,
    scope_level,
    sync_operation_of,
)

ONE = ConstantExpr(1)
OPCODES = Path(__file__).parents[2] / "corpus" / "compilers" / "opcodes.tsv"


def roles(effect: Effect) -> tuple[bool, bool, bool, int, bool] | None:
    found = sync_operation_of(effect)
    if found is None:
        return None
    return found.releases, found.acquires, found.is_relaxed, found.scope_level, found.is_deferred


def test_a_wider_scope_has_a_higher_level() -> None:
    levels = [scope_level(each) for each in ("cta", "cluster", "gpu", "sys")]
    assert levels == [CTA_LEVEL, CLUSTER_LEVEL, GPU_LEVEL, SYSTEM_LEVEL]
    assert all(narrow < wide for narrow, wide in pairwise(levels))
    assert scope_level(None) == SYSTEM_LEVEL


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        (Barrier("cta", "sync"), (True, True, False, CTA_LEVEL, False)),
        (Barrier("cta", "arrive", order="release"), (True, False, False, CTA_LEVEL, False)),
        (Barrier("warp", "sync"), (True, True, False, CTA_LEVEL, False)),
        (Barrier("warp", "sync", order="relaxed"), None),
        (Barrier("cluster", "arrive", order="relaxed"), (True, False, True, CLUSTER_LEVEL, False)),
        (Barrier("cluster", "wait", order="acquire"), (False, True, False, CLUSTER_LEVEL, False)),
        (MbarrierArrive("bar", ONE), (True, False, False, CTA_LEVEL, False)),
        (MbarrierArrive("bar", ONE, order="relaxed", scope="cluster"), (True, False, True, CLUSTER_LEVEL, False)),
        (MbarrierArrive("bar", ONE, scope="cluster", asynchronous=True), (True, False, False, CLUSTER_LEVEL, True)),
        (MbarrierTrack("bar", counted=False), (True, False, False, CTA_LEVEL, True)),
        (MbarrierWait("bar", "p", "parity", "r", blocking=True), (False, True, False, CTA_LEVEL, False)),
        (
            MbarrierWait("bar", "p", "parity", "r", blocking=True, order="relaxed", scope="cluster"),
            (False, True, True, CLUSTER_LEVEL, False),
        ),
        (MbarrierInit("bar", ONE), None),
        (Access("read", "global", "a", order="acquire", scope="gpu"), None),
    ],
)
def test_barriers_and_mbarriers_release_and_acquire(
    effect: Effect, expected: tuple[bool, bool, bool, int, bool] | None
) -> None:
    assert roles(effect) == expected
    assert is_relaxed_sync(effect) == (expected is not None and expected[2])


def test_only_the_analyzer_treats_a_volatile_access_as_a_release() -> None:
    assert {"volatile", "mmio"} == MAY_RELEASE_ORDERS - RELEASE_ORDERS
    assert RELEASE_ORDERS.isdisjoint({"weak", "relaxed", "acquire"})
    assert ACQUIRE_ORDERS.isdisjoint({"weak", "relaxed", "release"})


def test_a_proxy_fence_is_a_fence_for_queries_of_possible_order() -> None:
    memory, proxy = MemoryFence("acq_rel", "gpu"), ProxyFence("async")
    assert [is_fence(memory, proxy_fences=each) for each in (False, True)] == [True, True]
    assert [is_fence(proxy, proxy_fences=each) for each in (False, True)] == [False, True]


def test_a_narrower_fence_counts_for_queries_that_include_it() -> None:
    fence = MemoryFence("release", "cluster", only="mbarrier.init")
    assert [fence_level(fence, restricted=each) for each in (False, True)] == [None, CLUSTER_LEVEL]
    assert fence_level(MemoryFence("sc", "sys"), restricted=False) == SYSTEM_LEVEL
    assert fence_level(ProxyFence("async", scope="gpu"), restricted=True) is None


@pytest.mark.parametrize(
    ("spaces", "covered"),
    [((), {"shared", "global"}), (("shared::cta",), {"shared"}), (("shared::cluster", "global"), {"shared", "global"})],
)
def test_a_proxy_fence_covers_the_spaces_that_it_names_or_all(spaces: tuple[str, ...], covered: set[str]) -> None:
    assert {each for each in ("shared", "global") if covers_space(spaces, each)} == covered
    fence = ProxyFence("async", spaces)
    assert {each for each in ("shared", "global") if connects_proxies(fence, "async", each)} == covered
    assert not any(connects_proxies(fence, "tensormap", each) for each in ("shared", "global"))


def test_half_a_proxy_fence_has_a_direction() -> None:
    half = ProxyFence("tensormap", direction="release", scope="gpu")
    assert connects_proxies(half, "tensormap", "global", "release")
    assert not connects_proxies(half, "tensormap", "global", "both")
    assert (proxy_fence_direction(half, "tensormap"), proxy_fence_direction(half, "async")) == ("release", None)
    assert proxy_fence_direction(MemoryFence("sc", "sys"), "tensormap") is None
    assert [is_half_proxy_fence(half, each) for each in (None, "tensormap", "async")] == [True, True, False]
    assert not is_half_proxy_fence(ProxyFence("async"))


def test_the_machine_uses_the_orders_and_scopes_of_the_effects() -> None:
    """The analyzer reads effects, the machine the words of a `means` line: two lines of one form."""
    compared, differing = 0, []
    for line in OPCODES.read_text("utf-8").splitlines():
        for match in table().candidates(line.partition("\t")[0]):
            effects = [each for each in match.effects if not isinstance(each, Barrier) or each.level != "warp"]
            for meaning in table().semantics_of(match):
                for word in {"order", "scope", "direction", "proxy"} & meaning.named_arguments.keys():
                    compared += 1
                    value = meaning.named_arguments[word]
                    if value not in {getattr(each, word) for each in effects if hasattr(each, word)}:
                        differing.append((line, meaning.function, word, value))
    assert compared > 800
    assert differing == []
