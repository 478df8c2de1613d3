"""Atomic operations."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from ptxkit.emulator import run
from tests.emulator.support import kernel

THREADS = 64


def after(body: str, start: Any, threads: int = THREADS) -> Any:
    """Returns the contents of the array at %d0 when all threads have executed the body."""
    text = kernel(f" mov.u32 %r31, %tid.x; ld.param.u64 %d0, [a];\n{body}", ".param .u64 a")
    found = run(text, "k", block=threads, arguments=[start])
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.findings, found.findings
    return found.outputs[0]


@pytest.mark.parametrize(
    ("operation", "start", "wanted"),
    [
        ("add.u32", 5, 5 + sum(range(64))),
        ("min.u32", 40, 0),
        ("max.u32", 40, 63),
        ("or.b32", 64, 127),
        ("and.b32", 0xFF, 0),
        ("xor.b32", 1, 1),
        ("inc.u32", 100, None),
    ],
)
def test_all_threads_update_one_word(operation: str, start: int, wanted: int | None) -> None:
    found = after(f" atom.global.{operation} %r1, [%d0], %r31;", numpy.array([start], numpy.uint32))
    if wanted is None:  # each thread's number is the limit at which it wraps to zero
        wanted = start
        for thread in range(THREADS):
            wanted = 0 if wanted >= thread else wanted + 1
    assert found[0] == wanted


def test_each_thread_gets_the_old_value() -> None:
    body = """
 atom.global.add.u32 %r1, [%d0], 3;
 mul.wide.u32 %d1, %r31, 4; add.u64 %d1, %d1, %d0; st.global.u32 [%d1+4], %r1;
"""
    found = after(body, numpy.zeros(THREADS + 1, numpy.uint32))
    assert found[0] == 3 * THREADS
    assert sorted(found[1:]) == list(range(0, 3 * THREADS, 3))


def test_one_thread_succeeds_in_a_compare_and_swap() -> None:
    body = """
 add.u32 %r2, %r31, 1; atom.global.cas.b32 %r1, [%d0], 0, %r2;
 setp.eq.u32 %p1, %r1, 0; @%p1 red.global.add.u32 [%d0+4], 1;
"""
    found = after(body, numpy.zeros(2, numpy.uint32))
    assert list(found) == [1, 1]


def test_sums_of_floating_point_numbers() -> None:
    body = " cvt.rn.f32.u32 %f1, %r31; red.global.add.f32 [%d0], %f1; red.global.add.v2.f32 [%d0+8], {%f1, %f1};"
    found = after(body, numpy.zeros(4, numpy.float32))
    assert list(found) == [2016, 0, 2016, 2016]


def test_an_exchange_of_128_bits() -> None:
    body = """
 mov.b128 %q1, {%d0, %d0}; atom.global.exch.b128 %q2, [%d0], %q1;
 mov.b128 {%d2, %d3}, %q2; st.global.u64 [%d0+16], %d3;
"""
    found = after(body, numpy.array([1, 2, 3, 0], numpy.uint64), 1)
    assert found[0] == found[1] != 1
    assert found[2] == 2


def test_shared_memory_by_a_generic_address() -> None:
    body = """
 .shared .u32 sum;
 mov.u32 %r1, sum; setp.eq.u32 %p1, %r31, 0; @%p1 st.shared.u32 [%r1], 7;
 bar.sync 0;
 cvt.u64.u32 %d1, %r1; cvta.shared.u64 %d2, %d1;
 atom.add.u32 %r2, [%d2], %r31;
 bar.sync 0;
 ld.shared.u32 %r3, [%r1];
 @%p1 st.global.u32 [%d0], %r3;
"""
    assert after(body, numpy.zeros(1, numpy.uint32))[0] == 7 + 2016
