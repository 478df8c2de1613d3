"""The arguments that are not in the memory of the GPU: numbers and structures, with the bits of the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxkit.device.arguments import convert_argument
from ptxkit.device.signature import Argument
from ptxkit.device_runs.device_arguments import read_back, upload_parameter
from ptxkit.emulator import run

KERNEL = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .{type} n, .param .u64 out)
.reqntid 1
{{
\t.reg .b64 %rd<2>;
\t.reg .{load} %v;
\tld.param.u64 %rd1, [out];
\tld.param.{load} %v, [n];
\tst.global.{load} [%rd1], %v;
\tret;
}}
"""
"""Stores the bits of a number."""


@pytest.mark.parametrize(
    ("type_", "load", "value"),
    [
        ("u32", "b32", -7),
        ("u32", "b32", 0xFFFF_FFFF),
        ("s32", "b32", -7),
        ("b64", "b64", -1),
        ("u16", "b16", -2),
        ("f32", "b32", 3),
        ("f32", "b32", 0.1),
        ("f64", "b64", 0.1),
        ("u32", "b32", np.array([1.5], np.float32)),
        ("f64", "b64", np.array(0.1)),
    ],
)
def test_a_number_has_the_bits_of_the_machine(type_: str, load: str, value: Any) -> None:
    out = np.zeros(8, np.uint8)
    left = run(KERNEL.format(type=type_, load=load), "k", arguments=[value, out]).outputs[1]
    parameter = Argument("n", type_)
    passed = convert_argument(parameter, upload_parameter(value, parameter, {}))
    assert left[: passed.nbytes].tobytes() == passed.tobytes()


def test_a_number_that_does_not_fit_is_left_to_the_launch() -> None:
    for value in (1 << 32, -(1 << 31) - 1):
        assert upload_parameter(value, Argument("n", "u32"), {}) == value


def test_a_structure_is_passed_as_its_bytes_and_has_no_contents_afterwards() -> None:
    trio = np.array([3, 5, 7], np.uint32)
    assert upload_parameter(trio, Argument("trio", None, size=12), {}) == trio.tobytes()
    assert read_back(trio, {}) is None
