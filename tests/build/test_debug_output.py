"""Kernels print text and check assertions, on the reference machine and for ptxas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptxkit.build import (
    BuildTypeError,
    BuildValueError,
    EmulationError,
    Function,
    Global,
    Kernel,
    NeverWaitedWarning,
    f16,
    f32,
    s16,
    u8,
    u32,
    u64,
)
from ptxkit.build.debug_output import PRINT_BUFFER
from tests.build.support import assert_ptxas_accepts


def print_lines(threads: int = 3) -> tuple[Kernel, Global[f32]]:
    k = Kernel("lines", threads=32)
    data = k.param(Global[f32], "data")
    return k, data


def test_each_thread_prints_its_values(tmp_path: Path) -> None:
    k, data = print_lines()
    value = data[k.tid.x].load()
    with k.if_(k.tid.x < 2):
        k.printf("%u: %.2f %.1f %d\n", k.tid.x, value, value.convert(f16, "rn"), -3)
        k.printf("100%%\n")
    verdict = k.verify()
    assert (verdict.diagnostics, verdict.undecided) == ((), ())
    assert_ptxas_accepts(str(k), tmp_path)
    outcome = k.emulate(1)(np.arange(32, dtype=np.float32) / 4)
    assert outcome.printed_texts == ("0: 0.00 0.0 -3\n", "1: 0.25 0.2 -3\n", "100%\n", "100%\n")


def test_values_of_all_widths_are_passed_as_c_passes_them() -> None:
    k, data = print_lines()
    byte, word, wide = k.param(u8, "byte"), k.param(s16, "word"), k.param(u64, "wide")
    with k.thread_is(0):
        k.printf("%d|%*d|%llu|%c|%s|%g|%x\n", byte, 5, word, wide, 65, "text", 0.5, 255)
        k.printf("%p", data)
    numbers = np.uint8(200), np.int16(-7), np.uint64(1 << 40)
    first, address = k.emulate(1)(np.zeros(1, np.float32), *numbers).printed_texts
    assert first == f"200|   -7|{1 << 40}|A|text|0.5|ff\n"
    assert address.startswith("0x")
    assert str(k).count(f"{PRINT_BUFFER}[") == 1


def test_a_function_prints_and_equal_texts_are_one() -> None:
    function = Function("show")
    number = function.param(u32, "number")
    function.printf("%u\n", number)
    k, _ = print_lines()
    with k.thread_is(1):
        function(k, 4)
        k.printf("%u\n", 5)
        k.printf("%u\n", 6)
    assert k.emulate(1)(np.zeros(1, np.float32)).printed_texts == ("4\n", "5\n", "6\n")
    assert str(k).count(".global .align 1 .b8") == 2


def test_values_that_do_not_match_the_text_are_errors_with_the_remedy() -> None:
    k = Kernel("k")
    number, wide, single = k.param(u32, "number"), k.param(u64, "wide"), k.param(f32, "single")
    with pytest.raises(BuildValueError, match="the text has 2 conversions, and there are 1 values"):
        k.printf("%d %d", number)
    with pytest.raises(BuildTypeError, match=r"`%d` takes an integer of 32 bits, .* write `%lld`"):
        k.printf("%d", wide)
    with pytest.raises(BuildTypeError, match=r"`%lld` takes an integer of 64 bits, .* write `%d`"):
        k.printf("%lld", number)
    with pytest.raises(BuildTypeError, match=r"`%d` takes an integer, .*; `%f` takes"):
        k.printf("%d", single)
    with pytest.raises(BuildTypeError, match="`%f` takes a floating-point value"):
        k.printf("%f", number)
    with pytest.raises(BuildTypeError, match="`%s` takes a Python string"):
        k.printf("%s", number)
    with pytest.raises(BuildTypeError, match="`%p` takes an address"):
        k.printf("%p", number)
    with pytest.raises(BuildValueError, match=r"'%y' begins no conversion of printf; `%%` prints"):
        k.printf("%d %y", number)
    k.printf("%d %lld %f", number, wide, single)


def assert_below(limit: float) -> Kernel:
    k, data = print_lines()
    k.assert_(data[k.tid.x].load() < limit, "the value is small")  # noqa: PT009  (no method of unittest)
    return k


def test_an_assertion_that_fails_ends_the_run_with_its_text_and_line(tmp_path: Path) -> None:
    values = np.arange(32, dtype=np.float32)
    assert_below(32).emulate(1)(values)
    with pytest.raises(
        EmulationError, match=r"test_debug_output.py:\d+: lines: assertion `the value is small` failed"
    ) as caught:
        assert_below(31).emulate(1)(values)
    assert "thread (31, 0, 0)" in str(caught.value)
    assert_ptxas_accepts(str(assert_below(31)), tmp_path)
    verdict = assert_below(31).verify()
    assert (verdict.diagnostics, verdict.undecided) == ((), ())


def test_an_assertion_without_text_states_its_source_line() -> None:
    k, _ = print_lines()
    k.assert_(k.tid.x > 5)  # noqa: PT009
    with pytest.raises(EmulationError, match=r"assertion `k\.assert_\(k\.tid\.x > 5\)"):
        k.emulate(1)(np.zeros(1, np.float32))


def test_a_kernel_that_prints_is_still_checked_for_copies_that_nothing_waits_for() -> None:
    k, data = print_lines()
    k.cp_async_ca(k.shared(f32, 4), data, 4)
    k.cp_async_commit_group()
    k.printf("done\n")
    with pytest.warns(NeverWaitedWarning, match="groups of cp.async copies"):
        k.assemble()
