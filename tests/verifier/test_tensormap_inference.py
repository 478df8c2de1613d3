"""Tensor maps that are chosen: a box of the bytes that are expected, and nothing said where it does not fit."""

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

KERNELS = Path(__file__).resolve().parents[2] / "corpus" / "kernels"


def verified(text: str, **request: object) -> FileResult:
    return verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=2, **request))  # type: ignore[arg-type]


@cache
def chosen_maps(name: str, *kernels: str) -> FileResult:
    """What is found of these kernels of a file, which several tests look at."""
    return verified(text_of(name), entries=kernels)


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
def test_a_box_has_the_bytes_that_are_expected_and_the_kernel_comes_to_its_end(
    name: str, kernel: str, words: str
) -> None:
    result = chosen_maps(name, kernel)
    (run,) = result.runs
    assert run.arguments[0] == f"{kernel}_param_0={words}"
    assert run.whole == 2
    assert result.diagnostics == ()


def test_boxes_that_were_chosen_put_no_cta_in_the_way_of_another() -> None:
    alone = chosen_maps("tensor_copies.sm_90a", "tensor_2d")
    assert alone.runs[0].launch == "grid 1, block 128"  # two would store the same rows
    assert "PTX303" not in {each.code for each in alone.undecided}
    several = chosen_maps("multicast_cluster.sm_90a", "multicast_cluster")
    assert several.runs[0].launch.startswith("grid 4, block 160, cluster 2")


@pytest.mark.parametrize(("kernel", "grids"), [("tensor_4d", [(2,)] * 2), ("tensor_2d", [(2,), (1,), (1,)])])
def test_no_run_shows_again_what_one_has_shown(
    kernel: str, grids: list[tuple[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    launches = []

    def counted(*arguments: Any, **launch: Any) -> RunResult:
        launches.append((launch["grid"], launch["policy"], launch["seed"]))
        return run(*arguments, **launch)

    monkeypatch.setattr("ptxkit.verifier.verify.run", counted)
    result = verified(text_of("tensor_copies.sm_90a"), entries=(kernel,))
    assert result.runs[0].runs == 2
    assert [grid for grid, *_ in launches] == grids
    assert len(set(launches)) == len(launches)


def test_a_wait_for_the_box_that_is_missing_is_found_with_a_map_that_was_chosen() -> None:
    text = re.sub(r"\tmbarrier\.try_wait.*, (%r\d+);", r"\tsetp.ge.u32 P_OUT, \1, 0;", text_of("tensor_copies.sm_90a"))
    found = verified(text, entries=("tensor_3d",))
    assert "PTX302" in {each.code for each in found.diagnostics if "witness" in each.properties}


@pytest.mark.parametrize("name", ["wgmma_tma.sm_90a", "stmatrix_tma_store.sm_90a"])
def test_nothing_is_said_where_boxes_cannot_be_known(name: str) -> None:
    result = verified(text_of(name))
    assert result.status is Status.UNDECIDED
    assert "give --arg" in " ".join(each.reason for each in result.undecided)
