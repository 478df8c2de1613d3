"""State spaces, generic addresses, and accesses that no correct program makes."""

from __future__ import annotations

import numpy
import pytest

from ptxkit.emulator import RunResult, run
from tests.emulator.support import compute_line, kernel, outcome


def codes(body: str, threads: int = 32, **launch: object) -> list[str]:
    return [each.code for each in outcome(body, threads, **launch).findings]  # type: ignore[arg-type]


def test_a_value_is_stored_to_every_space_and_loaded_again() -> None:
    body = """
 .shared .u32 s[32]; .local .u32 l[4];
 shl.b32 %r2, %r31, 2; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;
 st.shared.u32 [%r3], %r31; ld.shared.u32 %r4, [%r3];
 st.local.u32 [l+8], %r4; ld.local.u32 %r5, [l+8];
 ld.const.u32 %r6, [c+4]; add.u32 %r0, %r5, %r6;
 ld.global.u32 %r7, [g]; add.u32 %r0, %r0, %r7;
"""
    outside = ".const .u32 c[2] = {5, 1000};\n.global .u32 g = 7;"
    assert (compute_line(body, outside=outside) == numpy.arange(32) + 1007).all()


def test_generic_addresses_are_in_windows() -> None:
    body = """
 .shared .u32 s[32]; .local .u32 l;
 mov.u64 %d1, s; cvta.shared.u64 %d2, %d1; mov.u64 %d3, l; cvta.local.u64 %d4, %d3; mov.u64 %d5, g;
 cvta.global.u64 %d5, %d5;
 isspacep.shared %p1, %d2; isspacep.local %p2, %d4; isspacep.global %p3, %d5; isspacep.shared %p4, %d5;
 selp.u32 %r0, 1, 0, %p1; selp.u32 %r1, 1, 0, %p2; selp.u32 %r2, 1, 0, %p3; selp.u32 %r3, 1, 0, %p4;
 st.u32 [%d4], %r31; ld.local.u32 %r4, [l];
 shl.b32 %r5, %r31, 2; cvt.u64.u32 %d6, %r5; add.u64 %d2, %d2, %d6; st.u32 [%d2], %r31;
 cvta.to.shared.u64 %d7, %d2; ld.shared.u32 %r5, [%d7];
"""
    found = compute_line(body, words=6, outside=".global .u32 g;")
    assert (found[:, :4] == [1, 1, 1, 0]).all()
    assert (found[:, 4] == numpy.arange(32)).all()
    assert (found[:, 5] == numpy.arange(32)).all()


def test_lanes_may_load_from_different_windows_at_once() -> None:
    body = """
 .shared .u32 s; .local .u32 l;
 mov.u32 %r1, 11; st.local.u32 [l], %r1; setp.eq.u32 %p1, %r31, 0; mov.u32 %r2, 22;
 @%p1 st.shared.u32 [s], %r2; bar.sync 0;
 mov.u64 %d1, s; cvta.shared.u64 %d1, %d1; mov.u64 %d2, l; cvta.local.u64 %d2, %d2;
 setp.lt.u32 %p2, %r31, 10; selp.b64 %d3, %d1, %d2, %p2; ld.u32 %r0, [%d3];
"""
    assert (compute_line(body) == numpy.where(numpy.arange(32) < 10, 22, 11)).all()


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("ld.global.s8 %r0, [%d31];", 0xFFFFFF80),
        ("ld.global.u8 %r0, [%d31];", 0x80),
        ("ld.global.s16 %r0, [%d31];", 0xFFFF8180),
        ("ld.global.b16 %r0, [%d31];", 0x8180),
        ("ld.global.v2.u16 {%h1, %h2}, [%d31]; mov.b32 %r0, {%h2, %h1};", 0x81808382),
        ("ld.global.v4.u8 {%r1, %r2, %r3, %r0}, [%d31];", 0x83),
        ("ld.global.u64 %d1, [%d31]; mov.b64 {%r1, %r0}, %d1;", 0x87868584),
        ("ld.global.b128 %q1, [%d31]; mov.b128 {%d1, %d2}, %q1; mov.b64 {%r1, %r0}, %d2;", 0x8F8E8D8C),
        ("ld.global.nc.u32 %r0, [%d31+4];", 0x87868584),
    ],
)  # fmt: skip
def test_loads_of_all_widths_return_the_value(line: str, wanted: int) -> None:
    octets = numpy.arange(0x80, 0x90, dtype=numpy.uint8)
    assert (compute_line(f" {line}", inputs=octets) == wanted).all()


def test_stores_truncate_wide_values() -> None:
    text = kernel(
        " ld.param.u64 %d1, [a]; mov.u32 %r1, 0x12345678; st.global.u8 [%d1], %r1; st.global.u16 [%d1+2], %r1;"
        " st.global.v2.u32 [%d1+8], {%r1, %r1};",
        ".param .u64 a",
    )
    found = run(text, "k", block=1, arguments=[numpy.zeros(16, numpy.uint8)]).outputs[0]
    assert found.tobytes().hex() == "78007856" + "00000000" + "78563412" * 2


def one(body: str, array: object = None) -> RunResult:
    given = numpy.zeros(4, numpy.uint32) if array is None else array
    text = kernel(f" ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;\n{body}", ".param .u64 a")
    return run(text, "k", block=8, arguments=[given])


