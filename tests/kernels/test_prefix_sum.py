"""Prefix sums: right on the reference machine under each schedule, reproducible, and rejected without a barrier."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxkit.build import BuildValueError, Kernel, UnfinishedError, VerificationError, verify_assembled
from ptxkit.device import ArgumentError
from ptxkit.emulator import RunBudget, RunResult, run
from ptxkit.fast_dataclasses import replace
from ptxkit.kernels import prefix_sum
from ptxkit.kernels.cumulative_sum import CumulativeSum
from ptxkit.kernels.prefix_sum import PrefixSumConfig, prefix_sum_ctas, prefix_sum_state
from ptxkit.syntax.tree import Module
from tests.build.support import assert_ptxas_accepts
from tests.kernels.removal import positions, without

SMALL = PrefixSumConfig(threads=64, vectors=1, group=2, min_ctas=None)
"""Tiles of 256 elements. Four groups are more than a look-back covers."""
COUNT = 7 * SMALL.tile + 77
SCHEDULES = [("eager", 0), ("late", 0), ("torn", 1), *(("random", seed) for seed in range(3))]
DTYPES = {"f32": np.float32, "s32": np.int32}


def draw(config: PrefixSumConfig, count: int) -> Any:
    """Returns small integers, whose sums are exact in any order."""
    return np.random.default_rng(count).integers(-9, 10, count).astype(DTYPES[config.element])


def add_up(config: PrefixSumConfig, source: Any, launches: int = 1, **options: Any) -> Any:
    """Returns the results of the last of several launches on the reference machine."""
    target, state = np.full_like(source, 77), prefix_sum_state(config, len(source))
    kernel = prefix_sum(config)
    for _ in range(launches):
        kernel.emulate(prefix_sum_ctas(config, len(source)), **options)(source, target, *state, len(source))
    return target


@pytest.mark.parametrize(("policy", "seed"), SCHEDULES)
def test_the_look_back_is_right_under_every_schedule(policy: str, seed: int) -> None:
    source = draw(SMALL, COUNT)
    assert np.array_equal(add_up(SMALL, source, policy=policy, seed=seed, seconds=60), np.cumsum(source))


@pytest.mark.parametrize("count", [0, 1, 3, 255, 256, 257, 1024, 1029])
@pytest.mark.parametrize("element", ["f32", "s32"])
@pytest.mark.parametrize("exclusive", [False, True])
def test_every_size_is_added_up(count: int, element: Any, *, exclusive: bool) -> None:
    config = replace(SMALL, element=element, exclusive=exclusive)
    source = draw(config, count)
    sums = np.cumsum(source)
    assert np.array_equal(add_up(config, source), sums - source if exclusive else sums)


def test_tiles_may_look_back_themselves_and_pause() -> None:
    source = draw(SMALL, COUNT)
    for config in (replace(SMALL, relay=False), replace(SMALL, relay=False, pause=20, vectors=3)):
        assert np.array_equal(add_up(config, source, policy="random", seed=1), np.cumsum(source))


def test_nothing_is_cleared_between_launches() -> None:
    source = draw(SMALL, 9 * SMALL.tile)
    assert np.array_equal(add_up(SMALL, source, launches=3, policy="random", seed=2), np.cumsum(source))


def test_integers_wrap_around() -> None:
    config = replace(SMALL, element="s32")
    source = np.full(600, 1 << 30, np.int32)
    with np.errstate(over="ignore"):
        assert np.array_equal(add_up(config, source), np.cumsum(source, dtype=np.int32))


def test_the_order_of_sums_is_the_same_under_every_schedule() -> None:
    source = np.random.default_rng(1).uniform(-1, 1, 6 * SMALL.tile).astype(np.float32)
    bits = {add_up(SMALL, source, policy=policy, seed=seed, seconds=60).tobytes() for policy, seed in SCHEDULES}
    assert len(bits) == 1
    other = add_up(replace(SMALL, group=4), source)
    assert other.tobytes() not in bits
    np.testing.assert_allclose(other, np.cumsum(source, dtype=np.float64), atol=1e-4)


def test_the_order_of_sums_is_that_of_the_docstring() -> None:
    add: Any = functools.partial(functools.reduce, np.add)
    source = np.random.default_rng(3).uniform(-1, 1, 11 * SMALL.tile).astype(np.float32)
    warps = source.reshape(-1, SMALL.threads // 32, 32, 4)
    within = np.add.accumulate(warps, 3)
    lanes = within[..., 3].copy()
    for distance in (1, 2, 4, 8, 16):
        lanes[..., distance:] = lanes[..., :-distance] + lanes[..., distance:]
    lanes_before = np.concatenate([np.zeros_like(lanes[..., :1]), lanes[..., :-1]], -1)
    sums_of_warps = lanes[..., -1]
    tiles = np.add.accumulate(sums_of_warps, 1)[:, -1]
    expected, groups = [], np.float32(0)
    for tile, whole in enumerate(tiles):
        place = tile % SMALL.group
        values = np.zeros(32, np.float32)
        values[:place] = tiles[tile - place : tile]
        for distance in (16, 8, 4, 2, 1):
            values = values + values[np.arange(32) ^ distance]
        for warp in range(warps.shape[1]):
            start = groups + values[0] + add(sums_of_warps[tile, :warp], np.float32(0))
            expected.append(start + (lanes_before[tile, warp][:, None] + within[tile, warp]))
        if place == SMALL.group - 1:
            groups = groups + (values[0] + whole)
    assert np.array_equal(add_up(SMALL, source), np.concatenate(expected).ravel())


def test_ptxas_accepts_every_variant(tmp_path: Path) -> None:
    for config in (PrefixSumConfig(), PrefixSumConfig("s32", exclusive=True), SMALL):
        assert_ptxas_accepts(str(prefix_sum(config)), tmp_path)


def test_only_the_order_with_the_copy_of_the_tile_is_not_proven() -> None:
    for config in (SMALL, PrefixSumConfig(), PrefixSumConfig("s32", exclusive=True)):
        verdict = prefix_sum(config).verify()
        assert verdict.diagnostics == ()
        [question] = verdict.undecided
        assert question.code == "PTX621"
        assert question.source.text[question.span.start :].startswith("cp.async.bulk.shared::cluster.global")


def run_changed(module: Module, kernel: Kernel, policy: str = "eager") -> RunResult:
    source = draw(SMALL, 9 * SMALL.tile + 5)
    arguments = [source, np.zeros_like(source), *prefix_sum_state(SMALL, len(source)), np.uint64(len(source))]
    grid = prefix_sum_ctas(SMALL, len(source))
    return run(
        module,
        kernel.name,
        grid=grid,
        arguments=arguments,
        policy=policy,
        shared=kernel.dynamic_bytes,
        budget=RunBudget(seconds=20),
    )


SYNCHRONIZATION = ("bar.sync", "mbarrier.init", "mbarrier.arrive", "mbarrier.try_wait", "vote.sync.all")


def test_each_barrier_and_wait_is_needed() -> None:
    kernel = prefix_sum(SMALL)
    places = [place for opcode in SYNCHRONIZATION for place in positions(kernel, opcode)]
    assert len(places) == 7
    assert run_changed(kernel.module(), kernel).is_clean
    for place in places:
        assert not run_changed(without(kernel, place).module, kernel).is_clean


def codes_without(kernel: Kernel, place: int) -> set[str]:
    """Returns the codes of errors, or else of open questions, of a kernel without one instruction."""
    try:
        return {each.code for each in verify_assembled(without(kernel, place), kernel.name).undecided}
    except VerificationError as error:
        return {each.code for each in error.diagnostics}


@pytest.mark.parametrize(
    ("opcode", "code"), [("bar.sync", "PTX621"), ("mbarrier.init", "PTX501"), ("vote.sync.all", "PTX652")]
)
def test_lint_leaves_no_missing_barrier_unnoticed(opcode: str, code: str) -> None:
    kernel = prefix_sum(SMALL)
    places = positions(kernel, opcode)
    assert places
    assert all(code in codes_without(kernel, place) for place in places)


def test_a_wait_for_a_sum_that_is_never_published_does_not_end() -> None:
    kernel, source = prefix_sum(SMALL), draw(SMALL, 2 * SMALL.tile)
    ticket, *words = prefix_sum_state(SMALL, len(source))
    with pytest.raises(UnfinishedError, match="livelock"):  # the first tile has no CTA
        kernel.emulate(1)(source, np.zeros_like(source), ticket + np.uint64(1), *words, len(source))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"element": "f64"}, "element is f32 or s32, not 'f64'"),
        ({"threads": 32}, "at least 64 threads, in whole warps, not 32"),
        ({"vectors": 0}, "at least one vector, not 0"),
        ({"group": 24}, "1, 2, 4, 8, 16 or 32 tiles, one for each lane, not 24"),
    ],
)
def test_impossible_variants_are_rejected(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BuildValueError, match=message):
        prefix_sum(replace(SMALL, **changes))


def test_a_plan_is_for_one_size() -> None:
    plan = CumulativeSum(100)
    assert plan.grid == 1
    with pytest.raises(ArgumentError, match="target has 100 elements, not 101"):
        plan(np.zeros(100, np.float32), np.zeros(101, np.float32))
