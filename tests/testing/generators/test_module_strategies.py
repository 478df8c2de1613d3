"""Operands, addresses, launches and modules: accepted where they are valid, rejected where they are not; ptxas
agrees."""

from __future__ import annotations

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.emulator import InvalidLaunchError
from ptxkit.testing import strategies
from ptxkit.testing.differential.campaign import ptxkit_refusal
from ptxkit.testing.generators.module_strategies import OPERAND_TYPES, SPACES, ModuleText, OperandText
from ptxkit.testing.oracles.assertions import assert_ptxas_agrees, assert_round_trips
from ptxkit.testing.oracles.ptxas import installed_ptxas
from ptxkit.testing.pipelines.pipeline import GeneratedPipeline
from ptxkit.testing.pipelines.plan import PipelinePlan

QUIET = settings(max_examples=40, deadline=None, database=None, derandomize=True)

KERNEL = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 out, .param .u32 n, .param .f32 x)
{
.reg .b32 %n; .reg .b64 %out;
ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; st.global.u32 [%out], %n;
ret;
}
"""


@QUIET
@given(st.sampled_from(OPERAND_TYPES).flatmap(strategies.operands))
def test_operands_of_a_type_are_accepted(operand: OperandText) -> None:
    assert ptxkit_refusal(operand.module()) is None
    assert_ptxas_agrees(operand.module())


@QUIET
@given(st.sampled_from(OPERAND_TYPES).flatmap(lambda word: strategies.operands(word, valid=False)))
def test_other_operands_are_rejected(operand: OperandText) -> None:
    assert ptxkit_refusal(operand.module()) is not None
    assert installed_ptxas()[0].refusal(operand.module(), operand.target) is not None


@QUIET
@given(st.sampled_from(SPACES).flatmap(strategies.addresses))
def test_addresses_in_a_space_are_accepted(address: OperandText) -> None:
    assert ptxkit_refusal(address.module()) is None
    assert_ptxas_agrees(address.module())


@QUIET
@given(st.sampled_from(SPACES).flatmap(lambda space: strategies.addresses(space, valid=False)))
def test_invalid_addresses_are_rejected(address: OperandText) -> None:
    assert ptxkit_refusal(address.module()) is not None
    assert installed_ptxas()[0].refusal(address.module(), address.target) is not None


def test_an_unknown_type_or_space_is_reported() -> None:
    with pytest.raises(ValueError, match=r"an operand's type is one of b16, .*, not 'f16x2'"):
        strategies.operands("f16x2")
    with pytest.raises(ValueError, match=r"a space is one of global, .*, not 'heap'"):
        strategies.addresses("heap")


@QUIET
@given(strategies.modules())
def test_modules_are_accepted_and_round_trip(module: ModuleText) -> None:
    assert ptxkit_refusal(module.module()) is None
    assert_ptxas_agrees(module.module())
    assert_round_trips(module.module())


@QUIET
@given(strategies.modules(valid=False))
def test_a_changed_module_is_rejected(module: ModuleText) -> None:
    assert module.change
    assert ptxkit_refusal(module.module()) is not None
    assert installed_ptxas()[0].refusal(module.module(), "sm_90a") is not None


def test_a_module_shrinks_to_a_kernel_that_returns() -> None:
    found = find(strategies.modules(), lambda _: True, settings=QUIET)
    assert "\n{\nret;\n}\n" in found.text
    assert found.text.count(".") < 10


def launch_kernel(launch: DeviceLaunch) -> bool:
    return launch.emulate(KERNEL, races=False).is_clean


@QUIET
@given(strategies.launches(KERNEL))
def test_valid_launches_can_be_executed(launch: DeviceLaunch) -> None:
    assert launch_kernel(launch)


@QUIET
@given(strategies.launches(KERNEL, valid=False))
def test_others_cannot(launch: DeviceLaunch) -> None:
    with pytest.raises(InvalidLaunchError):
        launch_kernel(launch)


@QUIET
@given(strategies.launches(GeneratedPipeline(PipelinePlan("sm_90a", "dsmem", cluster=2, grid=2)).module()))
def test_launches_satisfy_the_requirements_of_a_kernel(launch: DeviceLaunch) -> None:
    assert (launch.block, launch.cluster) == ((32, 1, 1), (2, 1, 1))
    assert isinstance(launch.grid, tuple)
    assert launch.grid[0] % 2 == 0
