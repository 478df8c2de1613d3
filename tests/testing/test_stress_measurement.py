"""The measurement of stress runs, with the reference machine in the place of the GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ptxkit.device import Cubin
from ptxkit.fast_dataclasses import replace
from ptxkit.stress.machine_backend import MachineBackend
from ptxkit.stress.stress_session import StressEffort
from ptxkit.testing.corpus.launch_table import LAUNCHES_FILE
from ptxkit.testing.mutation import equivalent_mutants
from ptxkit.testing.mutation.campaign import load_kernels
from ptxkit.testing.mutation.stress_measurement import (
    METHODS,
    PLAIN,
    STRESS,
    MeasuredKernel,
    MeasuredMutant,
    measured_kernels,
    sample_evenly,
    show_by_runs,
    show_by_tool,
    table_lines,
    with_expected_outputs,
)

EFFORT = StressEffort(seconds=60, runs=24, minimize_seconds=0)
FILE = next(each for each in load_kernels([LAUNCHES_FILE.parent]) if each.name.startswith("hand_double_buffer"))


def known_kernel() -> MeasuredKernel:
    explanations = equivalent_mutants.load_explanations(LAUNCHES_FILE.parent / "equivalent.toml")
    (kernel,) = measured_kernels(FILE, explanations, 1)
    known, reference = with_expected_outputs(kernel, MachineBackend())
    assert reference == "the reference machine"
    return known


def test_stress_shows_a_fault_that_plain_runs_do_not_show() -> None:
    kernel = known_kernel()
    mutant = next(each for each in kernel.mutants if each.family == "delete-barrier")
    subject = kernel.with_fault(mutant, FILE.text)
    assert show_by_runs(subject, PLAIN, MachineBackend(), EFFORT) == ""
    assert "argument 1" in show_by_runs(subject, STRESS, MachineBackend(), EFFORT)
    assert show_by_runs(kernel.subject, STRESS, MachineBackend(), EFFORT) == ""


def test_no_harmless_and_no_explained_change_is_known_kernel() -> None:
    assert all(each.rules for each in known_kernel().mutants)


def test_a_sample_has_its_number_of_mutants() -> None:
    kernel = known_kernel()
    twice = [kernel, replace(kernel, name="other")]
    assert sum(len(each.mutants) for each in sample_evenly(twice, 5, 0)) == 5
    assert sample_evenly(twice, 0, 0) == twice


def test_the_table_counts_mutants_by_family_and_tools_together() -> None:
    mutant = known_kernel().mutants[0]
    results = [
        MeasuredMutant(mutant, METHODS, {PLAIN: "x", "memcheck": "y"}),
        MeasuredMutant(mutant, METHODS, {"racecheck": "z"}),
    ]
    *_, own, total = table_lines(results, METHODS)
    assert own.split() == [mutant.family, "2", "1", "0", "1", "1", "0", "2"]
    assert total.split() == ["all", "2", "1", "0", "1", "1", "0", "2"]


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (
            ("COMPUTE-SANITIZER", "Error: Race reported between Write and Read", "RACECHECK SUMMARY: 1 hazard"),
            "Race reported between Write and Read",
        ),
        (
            ("COMPUTE-SANITIZER", "Invalid __shared__ read of size 4 bytes", "    at k+0x30"),
            "Invalid __shared__ read of size 4 bytes",
        ),
        (("COMPUTE-SANITIZER", "Target application returned an error", "ERROR SUMMARY: 0 errors"), ""),
        (("Program hit CUDA_ERROR_INVALID_VALUE", "    Saved host backtrace", "ERROR SUMMARY: 0 errors"), ""),
    ],
)
def test_the_first_error_of_a_tool_is_shown_and_no_failure_of_the_program(
    tmp_path: Path, lines: tuple[str, ...], shown: str
) -> None:
    tool = tmp_path / "tool"
    printed = "".join(f"echo '========= {each}'\n" for each in lines)
    tool.write_text(f"#!/bin/sh\n{printed}exit 1\n")
    tool.chmod(0o755)
    launch = known_kernel().subject.launch
    assert show_by_tool("racecheck", str(tool), Cubin(b"", "sm_90a", (), ""), launch, 1.0) == shown


def test_the_script_measures_without_a_gpu(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    script = LAUNCHES_FILE.parents[2] / "scripts" / "stress"
    options = ["--on", "machine", "--kernel", "hand_double", "--methods", "plain,stress", "--count", "3"]
    options += ["--runs", "16", "--seconds", "600", "--correct", "16", "--jobs", "1", "--json", str(results)]
    done = subprocess.run([sys.executable, str(script), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "0 of 1 correct kernels reported in 14 runs" in done.stdout
    assert done.stdout.splitlines()[-1].split()[:2] == ["all", "3"]
    assert len([json.loads(each)["family"] for each in results.read_text().splitlines()]) == 3
