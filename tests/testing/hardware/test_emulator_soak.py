"""Correct kernels with repeated runs: few here, a hundred each by `scripts/soak_emulator`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.kernels.kernel_cases import CHECKED_KERNELS
from ptxkit.kernels.kernel_check import CheckedKernel
from ptxkit.kernels.seeds.seed_cases import CHECKED_SEEDS
from ptxkit.testing.hardware.emulator_soak import CORPUS, run_file, run_subject, small_cases, task_names

FEW = 8


def test_every_kernel_has_a_name() -> None:
    names = set(task_names())
    assert len(names) == len(task_names())
    files = [*(CORPUS / "kernels").glob("*.ptx"), *(CORPUS / "seeds").glob("*.ptx")]
    assert {f"corpus/{each.parent.name}/{each.stem}" for each in files} <= names
    assert {f"builder/{each.build.__name__}" for each in (*CHECKED_KERNELS, *CHECKED_SEEDS)} <= names


@pytest.mark.parametrize("subject", [*CHECKED_KERNELS, *CHECKED_SEEDS], ids=lambda subject: subject.build.__name__)
def test_every_kernel_of_the_builder_has_fast_cases(subject: CheckedKernel) -> None:
    assert small_cases(subject)


@pytest.mark.parametrize(
    "name", ["builder/bulk_both_ways", "builder/split_barrier", "corpus/kernels/bulk_add_one.sm_90"]
)
def test_a_correct_kernel_is_clean_in_every_run(name: str) -> None:
    for tally in run_subject(name, FEW):
        assert tally.is_clean, tally.messages
        assert tally.runs == FEW


def test_a_kernel_that_lacks_a_wait_is_reported(tmp_path: Path) -> None:
    text = (CORPUS / "seeds" / "group_copy.sm_80.ptx").read_text("utf-8")
    broken = tmp_path / "group_copy.sm_80.ptx"
    broken.write_text(text.replace("cp.async.wait_all;", "").replace("cp.async.wait_group 0;", ""), "utf-8")
    (tally,) = run_file(broken, FEW)
    assert not tally.is_clean
    assert any("PTX302" in each or "PTX621" in each for each in tally.messages), tally.messages
