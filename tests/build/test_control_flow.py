"""Branches and loops: their text, and that ptxas accepts it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.build import BuildError, BuildTypeError, Global, Kernel, f16, f32, u32
from tests.build.support import assert_ptxas_accepts, marked_line, opcodes


@pytest.fixture
def k() -> Kernel:
    return Kernel("k", threads=32)


def lines(k: Kernel, first: str) -> list[str]:
    """Returns the body's lines from the one with this prefix."""
    text = [line.strip() for line in str(k).splitlines()]
    start = next(index for index, line in enumerate(text) if line.startswith(first))
    return text[start:-1]


def test_if_skips_its_body(k: Kernel) -> None:
    n = k.param(u32, "n")
    with k.if_(n > 3):
        k.trap()
    assert lines(k, "setp") == ["setp.gt.u32 %p0, %r0, 3;", "@!%p0 bra $endif_0;", "trap;", "$endif_0:", "ret;"]


def test_else_is_executed_by_the_other_threads(k: Kernel) -> None:
    n = k.param(u32, "n")
    with k.if_(n > 3):
        k.trap()
    with k.else_():
        k.brkpt()
    assert lines(k, "@!") == [
        "@!%p0 bra $endif_0;",
        "trap;",
        "bra $endelse_0;",
        "$endif_0:",
        "brkpt;",
        "$endelse_0:",
        "ret;",
    ]


def test_else_must_directly_follow_its_if(k: Kernel) -> None:
    with k.if_(k.tid.x > 3):
        k.trap()
    k.brkpt()
    with pytest.raises(BuildError) as caught, k.else_():  # a late else
        pass
    assert caught.value.location == marked_line("a late else")


def test_elif_tests_the_remaining_threads(k: Kernel, tmp_path: Path) -> None:
    n = k.param(u32, "n")
    with k.if_(n > 3):
        k.trap()
    with k.elif_(lambda: n > 2):
        k.brkpt()
    with k.elif_(lambda: n > 1):
        k.trap()
    with k.else_():
        k.brkpt()
    assert lines(k, "@!%p0") == [
        "@!%p0 bra $endif_0;",
        "trap;",
        "bra $endelse_0;",
        "$endif_0:",
        "setp.gt.u32 %p1, %r0, 2;",
        "@!%p1 bra $endif_1;",
        "brkpt;",
        "bra $endelse_0;",
        "$endif_1:",
        "setp.gt.u32 %p2, %r0, 1;",
        "@!%p2 bra $endif_2;",
        "trap;",
        "bra $endelse_0;",
        "$endif_2:",
        "brkpt;",
        "$endelse_0:",
        "ret;",
    ]
    assert_ptxas_accepts(str(k), tmp_path)


def test_elif_computes_its_condition_only_where_it_is_reached(k: Kernel) -> None:
    with k.if_(k.tid.x > 3):
        k.trap()
    with pytest.raises(BuildTypeError, match="pass a function"):
        k.elif_(k.tid.x > 2)  # type: ignore[arg-type]


def test_an_unrolled_loop_counts_in_python(k: Kernel) -> None:
    assert list(k.unroll(3)) == [0, 1, 2]
    assert list(k.unroll(4, 0, -2)) == [4, 2]
    with pytest.raises(BuildTypeError, match="constant ends"):
        k.unroll(k.tid.x)  # type: ignore[arg-type]


def test_a_loop_may_be_excluded_from_unrolling(k: Kernel, tmp_path: Path) -> None:
    with k.for_range(0, 4, unroll=False):
        k.trap()
    assert lines(k, "$for_0")[:2] == ["$for_0:", '.pragma "nounroll";']
    assert_ptxas_accepts(str(k), tmp_path)


def test_a_condition_is_a_predicate(k: Kernel) -> None:
    with pytest.raises(BuildTypeError, match="a condition is a predicate register"):
        k.if_(k.tid.x)  # type: ignore[arg-type]
    with pytest.raises(BuildTypeError, match="pass a function"):
        k.while_(k.tid.x < 3)  # type: ignore[arg-type]


def test_while_computes_its_condition_in_each_iteration(k: Kernel) -> None:
    i = k.variable(u32, 0)
    with k.while_(lambda: i < 10) as loop:
        i.set(i + 1)
        loop.continue_(when=i == 5)
        loop.break_(when=i == 7)
    assert lines(k, "$loop") == [
        "$loop_0:",
        "setp.lt.u32 %p0, %r0, 10;",
        "@!%p0 bra $endloop_0;",
        "add.u32 %r1, %r0, 1;",
        "mov.u32 %r0, %r1;",
        "setp.eq.u32 %p1, %r0, 5;",
        "@%p1 bra $next_0;",
        "setp.eq.u32 %p2, %r0, 7;",
        "@%p2 bra $endloop_0;",
        "$next_0:",
        "bra $loop_0;",
        "$endloop_0:",
        "ret;",
    ]


