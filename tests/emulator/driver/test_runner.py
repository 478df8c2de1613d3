"""Launches, and the errors of those that are not possible."""

from __future__ import annotations

import time
from itertools import count
from typing import Any

import numpy
import pytest

from ptxkit.emulator import InvalidLaunchError, RunBudget, run
from ptxkit.emulator.engine.launch_args import StructArgument
from tests.emulator.support import kernel

TEXT = kernel("", ".param .u64 a, .param .u32 n, .param .f32 x, .param .align 8 .b8 s[12]")
GOOD: dict[str, Any] = {"grid": 1, "block": 32, "arguments": [numpy.zeros(4), 1, 2.0, bytes(12)]}


def test_a_valid_launch_runs() -> None:
    assert run(TEXT, "k", **GOOD).is_clean


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arguments": []}, r"k takes 4 arguments \(a \(.u64\), n \(.u32\), x \(.f32\), s \(.b8\)\), and 0 are given"),
        ({"arguments": [numpy.zeros(4), 1 << 32, 2.0, bytes(12)]}, r"n \(.u32\) cannot hold 4294967296"),
        ({"arguments": [numpy.zeros(4), 1.5, 2.0, bytes(12)]}, r"n \(.u32\) is not a floating-point parameter"),
        ({"arguments": [numpy.zeros(4), 1, 2.0, bytes(4)]}, r"s \(.b8\[12\]\) has 12 bytes, and the argument 4"),
        ({"arguments": [numpy.zeros(4), 1, 2.0, 5]}, r"s \(.b8\[12\]\) wants 12 bytes"),
        ({"arguments": [numpy.zeros(4), 1, "x", bytes(12)]}, r"x \(.f32\) takes a number, bytes or an array, not str"),
        ({"arguments": [numpy.array([None]), 1, 2.0, bytes(12)]}, "an array of Python objects cannot be"),
        ({"arguments": [numpy.zeros(4), numpy.float64(1), 2.0, bytes(12)]}, "has 4 bytes, and the argument 8"),
        ({"block": None}, "k has no .reqntid: give block="),
        ({"block": 2048}, "block has at most 1024 threads along x, not 2048"),
        ({"block": (64, 32)}, "k takes at most 1024 threads a CTA, not 2048"),
        ({"block": (1, 1, 1, 1)}, "block must be one to three positive integers"),
        ({"grid": 0}, "grid must be one to three positive integers, and is 0"),
        ({"grid": 3, "cluster": 2}, "the grid (3, 1, 1) is not a multiple of the cluster (2, 1, 1)"),
        ({"cluster": 32, "grid": 32}, "a cluster has at most 16 CTAs, not 32"),
        ({"shared": 1 << 20}, "shared is 0 to 232448 bytes, and not 1048576"),
        ({"policy": "lazy"}, "there is no policy 'lazy'; known: eager, late, torn, random"),
    ],
)
def test_an_invalid_launch_is_rejected(change: dict[str, Any], message: str) -> None:
    wanted = message if "\\(" in message else message.replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(InvalidLaunchError, match=wanted):
        run(TEXT, "k", **(GOOD | change))


def test_a_missing_kernel_is_rejected() -> None:
    with pytest.raises(InvalidLaunchError, match="the module has no kernel q; its kernels: k"):
        run(TEXT, "q", **GOOD)


def test_the_requirements_of_a_kernel_on_its_launch_are_checked() -> None:
    text = TEXT.replace("s[12])\n{", "s[12])\n.reqntid 32, 2\n{")
    assert run(text, "k", **(GOOD | {"block": None})).is_clean
    with pytest.raises(InvalidLaunchError, match="requires blocks of"):
        run(text, "k", **GOOD)


def test_one_array_passed_twice_is_one_buffer_and_is_not_changed() -> None:
    body = " ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; sub.u64 %d3, %d1, %d2; st.global.u64 [%d1], %d3;"
    array = numpy.ones(1, numpy.uint64)
    found = run(kernel(body, ".param .u64 a, .param .u64 b"), "k", block=1, arguments=[array, array])
    assert found.outputs[0][0] == found.outputs[1][0] == 0
    assert array[0] == 1


def test_seconds_are_a_budget_too() -> None:
    counting = kernel("L: add.u32 %r1, %r1, 1; bra L;")
    assert run(counting, "k", block=1, budget=RunBudget(seconds=0.01)).incomplete_reason.endswith("its seconds")


def test_the_wall_clock_ends_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    hours = count(step=3600)
    monkeypatch.setattr(time, "monotonic", lambda: next(hours))
    short = kernel("L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 20000; @%p1 bra L;")
    assert run(short, "k", block=1, budget=RunBudget(seconds=60)).is_clean


def test_the_global_timer_advances_with_the_steps_of_the_machine() -> None:
    body = """
 ld.param.u64 %d1, [a]; mov.u64 %d2, %globaltimer; mov.u64 %d3, %globaltimer;
 st.global.u64 [%d1], %d2; st.global.u64 [%d1+8], %d3;
"""
    text = kernel(body, ".param .u64 a")

    def times() -> list[int]:
        return list(run(text, "k", block=32, arguments=[numpy.zeros(2, numpy.uint64)], races=False).outputs[0])

    first, second = times()
    assert first < second
    assert times() == [first, second]


def test_a_seed_reproduces_a_run() -> None:
    body = """
 ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; atom.global.add.u32 %r2, [%d1], 1;
 mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1+4], %r2;
"""
    text = kernel(" mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 5; @%p1 bra L;\nL:" + body, ".param .u64 a")

    def order(seed: int) -> list[int]:
        given = [numpy.zeros(65, numpy.uint32)]
        return list(run(text, "k", block=64, arguments=given, policy="random", seed=seed).outputs[0])

    assert order(1) == order(1)


def test_a_structure_may_contain_addresses() -> None:
    array = numpy.arange(4, dtype=numpy.uint32) + 7
    out = numpy.zeros(1, numpy.uint32)
    body = " ld.param.u64 %d0, [s+8]; ld.param.u32 %r0, [s]; ld.global.u32 %r1, [%d0+8]; add.u32 %r1, %r1, %r0;"
    store = " ld.param.u64 %d1, [out]; st.global.u32 [%d1], %r1;"
    text = kernel(body + store, ".param .align 8 .b8 s[16], .param .u64 out")
    given = StructArgument((100).to_bytes(4, "little") + bytes(12), {8: array})
    assert run(text, "k", block=1, arguments=[given, out]).outputs[1][0] == 109
    with pytest.raises(InvalidLaunchError, match=r"s .* has 16 bytes, and the argument 12"):
        run(text, "k", block=1, arguments=[StructArgument(bytes(12), {}), out])


TABLE = """
 ld.param.u64 %d0, [table];
 ld.param.u64 %d9, [beside];
 ld.global.u64 %d1, [%d0];
 ld.global.u64 %d2, [%d0+8];
 mov.u32 %r1, 7;
 mov.u32 %r2, 9;
 st.global.u32 [%d1], %r1;
 st.global.u32 [%d2+4], %r2;
"""


def test_each_array_of_a_table_is_returned() -> None:
    first, second = numpy.zeros(2, numpy.uint32), numpy.ones(3, numpy.uint32)
    text = kernel(TABLE, ".param .u64 table, .param .u64 beside")
    left = run(text, "k", block=1, arguments=[[first, second], second]).outputs
    assert [each.tolist() for each in left[0]] == [[7, 0], [1, 9, 1]]
    assert left[1].tolist() == [1, 9, 1]  # the same array is one buffer there, too
    assert not first.any()
