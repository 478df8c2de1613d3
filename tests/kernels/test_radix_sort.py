"""The radix sort: right and stable on the reference machine, and rejected or found wrong without a barrier."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxkit.build import BuildValueError, Kernel
from ptxkit.device import ArgumentError
from ptxkit.emulator import RunBudget, RunResult, run
from ptxkit.fast_dataclasses import replace
from ptxkit.kernels import radix_histogram, radix_pass, radix_starts
from ptxkit.kernels.radix_config import DIGIT_BITS, DIGITS, PASSES, RadixConfig
from ptxkit.kernels.radix_pass import radix_pass_ctas, radix_pass_state
from ptxkit.kernels.radix_sort import RadixSort
from ptxkit.syntax.tree import Module
from tests.build.support import assert_ptxas_accepts
from tests.kernels.removal import positions, without

SMALL = RadixConfig(items=1, group=2)
DTYPES = {"u32": np.uint32, "s32": np.int32, "f32": np.float32}
SCHEDULES = [("eager", 0), ("late", 0), ("torn", 1), *(("random", seed) for seed in range(3))]


def draw(element: str, count: int, spread: int = 1 << 32) -> Any:
    return np.random.default_rng(count).integers(0, spread, count, dtype=np.uint32).view(DTYPES[element])


def order_of(keys: Any) -> Any:
    """Returns unsigned numbers in whose order the keys are sorted: by sign and magnitude for fp32, also for NaN."""
    bits = keys.view(np.uint32)
    sign = np.uint32(1 << 31)
    return {"u": bits, "i": bits ^ sign, "f": np.where(bits >> 31, ~bits, bits ^ sign)}[keys.dtype.kind]


def starts_of(keys: Any) -> Any:
    """Returns the number of keys with smaller digits, for each digit of each pass."""
    digits = order_of(keys)[None] >> (np.arange(PASSES, dtype=np.uint32) * DIGIT_BITS)[:, None] & (DIGITS - 1)
    counts = np.stack([np.bincount(each, minlength=DIGITS) for each in digits])
    return (counts.cumsum(1) - counts).astype(np.uint32).ravel()


def sort_by_digit(config: RadixConfig, keys: Any, shift: int, launches: int = 1, **options: Any) -> Any:
    """Returns the result of the last of several launches of a pass on the reference machine."""
    target, state = np.zeros_like(keys), radix_pass_state(config, len(keys))
    run_pass = radix_pass(config).emulate(radix_pass_ctas(config, len(keys)), **options)
    for _ in range(launches):
        run_pass(keys, target, starts_of(keys), *state, shift, len(keys))
    return target


def expect(keys: Any, shift: int) -> Any:
    return keys[np.argsort(order_of(keys) >> shift & (DIGITS - 1), kind="stable")]


def same_bits(left: Any, right: Any) -> bool:
    return np.array_equal(left.view(np.uint32), right.view(np.uint32))


@pytest.mark.parametrize(("policy", "seed"), SCHEDULES)
def test_a_pass_is_right_under_every_schedule(policy: str, seed: int) -> None:
    keys = draw("u32", 7 * SMALL.tile + 9)
    assert same_bits(sort_by_digit(SMALL, keys, 8, policy=policy, seed=seed, seconds=60), expect(keys, 8))


@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("count", [1, 255, 256, 257, 1100])
def test_every_size_and_type_is_sorted_stably(element: Any, count: int) -> None:
    config = replace(SMALL, element=element, items=2)
    for keys in (draw(element, count), draw(element, count, spread=600)):
        assert same_bits(sort_by_digit(config, keys, 24), expect(keys, 24))
        assert same_bits(sort_by_digit(config, keys, 0), expect(keys, 0))


def test_nothing_is_cleared_between_launches() -> None:
    keys = draw("u32", 5 * SMALL.tile)
    assert same_bits(sort_by_digit(SMALL, keys, 16, launches=3, policy="random", seed=1), expect(keys, 16))


@pytest.mark.parametrize("element", DTYPES)
def test_keys_are_sorted_by_four_passes(element: Any) -> None:
    config = replace(SMALL, element=element, items=2)
    keys = draw(element, 700)
    counts, starts = np.zeros((2, PASSES * DIGITS), np.uint32)
    radix_histogram(element).emulate(2)(keys, counts, len(keys))
    radix_starts().emulate(PASSES)(counts, starts)
    assert not counts.any()
    assert np.array_equal(starts, starts_of(keys))
    found = keys
    for number in range(PASSES):
        found = sort_by_digit(config, found, number * DIGIT_BITS)
    assert same_bits(found, keys[np.argsort(order_of(keys))])


@pytest.mark.parametrize(("count", "grid"), [(1, 1), (1023, 3), (4099, 2)])
def test_each_key_is_counted_once(count: int, grid: int) -> None:
    keys, counts = draw("u32", count), np.zeros(PASSES * DIGITS, np.uint32)
    radix_histogram().emulate(grid, policy="random", seed=1)(keys, counts, count)
    for number, found in enumerate(counts.reshape(PASSES, DIGITS)):
        assert np.array_equal(found, np.bincount(keys >> number * DIGIT_BITS & (DIGITS - 1), minlength=DIGITS))


def test_the_histogram_is_proven_and_the_pass_has_open_questions_about_data() -> None:
    for kernel in (radix_histogram(), radix_histogram("f32"), radix_starts()):
        verdict = kernel.verify()
        assert (verdict.diagnostics, verdict.undecided) == ((), ())
    verdict = radix_pass(SMALL).verify()
    assert verdict.diagnostics == ()
    assert {each.code for each in verdict.undecided} <= {"PTX621", "PTX207"}


def test_ptxas_accepts_them(tmp_path: Path) -> None:
    for kernel in (radix_histogram("s32"), radix_starts(), radix_pass(), radix_pass(RadixConfig("f32", threads=512))):
        assert_ptxas_accepts(str(kernel), tmp_path)


def run_changed(module: Module, kernel: Kernel, config: RadixConfig) -> RunResult:
    keys = draw("u32", 3 * config.tile + 5)
    arguments = [keys, np.zeros_like(keys), starts_of(keys), *radix_pass_state(config, len(keys))]
    return run(
        module,
        kernel.name,
        grid=radix_pass_ctas(config, len(keys)),
        arguments=[*arguments, np.uint32(8), np.uint32(len(keys))],
        policy="eager",
        shared=kernel.dynamic_bytes,
        budget=RunBudget(seconds=20),
    )


def test_the_machine_reports_each_missing_barrier_of_a_pass() -> None:
    config = replace(SMALL, items=2)
    kernel = radix_pass(config)
    assert run_changed(kernel.module(), kernel, config).is_clean
    places = positions(kernel, "bar.")
    assert len(places) == 8  # five of the CTA, and three of a warp with two rows
    for place in places:
        found = run_changed(without(kernel, place).module, kernel, config)
        assert {each.code for each in found.findings} == {"PTX621"}


def test_the_machine_reports_each_missing_barrier_of_the_histogram() -> None:
    kernel, keys = radix_histogram(), draw("u32", 2000)
    places = positions(kernel, "bar.")
    assert len(places) == 2
    for place in places:
        arguments = [keys, np.zeros(PASSES * DIGITS, np.uint32), np.uint32(len(keys))]
        found = run(without(kernel, place).module, kernel.name, grid=2, arguments=arguments)
        assert {each.code for each in found.findings} == {"PTX621"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"element": "f64"}, "keys are u32 or s32 or f32, not 'f64'"),
        ({"threads": 128}, "a thread for each of 256 digits, not 128 threads"),
        ({"items": 0}, "at least one key, not 0"),
        ({"group": 6}, "a power of two, at least 2, not 6"),
    ],
)
def test_impossible_variants_are_rejected(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BuildValueError, match=message):
        radix_pass(replace(SMALL, **changes))


def test_a_plan_is_for_one_size() -> None:
    with pytest.raises(ArgumentError, match="source has 100 keys, not 99"):
        RadixSort(100)(np.zeros(99, np.uint32), np.zeros(100, np.uint32))
