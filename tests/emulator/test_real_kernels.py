"""Kernels that compilers wrote, run on the machine and compared with numpy."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from ptxkit.emulator import RunResult, run
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Module

CORPUS = Path(__file__).resolve().parents[2] / "corpus"


def module(path: str) -> Module:
    return parse((CORPUS / path).read_text("utf-8"), path)


def entry(parsed: Module) -> str:
    return next(each.name for each in parsed.functions() if each.kind == "entry")


def clean(outcome: RunResult) -> RunResult:
    assert not outcome.unsupported_reason
    assert not outcome.findings
    assert not outcome.incomplete_reason
    return outcome


@pytest.mark.parametrize("policy", ["eager", "random"])
def test_the_last_block_adds_the_sums_of_all(policy: str) -> None:
    values = numpy.random.default_rng(0).integers(0, 100, 5 * 128).astype(numpy.float32)
    partial, counter, out = numpy.zeros(5, numpy.float32), numpy.zeros(1, numpy.uint32), numpy.zeros(1, numpy.float32)
    found = clean(
        run(
            module("kernels/last_block_sum.sm_80.ptx"),
            "last_block_sum",
            grid=5,
            block=128,
            arguments=[values, partial, counter, out],
            policy=policy,
        )
    )
    assert found.outputs[3][0] == values.sum()
    assert found.outputs[2][0] == 5


@pytest.mark.parametrize("policy", ["eager", "random"])
def test_two_halves_exchange_a_buffer_with_named_barriers(policy: str) -> None:
    rounds = 4
    values = numpy.arange(rounds * 128, dtype=numpy.float32)
    found = clean(
        run(
            module("kernels/named_barriers.sm_80.ptx"),
            "named_barriers",
            grid=2,
            block=256,
            arguments=[values, numpy.zeros(256, numpy.float32), rounds],
            policy=policy,
            seed=3,
        )
    )
    wanted = values.reshape(rounds, 128).sum(axis=0)[numpy.arange(128) ^ 32]
    assert (found.outputs[1] == numpy.tile(wanted, 2)).all()


def test_a_kernel_of_triton_adds() -> None:
    x, y = numpy.random.default_rng(1).standard_normal((2, 1000)).astype(numpy.float32)
    out = numpy.zeros(1000, numpy.float32)
    parsed = module("compilers/triton/add.sm_90a.ptx")
    found = clean(run(parsed, "add", grid=1, arguments=[x, y, out, 1000, 0, 0]))
    count = int((found.outputs[2] != 0).sum())
    assert count >= 512
    assert (found.outputs[2][:count] == (x + y)[:count]).all()


def test_a_kernel_of_triton_computes_the_softmax_of_rows() -> None:
    x = numpy.random.default_rng(2).standard_normal((4, 200)).astype(numpy.float32)
    out = numpy.zeros_like(x)
    parsed = module("compilers/triton/softmax.sm_90a.ptx")
    found = clean(run(parsed, "softmax", grid=4, shared=4096, arguments=[out, x, 200, 200, 0, 0]))
    wanted = numpy.exp(x - x.max(axis=1, keepdims=True))
    wanted /= wanted.sum(axis=1, keepdims=True)
    assert numpy.allclose(found.outputs[0], wanted, rtol=1e-5)


def test_a_kernel_of_mojo_computes_a_x_plus_y() -> None:
    parsed = module("compilers/mojo/saxpy.sm_90a.ptx")
    x, y = numpy.arange(256, dtype=numpy.float32), numpy.ones(256, numpy.float32)
    found = clean(run(parsed, entry(parsed), grid=2, block=128, arguments=[x, y, numpy.float32(2), 256]))
    assert (found.outputs[1] == 2 * x + y).all()


def test_calls_through_tables_and_printing_are_executed() -> None:
    parsed = module("compilers/nvcc/misc.sm_90a.ptx")
    for number, wanted in ((3, 6), (4, 12)):  # V::f adds, W::f multiplies
        found = clean(run(parsed, "virt", block=1, arguments=[numpy.zeros(4, numpy.int32), number]))
        assert found.outputs[0][0] == wanted
        assert found.printed_texts == (f'x {number} hello "q" \\ \n\t\x01\n',)


@pytest.mark.parametrize(("case", "wanted"), [(0, 1), (1, 5 * 9), (2, 24), (3, 31 - 2), (5, 7), (6, 6 % 6)])
def test_a_recursive_function_and_a_switch_are_executed(case: int, wanted: int) -> None:
    parsed = module("compilers/nvcc/misc.sm_90a.ptx")
    values = numpy.array([0, 6, case, 0, 4, 5, 49, 7, 0, 4, 0], numpy.int32)
    found = clean(run(parsed, "rec", block=1, arguments=[values])).outputs[0]
    assert found[0] == 720
    assert found[3] == wanted


def test_atomics_of_a_scope_on_all_types_are_executed() -> None:
    parsed = module("compilers/nvcc/misc.sm_90a.ptx")
    integers, singles, doubles = numpy.array([5], numpy.int32), numpy.zeros(1, numpy.float32), numpy.zeros(1)
    longs, halves = numpy.array([1, 0], numpy.uint64), numpy.ones(2, numpy.float16)
    found = clean(run(parsed, "at", block=1, arguments=[integers, singles, doubles, longs, halves])).outputs
    assert found[0][0] == 6  # 5 + 1; the word compared with 6 is 6, is set to 4, and then the old value
    assert found[1][0] == 1
    assert found[2][0] == 1
    assert found[3][0] == 3
    assert (found[4] == 1).all()
