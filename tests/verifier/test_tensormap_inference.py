"""Inferred tensor maps: a box of the expected bytes, and no findings where it does not fit."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ptxkit.emulator import RunResult, run
from ptxkit.results import FileResult, Status
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, verify_source
from ptxkit.verifier.argument_choice import CONTENTS, SCHEDULES
from ptxkit.verifier.integer_guesses import INITIAL_INTEGERS
from ptxkit.verifier.launch_inference import LaunchPlan
from ptxkit.verifier.limits import LARGE_GRID_PERIOD

KERNELS = Path(__file__).resolve().parents[2] / "corpus" / "kernels"


def verify_text(text: str, **request: object) -> FileResult:
    return verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=2, **request))  # type: ignore[arg-type]


@cache
def chosen_maps(name: str, *kernels: str) -> FileResult:
    """Returns the findings of these kernels of a file, which several tests check."""
    return verify_text(text_of(name), entries=kernels)


def text_of(name: str) -> str:
    return (KERNELS / f"{name}.ptx").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "kernel", "words"),
    [
        ("tensor_copies.sm_90a", "tensor_2d", "f16 256x128 in boxes of 64x32"),
        ("tensor_copies.sm_90a", "tensor_4d", "f16 256x128x1x1 in boxes of 64x32x1x1"),
        ("im2col_copies.sm_90a", "im2col_3d", "f16 128x32x4, 32 pixels of 64 channels"),
        ("multicast_cluster.sm_90a", "multicast_cluster", "f16 256x256 in boxes of 64x64"),
    ],
)
def test_a_box_has_the_expected_bytes_and_the_kernel_terminates(name: str, kernel: str, words: str) -> None:
    result = chosen_maps(name, kernel)
    (run,) = result.runs
    assert run.arguments[0] == f"{kernel}_param_0={words}"
    assert run.whole == 2
    assert result.diagnostics == ()


def test_inferred_boxes_of_different_ctas_do_not_overlap() -> None:
    alone = chosen_maps("tensor_copies.sm_90a", "tensor_2d")
    assert alone.runs[0].launch == "grid 1, block 128"  # two would store the same rows
    assert "PTX303" not in {each.code for each in alone.undecided}
    several = chosen_maps("multicast_cluster.sm_90a", "multicast_cluster")
    assert several.runs[0].launch.startswith("grid 4 or 2, block 160, cluster 2")


@pytest.mark.parametrize(("kernel", "grids"), [("tensor_4d", [(2,), (1,)]), ("tensor_2d", [(2,), (1,), (1,)])])
def test_no_run_repeats_an_earlier_one(kernel: str, grids: list[tuple[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    launches = []

    def count_calls(*arguments: Any, **launch: Any) -> RunResult:
        launches.append((launch["grid"], launch["policy"], launch["seed"]))
        return run(*arguments, **launch)

    monkeypatch.setattr("ptxkit.verifier.run_session.run", count_calls)
    result = verify_text(text_of("tensor_copies.sm_90a"), entries=(kernel,))
    assert result.runs[0].runs == 2
    assert [grid for grid, *_ in launches] == grids
    assert len(set(launches)) == len(launches)


def test_few_runs_have_the_large_grid_and_these_combine_all_policies_contents_and_integers() -> None:
    plan = LaunchPlan((4,), (32,), (2,), 0, is_specified=True, other_grid=(2,))
    large = [number for number in range(LARGE_GRID_PERIOD * 36) if plan.of_run(number).grid == (4,)]
    assert large[:3] == [0, LARGE_GRID_PERIOD, 2 * LARGE_GRID_PERIOD]
    assert {plan.of_run(number).grid for number in range(LARGE_GRID_PERIOD)} == {(4,), (2,)}
    for choices in (SCHEDULES, CONTENTS, INITIAL_INTEGERS):
        assert {number % len(choices) for number in large} == {*range(len(choices))}
    same = LaunchPlan((4,), (32,), (2,), 0, is_specified=True)
    assert {same.of_run(number).grid for number in range(9)} == {(4,)}


@pytest.mark.parametrize(
    ("condition", "grid"),
    [
        ("mov.u32 %r1, %ctaid.x;\n\tsetp.ge.u32 %p1, %r1, 2;", [4]),  # the second cluster only
        ("ld.param.u32 %r1, [multicast_cluster_param_2];\n\tsetp.eq.u32 %p1, %r1, 64;", [2]),  # the second run only
    ],
)
def test_a_fault_is_found_with_either_grid_and_its_witness_names_it(condition: str, grid: list[int]) -> None:
    before, end, after = text_of("multicast_cluster.sm_90a").rpartition("\tret;")
    race = "\tmov.u32 %r3, _ZZ17multicast_clusterE4ring;\n\t@%p1 st.shared.u32 [%r3], %r2;\n"
    result = verify_text(f"{before}\t{condition}\n{race}{end}{after}")
    found = [each for each in result.diagnostics if each.code == "PTX621"]
    assert [each.properties["witness"]["grid"] for each in found] == [grid]  # type: ignore[index]
    assert f"grid {grid[0]}, block 160" in "".join(found[0].notes)


def test_a_wait_for_a_missing_box_is_found_with_an_inferred_map() -> None:
    text = re.sub(r"\tmbarrier\.try_wait.*, (%r\d+);", r"\tsetp.ge.u32 P_OUT, \1, 0;", text_of("tensor_copies.sm_90a"))
    found = verify_text(text, entries=("tensor_3d",))
    assert "PTX302" in {each.code for each in found.diagnostics if "witness" in each.properties}


@pytest.mark.parametrize("name", ["wgmma_tma.sm_90a", "stmatrix_tma_store.sm_90a"])
def test_nothing_is_reported_where_boxes_are_guessed_and_most_of_the_kernel_runs(name: str) -> None:
    result = verify_text(text_of(name))
    assert result.diagnostics == ()
    (run_,) = result.runs
    assert run_.whole == 2
    assert run_.reached > 0.9 * run_.instructions


def test_inferred_memory_need_not_contain_the_maps_that_a_kernel_reads_from_it() -> None:
    result = verify_text(text_of("hand_tensor_maps.sm_90a"))  # all its parameters are pointers
    assert result.status is Status.UNDECIDED
    assert any("there is no tensor map" in each.reason for each in result.undecided)
