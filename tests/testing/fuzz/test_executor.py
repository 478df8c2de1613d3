"""Failing examples that are executed again while they shrink: their results must remain meaningful."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxkit.device_runs import device_launch
from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.emulator.driver.uninitialized_dependence import UninitializedDependence
from ptxkit.fast_dataclasses import replace
from ptxkit.testing.corpus.examples import Example
from ptxkit.testing.fuzz.executor import recheck_cause
from ptxkit.testing.fuzz.minimize import minimize
from ptxkit.testing.oracles import assertions

KERNEL = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b64 %rd<3>;
.reg .b32 %r<4>;
.shared .align 4 .b8 tile[4];
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r1, 7;
mov.u32 %r2, 9;
st.shared.u32 [tile], %r2;
ld.shared.u32 %r3, [tile];
st.global.u32 [%rd2], %r1;
st.global.u32 [%rd2+4], %r3;
ret;
}
"""


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Example:
    """An example that fails on a GPU that stores one more than the machine in the second word."""

    def on_device(text: str, launch: DeviceLaunch, _level: str) -> dict[int, Any]:
        array = launch.emulate(text).outputs[0].copy()
        array[1] += "[%rd2+4]" in text
        return {0: array}

    monkeypatch.setattr(assertions, "on_device", on_device)
    monkeypatch.setattr(assertions, "require_device", lambda: None)
    made = Example("assert_machine_matches_device", (KERNEL,), DeviceLaunch("k", 1, 1, (np.zeros(2, np.uint32),)))
    return replace(made, cause=recheck_cause(made))


def test_bytes_that_a_smaller_kernel_reads_are_still_written(example: Example) -> None:
    assert example.cause
    left = minimize(example, recheck_cause, seconds=3600).texts[0].splitlines()
    assert "mov.u32 %r1, 7;" not in left
    needed = KERNEL.splitlines()
    kept = [line for line in needed if line in left and line[0].islower() and line != "ret;"]
    assert kept == [line for line in needed if line.startswith(("ld.", "cvta.")) or "%r2" in line or "%r3" in line]


def test_an_example_of_unknown_validity_is_rejected(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_short(*_: object, **__: object) -> UninitializedDependence:
        return UninitializedDependence(incomplete_reason="the run took too long")

    assert recheck_cause(example)
    monkeypatch.setattr(device_launch, "find_uninitialized_dependence", cut_short)
    assert recheck_cause(example) == ""


@pytest.mark.parametrize("line", ["mov.u32 %r1, 7;", "mov.u32 %r2, 9;", "st.shared.u32 [tile], %r2;"])
def test_a_kernel_whose_results_depend_on_uninitialized_memory_is_rejected(example: Example, line: str) -> None:
    assert line in KERNEL
    assert recheck_cause(replace(example, texts=(KERNEL.replace(line, ""),))) == ""
