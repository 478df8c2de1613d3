"""The oracles: each accepts correct texts, reports wrong ones, and is skipped where its tool is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from random import Random
from unittest import SkipTest

import numpy as np
import pytest

from ptxkit.device import Cubin, DeviceError, NoDeviceError, check_device
from ptxkit.device_runs.device_launch import DeviceLaunch, DeviceResult
from ptxkit.syntax import PTXSyntaxError
from ptxkit.testing.generators.kernel_ast import GeneratedKernel
from ptxkit.testing.generators.random_kernels import random_kernel
from ptxkit.testing.oracles import assertions, session
from ptxkit.testing.oracles.compile_paths import launch_of
from ptxkit.testing.oracles.session import OracleSession

DOUBLE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry double(.param .u64 data) {
.reg .b64 %d<3>; .reg .b32 %r<3>;
ld.param.u64 %d0, [data]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1;
ld.global.u32 %r1, [%d2]; shl.b32 %r2, %r1, 1; st.global.u32 [%d2], %r2;
ret;
}
"""
LAUNCH = DeviceLaunch("double", 1, 32, (np.arange(32, dtype=np.uint32),))


@cache
def generate_one() -> GeneratedKernel:
    return random_kernel(Random(1), (8, 7), "sm_90a")


def has_gpu() -> bool:
    try:
        check_device()
    except NoDeviceError:
        return False
    return True


def test_ptxas_and_ptxkit_agree_on_correct_and_on_wrong_texts() -> None:
    assertions.assert_ptxas_agrees(DOUBLE)
    assertions.assert_ptxas_agrees(DOUBLE.replace("shl.b32", "shl.f32"))


def test_the_linter_finds_the_expected_codes_and_nothing_else() -> None:
    assertions.assert_lints(DOUBLE)
    assertions.assert_lints(DOUBLE.replace("shl.b32", "shl.f32"), ["PTX103"])
    with pytest.raises(AssertionError, match="PTX401 is not found"):
        assertions.assert_lints(DOUBLE, ["PTX401"])
    with pytest.raises(AssertionError, match="PTX103 error in line 7"):
        assertions.assert_lints(DOUBLE.replace("shl.b32", "shl.f32"))


def test_a_case_with_its_own_module_and_launch_needs_no_other() -> None:
    class Mine:
        launch = LAUNCH

        def module(self) -> str:
            return DOUBLE

    assert assertions.on_machine(Mine())[0].tolist() == list(range(0, 64, 2))


def test_a_disagreement_is_reported_with_both_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assertions, "ptxkit_refusal", lambda text: "PTX103 no such form")
    with pytest.raises(AssertionError, match=r"ptxkit: PTX103 no such form\nptxas .*: accepted"):
        assertions.assert_ptxas_agrees(DOUBLE)


def test_a_module_without_a_target_cannot_be_checked() -> None:
    with pytest.raises(PTXSyntaxError, match=r"begins with `\.version`"):
        assertions.assert_ptxas_agrees(".entry k() { ret; }")


def test_a_text_that_parses_to_the_same_tree_round_trips() -> None:
    assertions.assert_round_trips(DOUBLE)
    assertions.assert_round_trips(generate_one())


def test_an_equivalent_kernel_has_the_same_results() -> None:
    assertions.assert_same_kernel(DOUBLE, DOUBLE.replace("shl.b32 %r2, %r1, 1", "add.u32 %r2, %r1, %r1"), LAUNCH)


def test_another_result_is_reported_with_its_index() -> None:
    with pytest.raises(
        AssertionError, match=r"argument 0: 31 bytes differ, first in element 1: first .*2.*, second .*4"
    ):
        assertions.assert_same_kernel(DOUBLE, DOUBLE.replace("%r1, 1;", "%r1, 2;"), LAUNCH)


def test_a_finding_of_the_machine_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="the machine: "):
        assertions.on_machine(DOUBLE, DeviceLaunch("double", 1, 64, LAUNCH.arguments))


def test_a_text_needs_a_launch() -> None:
    with pytest.raises(ValueError, match="pass the launch of the kernel"):
        assertions.assert_machine_matches_device(DOUBLE)


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
def test_without_a_gpu_the_oracles_that_need_one_are_skipped_for_one_reason() -> None:
    reasons = set()
    for ask in (assertions.assert_machine_matches_device, assertions.assert_optimisation_invariant):
        with pytest.raises(SkipTest) as skipped:
            ask(generate_one())
        reasons.add(str(skipped.value))
    assert len(reasons) == 1


@pytest.mark.device
def test_machine_and_device_compute_the_same_at_every_level() -> None:
    assertions.assert_machine_matches_device(generate_one())
    assertions.assert_machine_matches_device(DOUBLE, LAUNCH)
    assertions.assert_optimisation_invariant(generate_one())


class Elsewhere:
    """A GPU that records its launches."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.compiled: list[Cubin] = []

    def run(self, cubin: Cubin | None, launches: Sequence[DeviceLaunch]) -> list[DeviceResult]:
        assert cubin is not None
        self.compiled.append(cubin)
        return [{0: launches[0].arguments[0]}]


@pytest.fixture
def elsewhere() -> Iterator[Callable[[str], Elsewhere]]:
    def start_device(target: str) -> Elsewhere:
        found = Elsewhere(target)
        session.begin_session(OracleSession(process=found))
        return found

    before = session.current_session()
    yield start_device
    session.begin_session(before)


def test_text_for_an_older_chip_is_compiled_for_the_gpu_that_runs_it(elsewhere: Callable[[str], Elsewhere]) -> None:
    gpu = elsewhere("sm_90a")
    assertions.on_device(DOUBLE, LAUNCH)
    assertions.on_device(generate_one().module(), launch_of(generate_one()))
    assert [each.target for each in gpu.compiled] == ["sm_90a", "sm_90a"]


def test_text_for_another_chip_is_not_run_and_has_a_reason(elsewhere: Callable[[str], Elsewhere]) -> None:
    elsewhere("sm_100a")
    with pytest.raises(SkipTest, match="code for sm_90a does not run on this GPU, which is sm_100"):
        assertions.on_device(generate_one())
    assertions.on_device(DOUBLE, LAUNCH)
    elsewhere("sm_80")
    with pytest.raises(SkipTest, match="code for sm_90a does not run on this GPU, which is sm_80"):
        assertions.on_device(generate_one())
    session.current_session().device = "require"
    with pytest.raises(DeviceError, match="code for sm_90a does not run"):
        assertions.on_device(generate_one())


@pytest.mark.parametrize("level", assertions.LEVELS)
def test_every_compiler_accepts_a_generated_kernel(level: str) -> None:
    cubin = assertions.compile_at_level(generate_one().module(), "sm_90a", level)
    assert not isinstance(cubin, str), cubin
    assert cubin.code.startswith(b".version" if level == "jit" else b"\x7fELF")


def test_a_rejected_text_has_a_reason() -> None:
    assert "line 7; error" in str(assertions.compile_at_level(DOUBLE.replace("shl.b32", "shl.f32"), "sm_90a", "3"))