def test_an_access_beyond_a_buffer_is_found_with_its_thread() -> None:
    (found,) = one(" add.u64 %d3, %d1, %d2; st.global.u32 [%d3], %r1;").findings
    assert found.code == "PTX207"
    assert found.witnesses[0].thread == (4, 0, 0)
    assert "argument a, the allocation before it, has 16 bytes, and this is byte 16" in found.message
    assert one(" add.u64 %d3, %d1, %d2; st.global.u32 [%d3], %r1;", numpy.zeros(8, numpy.uint32)).is_clean


def test_a_misaligned_access_is_found() -> None:
    (found,) = one(" ld.global.v2.u32 {%r2, %r3}, [%d1+4];").findings
    assert found.code == "PTX205"
    assert one(" ld.global.v2.u32 {%r2, %r3}, [%d1+8];").is_clean


def test_an_address_outside_of_all_memory_is_found() -> None:
    assert [each.code for each in one(" mov.u64 %d5, 64; ld.global.u32 %r2, [%d5];").findings] == ["PTX207"]


def test_a_variable_is_aligned_exactly_as_declared() -> None:
    found = compute_line(" mov.u32 %r0, tile;", outside=".shared .align 16 .b8 tile[64];")
    assert (found % 32 == 16).all()


def test_shared_memory_ends_after_the_last_variable() -> None:
    inside = ".shared .align 4 .b8 s[64]; mov.u32 %r1, s; ld.shared.u32 %r2, [%r1+60];"
    assert codes(inside) == []
    assert codes(inside.replace("+60", "+64")) == ["PTX207"]
    assert codes(" mov.u32 %r1, 0; ld.shared.u32 %r2, [%r1];") == ["PTX207"]


def test_dynamic_shared_memory_follows_the_static_one() -> None:
    outside = ".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .b8 fixed[20];"
    body = " mov.u32 %r1, dynamic; mov.u32 %r2, fixed; sub.u32 %r0, %r1, %r2; ld.shared.u32 %r3, [%r1+252];"
    assert (compute_line(body, outside=outside, shared=256) == 28).all()
    assert codes(body, outside=outside, shared=128) == ["PTX207"]


def test_variables_contain_their_initial_values() -> None:
    outside = """
.global .align 4 .b8 text[6] = {72, 105, 0};
.global .f32 half = 0f3F000000;
.global .u16 grid[2][3] = {{1, 2, 3}, {4}};
.global .u64 where = generic(text);
"""
    body = """
 ld.global.u8 %r0, [text+1]; ld.global.b32 %r1, [half]; ld.global.u16 %r2, [grid+6];
 ld.global.u64 %d1, [where]; ld.u8 %r3, [%d1];
"""
    assert (compute_line(body, words=4, outside=outside) == [105, 0x3F000000, 4, 72]).all()


def test_the_stack_grows_and_shrinks() -> None:
    body = """
 stacksave.u64 %d1; alloca.u64 %d2, 64, 16; st.local.u32 [%d2+60], %r31; ld.local.u32 %r0, [%d2+60];
 and.b64 %d3, %d2, 15; cvt.u32.u64 %r1, %d3; stackrestore.u64 %d1; stacksave.u64 %d4; sub.u64 %d4, %d4, %d1;
 cvt.u32.u64 %r2, %d4;
"""
    found = compute_line(body, words=3)
    assert (found[:, 0] == numpy.arange(32)).all()
    assert (found[:, 1:] == 0).all()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("cvta.shared.u64 %d2, %d1; ld.shared.u32 %r1, [%d2];", "PTX201"),
        ("cvta.shared.u64 %d2, %d1; cvta.to.shared.u64 %d2, %d2; ld.shared.u32 %r1, [%d2];", None),
        ("cvta.shared.u64 %d2, %d1; cvt.u32.u64 %r2, %d2; ld.shared.u32 %r1, [%r2];", "PTX207"),
        ("ld.u32 %r1, [%d1];", "PTX202"),
        ("cvta.shared.u64 %d2, %d1; ld.u32 %r1, [%d2];", None),
        ("cvta.shared.u64 %d2, %d1; ld.global.u32 %r1, [%d2];", "PTX208"),
        ("mov.u64 %d2, g; ld.global.u32 %r1, [%d2];", None),
        ("mov.u64 %d2, g; ld.const.u32 %r1, [%d2];", "PTX208"),
        ("mov.u64 %d2, g; cvta.global.u64 %d2, %d2; ld.local.u32 %r1, [%d2];", "PTX201"),
    ],
)
def test_an_address_of_one_space_is_invalid_in_another(body: str, code: str | None) -> None:
    found = codes(f" .shared .u32 s; mov.u64 %d1, s; {body}", outside=".global .u32 g;")
    assert found == ([] if code is None else [code])


def test_unwritten_shared_memory_is_uninitialized() -> None:
    body = " .shared .f32 s; ld.shared.f32 %f1, [s]; add.f32 %f2, %f1, 0f3F800000; mov.b32 %r0, %f2;"
    assert numpy.isnan(compute_line(body).view(numpy.float32)).all()


def test_an_element_of_an_array_is_indexed_by_a_register() -> None:
    body = """
 mov.u32 %r6, a; mad.lo.u32 %r6, %r31, 4, %r6; mad.lo.u32 %r7, %r31, 3, 1; st.shared.u32 [%r6], %r7; bar.sync 0;
 xor.b32 %r8, %r31, 1; ld.shared.u32 %r0, a[%r8]; ld.shared.u32 %r1, a[%r31+1];
"""
    outside = ".shared .align 4 .b32 a[33];"
    found = compute_line(body, words=2, outside=outside)
    assert list(found[:, 0]) == [(thread ^ 1) * 3 + 1 for thread in range(32)]
    assert list(found[:31, 1]) == [(thread + 1) * 3 + 1 for thread in range(31)]
