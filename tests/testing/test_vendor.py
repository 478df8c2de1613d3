"""Minimal kernels that ptxas compiles differently from the manual: they assemble, and the machine is correct."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptxkit import lint
from ptxkit.emulator import run
from ptxkit.testing.oracles.ptxas import installed_ptxas

VENDOR = Path(__file__).parents[2] / "corpus" / "vendor"
CASES = sorted(VENDOR.glob("*/*.ptx"))
THREADS = 32
EVEN = np.arange(THREADS) % 2 == 0

Words = np.ndarray


def execute_kernel(name: str, entry: str, words: Words) -> Words:
    text = (VENDOR / f"{name}.ptx").read_text()
    found = run(text, entry, grid=1, block=THREADS, arguments=[words, np.zeros(THREADS, np.uint64)])
    assert found.is_clean, found
    output: Words = found.outputs[1]
    return output


def some_words() -> Words:
    return np.random.default_rng(7).integers(0, 1 << 63, THREADS, dtype=np.uint64)


def upper(words: Words) -> Words:
    return words >> np.uint64(32)


def test_each_case_is_described_in_the_readme() -> None:
    assert len(CASES) >= 9
    readme = (VENDOR / "README.md").read_text()
    assert [each for each in CASES if f"`{each.relative_to(VENDOR)}`" not in readme] == []


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_rules_find_nothing_in_them(path: Path) -> None:
    assert not lint(path.read_text(), path=str(path)).diagnostics


@pytest.mark.skipif(not installed_ptxas(), reason="ptxas is not installed")
def test_every_ptxas_accepts_them() -> None:
    texts = [each.read_text() for each in CASES]
    for ptxas in installed_ptxas():
        assert ptxas.refusals(texts, "sm_90a") == {}


@pytest.mark.parametrize(("name", "entry"), [("set_of_16_bits", "set_of_16_bits"), ("testp", "testp_")])
def test_a_thread_whose_guard_is_false_keeps_its_value(name: str, entry: str) -> None:
    words = some_words()
    held = upper(words) if name == "set_of_16_bits" else upper(words) & np.uint64(1)
    made = execute_kernel(f"lost_guards/{name}", entry, words)
    assert np.array_equal(made[EVEN], held[EVEN])
    assert not np.array_equal(made[~EVEN], held[~EVEN])


def test_a_shift_uses_the_bits_of_a_floating_point_result() -> None:
    words = some_words()
    words[:4] = np.array([1 << 63 | 12345, (1 << 31 | 5) << 32 | 7, 0, 3 << 32], np.uint64)
    amounts = upper(words) ^ np.uint64(1 << 31)
    expected = [int(word) >> min(int(amount), 64) for word, amount in zip(words, amounts, strict=True)]
    assert np.array_equal(execute_kernel("converted_amounts/shift", "shift", words), np.array(expected, np.uint64))
    assert expected[0] == 1 << 63 | 12345  # of minus zero, negated: no shift
    assert expected[1] == int(words[1]) >> 5  # the smallest numbers have small bits
    assert expected[4] == 0


def test_a_nan_is_a_large_number_of_64_bits_before_it_is_saturated() -> None:
    halves = [0x7FFF, 0xFFC0, 0x7F80, 0xFF80, 0x3FC0, 0xBF80]  # NaNs, infinities, 1.5, -1
    words = np.resize(np.array(halves, np.uint64), THREADS)
    most = 0xFFFFFFFF
    expected = np.resize(np.array([most, most, most, 0, 2, 0], np.uint64), THREADS)
    assert np.array_equal(execute_kernel("joined_conversions/saturated", "saturated", words), expected)


def test_the_absolute_value_of_halves_has_no_sign_in_either() -> None:
    words = np.full(THREADS, np.float32(0.3).view(np.uint32) | 0x8000, np.uint64)  # the other half is 0.0
    assert np.array_equal(execute_kernel("saturated_halves/absolute", "absolute", words), words & np.uint64(0x7FFF7FFF))
    assert (words & np.uint64(0x8000)).all()


def test_a_branch_without_results_changes_no_load_and_no_store_outside_of_it() -> None:
    words = np.where(EVEN, some_words() >> np.uint64(40), 0).astype(np.uint64)
    assert np.array_equal(execute_kernel("lost_descriptors/acquire", "acquire", words), words)


@pytest.mark.parametrize("policy", ["eager", "late", "random"])
def test_an_elected_lane_copies_once_after_its_wait(policy: str) -> None:
    arguments = [np.arange(128, dtype=np.uint32), np.zeros(THREADS, np.uint32)]
    text = (VENDOR / "elected_copies" / "copy.ptx").read_text()
    found = run(text, "copy", grid=1, block=64, arguments=arguments, policy=policy)
    assert found.is_clean, found
    assert found.outputs[1].tolist() == [1] * THREADS


def test_the_first_thread_starts_each_of_its_copies_once() -> None:
    arguments = [np.arange(320, dtype=np.uint32), np.zeros(128, np.uint32)]
    text = (VENDOR / "warp_wide_predicates" / "pipeline.ptx").read_text()
    found = run(text, "kernel", grid=2, block=64, cluster=2, arguments=arguments)
    assert found.is_clean, found


def test_a_remainder_does_not_depend_on_the_predicate_of_its_divisor() -> None:
    words = some_words()
    left, right = words & np.uint64(0xFFFFFFFF), upper(words)
    divisor = combine_words(left, right)
    assert divisor.all()
    made = execute_kernel("divisors_of_lop3/remainder", "remainder", words)
    assert np.array_equal(made & np.uint64(0xFFFFFFFF), right % divisor)
    assert np.array_equal(upper(made), (~EVEN).astype(np.uint64))


def combine_words(a: Words, b: Words) -> Words:
    """`lop3` of (a, b, a) with the table 38: bit 4 a + 2 b + a of it."""
    made = np.zeros(THREADS, np.uint64)
    for bit in range(32):
        place = np.uint64(bit)
        row = (a >> place & np.uint64(1)) * np.uint64(5) + (b >> place & np.uint64(1)) * np.uint64(2)
        made |= (np.uint64(38) >> row & np.uint64(1)) << place
    return made
