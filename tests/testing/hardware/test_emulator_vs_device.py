"""The project's kernels on two sides: the launches, and the report of outputs that differ.

A GPU: `scripts/device_same`.
"""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.emulator import RunResult, TensorMapArgument
from ptxkit.testing.hardware.emulator_soak import find_subject, small_cases, task_names
from ptxkit.testing.hardware.emulator_vs_device import (
    ComparedLaunch,
    compare_outputs,
    compared_launches,
    spread_evenly,
    unspecified_bits,
)

VALUES = np.linspace(0.5, 8, 16, dtype=np.float32)


def pair(open_: str = "", **more: object) -> ComparedLaunch:
    return ComparedLaunch("k", "16", "", DeviceLaunch("k", 1, 32, (VALUES,)), open_, **more)  # type: ignore[arg-type]


def outcome(array: np.ndarray) -> RunResult:  # type: ignore[type-arg]
    return RunResult(outputs={0: array})


def change_value(by: float, at: int = 5) -> np.ndarray:  # type: ignore[type-arg]
    found = VALUES.copy()
    found[at] += by
    return found


def test_equal_bits_are_equal_whatever_may_differ() -> None:
    assert compare_outputs(pair(), outcome(VALUES), {0: VALUES.copy()}).kind == "equal"
    assert compare_outputs(pair("sums"), outcome(VALUES), {0: VALUES.copy()}).kind == "equal"


def test_one_bit_is_a_difference_where_the_manual_fixes_all() -> None:
    found = compare_outputs(pair(), outcome(VALUES), {0: np.nextafter(VALUES, np.float32(9))})
    assert found.kind == "different"
    assert (
        "argument 0: 16 of 16 elements differ, the first at 0: 0x3f000000 on the machine, 0x3f000001"
        in found.description
    )
    negative = compare_outputs(pair(), outcome(np.zeros(4, np.float32)), {0: -np.zeros(4, np.float32)})
    assert negative.kind == "different"  # zeros of two signs


def test_open_bits_may_differ_within_bounds_and_not_beyond() -> None:
    near = compare_outputs(pair("sums"), outcome(VALUES), {0: change_value(6e-5)})
    assert near.kind == "in bounds"
    assert near.is_right
    assert 0.4 < near.bound_fraction < 0.6
    assert compare_outputs(pair("sums"), outcome(VALUES), {0: change_value(2e-4)}).kind == "different"
    assert compare_outputs(pair("sums", tolerance=1e-4), outcome(VALUES), {0: change_value(2e-4)}).kind == "in bounds"
    assert compare_outputs(pair("sums"), outcome(VALUES), {0: change_value(np.nan)}).kind == "different"


def test_numbers_that_numpy_does_not_support_are_compared_as_their_types() -> None:
    mine, theirs = np.full(4, 0x3F80, np.uint16), np.full(4, 0x3F81, np.uint16)
    assert compare_outputs(pair("sums"), outcome(mine), {0: theirs}).kind == "different"
    assert compare_outputs(pair("sums", elements={0: "bf16"}), outcome(mine), {0: theirs}).kind == "in bounds"
    assert compare_outputs(pair("sums", elements={0: "bf16"}), outcome(mine), {0: theirs + 9}).kind == "different"


def test_tensor_maps_in_memory_have_separate_bytes_and_their_neighbors_do_not() -> None:
    octets = np.frombuffer(TensorMapArgument.tiled(VALUES, box=(16,)).fields.encode(), np.uint8)
    mine = np.concatenate([octets, np.zeros(128, np.uint8)])
    theirs = mine.copy()
    theirs[:128] ^= 0x5A
    assert compare_outputs(pair(), outcome(mine), {0: theirs}).kind == "equal"
    theirs[200] = 1
    assert compare_outputs(pair(), outcome(mine), {0: theirs}).kind == "different"


def test_a_failed_run_is_not_an_agreement() -> None:
    assert compare_outputs(pair(), RunResult(incomplete_reason="too long"), {0: VALUES}).kind == "refused"
    failed = compare_outputs(pair(), outcome(VALUES), "hangs: no end within 20 s")
    assert (failed.kind, failed.is_right, failed.description) == ("failed", False, "hangs: no end within 20 s")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("builder/row_softmax", "approximate functions (ex2.approx.ftz.f32)"),
        ("builder/reduction", ""),  # its sums have one order
        ("builder/cluster_histogram", ""),  # atomics of integers
        ("corpus/kernels/tensor_reduce.sm_90a", "sums by atomics (cp.reduce.async.bulk.tensor"),
        ("corpus/kernels/wgmma_tma.sm_90a", "sums of tensor cores (wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"),
    ],
)
def test_bits_are_open_where_an_instruction_leaves_them_open(name: str, reason: str) -> None:
    printed = unspecified_bits(compared_launches(name, 1)[0].text)
    assert reason in printed
    assert bool(printed) == bool(reason)


def test_sums_of_integers_are_exact_so_their_bits_are_fixed() -> None:
    first, second = compared_launches("corpus/kernels/wgmma_tma.sm_90a")
    assert first.open_bits
    assert not second.open_bits
    arrays = [getattr(each, "array", each) for each in second.launch.arguments]
    floats = [each for each in arrays if isinstance(each, np.ndarray) and each.dtype.kind == "f"]
    assert floats
    assert all(np.array_equal(each, np.rint(each)) for each in floats)


def test_every_subject_has_launches_and_the_same_each_time() -> None:
    for name in ("builder/transpose", "corpus/seeds/launch_sized.sm_80", "corpus/kernels/tensormap_replace.sm_90a"):
        assert name in task_names()
        first, again = compared_launches(name, 3), compared_launches(name, 3)
        assert [each.size for each in first] == [each.size for each in again] != []
        one, other = (each[0].emulate() for each in (first, again))
        assert one.is_clean
        assert all(np.array_equal(one.outputs[at], other.outputs[at]) for at in one.outputs)


def test_of_many_cases_the_largest_and_the_smallest_are_selected() -> None:
    subject = find_subject("builder/async_copy")
    assert subject is not None
    cases = small_cases(subject)
    chosen = spread_evenly(cases, 3)
    assert (chosen[0], chosen[-1], len(chosen)) == (cases[0], cases[-1], 3)
    assert spread_evenly(cases[:2], 3) == cases[:2]


def test_each_array_of_a_table_is_compared() -> None:
    mine = RunResult(outputs={0: [VALUES, VALUES]})
    assert compare_outputs(pair(), mine, {0: [VALUES.copy(), VALUES.copy()]}).kind == "equal"
    assert compare_outputs(pair(), mine, {0: [change_value(1), VALUES.copy()]}).kind == "different"
