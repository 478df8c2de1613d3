"""`ptxkit stress`, with the reference machine in the place of the GPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from ptxkit.testing.oracles.assertions import require_device
from tests.stress.test_stress_session import RACY, TEXT
from tests.testing.oracles.test_assertions import has_gpu

Run = Callable[..., Result]
ON_MACHINE = ("--on", "machine", "--runs", "48", "--seconds", "10m", "--arg", "out=u32[64]:zeros")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.ptx").write_text(TEXT)
    (tmp_path / "racy.ptx").write_text(RACY)
    (tmp_path / "old.ptx").write_text(TEXT.replace("sm_90", "sm_60"))
    return tmp_path


def test_no_difference_is_no_proof(ptxkit: Run) -> None:
    done = ptxkit("stress", *ON_MACHINE, "k.ptx")
    assert done.exit_code == 0
    assert done.stdout == (
        "6 plain runs and 42 with delays on the reference machine, compared with the reference machine\n"
        "nothing was shown, which proves nothing: a fault may need another launch, device or order of events\n"
    )


def test_a_difference_is_a_finding(ptxkit: Run) -> None:
    done = ptxkit("stress", *ON_MACHINE, "--sites-from-lint", "racy.ptx")
    assert done.exit_code == 1
    assert "racy.ptx:5:1: stress error: the results differ" in done.stdout
    assert "the difference: argument 0: " in done.stdout
    assert "proves nothing" not in done.stdout


def test_a_module_without_delays_has_plain_runs_only(ptxkit: Run) -> None:
    done = ptxkit("stress", *ON_MACHINE, "old.ptx")
    assert "no delays were inserted" in done.stdout
    assert "48 plain runs and 0 with delays" in done.stdout


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
def test_without_a_gpu_the_machine_is_proposed(ptxkit: Run) -> None:
    done = ptxkit("stress", "--arg", "out=u32[64]", "k.ptx")
    assert done.exit_code == 2
    assert "cannot run on the GPU" in done.stderr
    assert "--on machine" in done.stderr


@pytest.mark.device
def test_the_gpu_shows_nothing_in_a_correct_kernel(ptxkit: Run) -> None:
    require_device()
    done = ptxkit("stress", "--seconds", "2", "--arg", "out=u32[64]", "k.ptx")
    assert (done.exit_code, done.stdout.count("proves nothing")) == (0, 1)