def test_a_range_counts_up_and_down(k: Kernel) -> None:
    n = k.param(u32, "n")
    with k.for_range(0, n, 4) as i:
        assert i.multiple == 4
    with k.for_range(n, 0, -1):
        pass
    text = str(k)
    assert "setp.ge.u32" in text
    assert "add.u32 %r1, %r1, 4;" in text
    assert "setp.le.u32" in text
    assert "sub.u32 %r2, %r2, 1;" in text


def test_a_range_has_a_step_and_ends_of_one_integer_type(k: Kernel) -> None:
    with pytest.raises(BuildError, match="never ends"):
        k.for_range(0, 4, 0)
    with pytest.raises(BuildTypeError, match="a range counts integers"):
        k.for_range(k.register(f32), k.register(f32))
    with pytest.raises(BuildTypeError, match="different types"):
        k.for_range(k.register(f32), k.register(u32))  # type: ignore[arg-type]


def test_one_thread_of_the_cta_or_of_each_warp(k: Kernel) -> None:
    with k.thread_is(0):
        k.brkpt()
    with k.elect_one():
        k.brkpt()
    assert opcodes(k.module()) == [
        "mov.u32",
        "setp.eq.u32",
        "bra",
        "brkpt",
        "elect.sync",
        "bra",
        "brkpt",
        "ret",
    ]


def test_special_registers_are_read_once_before_other_code(k: Kernel) -> None:
    with k.if_(k.tid.x > 3):
        k.ctaid.y + k.tid.x
    assert opcodes(k.module())[:2] == ["mov.u32", "mov.u32"]
    assert str(k).count("%tid.x") == 1


def test_a_label_must_be_placed_exactly_once(k: Kernel) -> None:
    label = k.label("there")
    k.branch(label)  # to nowhere
    with pytest.raises(BuildError) as caught:
        k.module()
    assert caught.value.location == marked_line("to nowhere")
    k.place(label)
    k.module()
    with pytest.raises(BuildError, match="placed already"):
        k.place(label)


def test_ptxas_accepts_all_of_it(k: Kernel, tmp_path: Path) -> None:
    data, n = k.param(Global[f32], "data"), k.param(u32, "n")
    with k.for_range(k.tid.x, n, 32) as i:
        value = data[i].load()
        with k.if_(value < 0.0):
            data[i].store(-value)
        with k.else_():
            data[i].store(value / 3.0)
    turns = k.variable(u32, 0)
    with k.loop() as loop, k.elect_one():
        turns.set(turns + 1)
        loop.break_(when=turns > n)
    assert_ptxas_accepts(str(k), tmp_path)


def test_predicated_instructions_have_a_guard_and_no_branch(k: Kernel, tmp_path: Path) -> None:
    data = k.param(Global[u32], "data")
    few = k.laneid < 3
    with k.predicated(few):
        data[k.tid.y].store(k.constant_register(7))
    k.brkpt()
    assert lines(k, "@%p0") == [
        "@%p0 mad.wide.u32 %rd1, %r1, 4, %rd0;",
        "@%p0 st.global.u32 [%rd1], %r2;",
        "brkpt;",
        "ret;",
    ]
    assert "\tmov.u32 %r2, 7;" in str(k)  # a value for the whole kernel is computed in any case
    assert_ptxas_accepts(str(k), tmp_path)


def test_an_instruction_has_one_guard(k: Kernel) -> None:
    few, first = k.laneid < 3, k.laneid == 0
    with k.predicated(few):
        with pytest.raises(BuildError, match="one guard"), k.predicated(first):
            pass
        with pytest.raises(BuildError, match="one guard") as caught:
            k.trap(guard=first)  # a second one
        assert caught.value.location == marked_line("a second one")
        k.trap()
    k.trap(guard=first)
    assert lines(k, "@%p0") == ["@%p0 trap;", "@%p1 trap;", "ret;"]


def test_a_range_has_a_shorter_name(k: Kernel) -> None:
    with k.for_(0, 8) as i:
        k.warp_sync()
    assert i.type is u32
    assert opcodes(k.module()).count("bra") == 2


def test_one_of_two_values_is_selected(k: Kernel, tmp_path: Path) -> None:
    n = k.param(u32, "n")
    p = n > 3
    assert k.where(p, n * 4, 8).multiple == 4
    assert k.where(p, 1, 0, u32).type is u32
    assert k.where(p, 1, 0.5, f32).type is f32
    half = k.register(f16)
    k.mov_b16(0, into=half)
    assert k.where(p, half, half).type is f16
    assert lines(k, "selp")[1:3] == ["selp.u32 %r3, 1, 0, %p0;", "selp.f32 %f0, 0f3F800000, 0f3F000000, %p0;"]
    assert_ptxas_accepts(str(k), tmp_path)


def test_two_constants_have_no_type(k: Kernel) -> None:
    p = k.param(u32, "n") > 3
    with pytest.raises(BuildTypeError, match=r"give it, `k\.where\(p, 1, 0, u32\)`"):
        k.where(p, 1, 0)
    with pytest.raises(BuildTypeError, match="they have one type"):
        k.where(p, k.register(u32), k.register(f32))
    with pytest.raises(BuildTypeError, match="they have one type"):
        k.where(p, k.register(u32), 0, f32)
