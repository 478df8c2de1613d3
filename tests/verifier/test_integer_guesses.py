"""Numbers that were not given: the values that are tried, those that fit, and the result where none fits."""

from __future__ import annotations

import pytest

from ptxkit.results import FileResult
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, verify_source
from ptxkit.verifier.integer_guesses import INITIAL_INTEGERS, REPLACEMENT_INTEGERS, IntegerGuesses

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry k({parameters}) .reqntid 32
{{
 .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;
{body}
 ret;
}}
"""


def verify_text(parameters: str, body: str, schedules: int = 8) -> FileResult:
    text = KERNEL.format(parameters=parameters, body=body)
    return verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=schedules))


def test_a_number_that_does_not_fit_is_replaced_by_a_multiple_of_sixteen() -> None:
    guesses = IntegerGuesses()
    place = ("n", 0)
    assert [guesses.integer(each, place) for each in range(len(INITIAL_INTEGERS))] == list(INITIAL_INTEGERS)
    assert guesses.replace(0)
    assert guesses.integer(0, place) == guesses.integer(len(INITIAL_INTEGERS), place) == REPLACEMENT_INTEGERS[0]


def test_without_number_parameters_none_is_replaced() -> None:
    assert not IntegerGuesses().replace(0)


def test_rows_of_a_multiple_of_sixteen_bytes_are_found_to_fit() -> None:
    body = """ ld.param.u64 %d0, [a]; ld.param.u32 %r0, [pitch]; mov.u32 %r1, %tid.x;
 mul.lo.u32 %r2, %r1, %r0; cvt.u64.u32 %d1, %r2; add.u64 %d2, %d0, %d1;
 ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d2];"""
    result = verify_text(".param .u64 a, .param .u32 pitch", body)
    assert result.status == "clean"
    (run,) = result.runs
    assert run.whole == 8
    assert run.runs > 8
    assert not {"pitch=9", "pitch=1"}.isdisjoint(run.arguments)
    assert "pitch=128" in run.arguments


def test_launch_sized_memory_is_as_large_as_possible() -> None:
    body = " mov.u32 %r0, room; add.u32 %r0, %r0, 232400; st.shared.u32 [%r0], %r0;"
    assert (
        verify_text("", " mov.u32 %r7, %tid.x; setp.eq.u32 %p0, %r7, 0;\n @!%p0 bra E;\n" + body + "\nE:").status
        == "clean"
    )


def test_a_kernel_of_which_little_ran_is_not_clean() -> None:
    body = """ ld.param.u32 %r0, [s+8]; setp.ne.u32 %p0, %r0, 12345; @%p0 bra E;
 mov.u32 %r1, 1; add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1;
E:"""
    result = verify_text(".param .align 8 .b8 s[16]", body)
    assert result.status == "undecided"
    assert "lead to 4 of 9 instructions only: give --arg" in result.undecided[0].reason


def test_inferred_maps_are_named() -> None:
    body = """ .shared .align 128 .b8 tile[8192]; .shared .align 8 .b64 bar;
 mov.u32 %r7, %tid.x; setp.eq.u32 %p0, %r7, 0;
 @!%p0 bra E;
 mbarrier.init.shared::cta.b64 [bar], 1;
 mbarrier.arrive.expect_tx.shared::cta.b64 %d0, [bar], 8200;
 cvta.param.u64 %d1, a; cvta.param.u64 %d2, b; mov.u32 %r0, 0;
 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d1, {%r0, %r0}], [bar];
 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d2, {%r0, %r0}], [bar];
WAIT:
 mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra WAIT;
E:"""
    result = verify_text(".param .align 128 .b8 a[128], .param .align 128 .b8 b[128]", body)
    reported = " ".join(each.reason for each in result.undecided)
    assert "give --arg 'a=f16[256,256]:box=64x64' --arg 'b=f16[256,256]" in reported


def test_a_number_of_eight_bits_gets_a_value_in_range() -> None:
    result = verify_text(".param .u8 few", " ld.param.u8 %r0, [few];", schedules=9)
    assert result.status == "clean"
    assert {"few=0", "few=232"} <= set(result.runs[0].arguments)


STORE = " mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1; st.u32 [%d2+2048], %r0;"


def test_the_target_of_a_pointer_in_a_structure_is_memory() -> None:
    result = verify_text(".param .align 8 .b8 s[16]", " ld.param.u64 %d0, [s+8];\n" + STORE)
    assert result.status == "clean"
    assert "s=16 bytes of 0, 1 MiB iota at 8" in result.runs[0].arguments


def test_an_address_computed_from_chosen_numbers_is_not_a_fault_of_the_kernel() -> None:
    body = " ld.param.v2.u32 {%r0, %r1}, [s+8]; mov.b64 %d0, {%r0, %r1};\n"
    result = verify_text(".param .align 8 .b8 s[16]", body + STORE)
    assert result.diagnostics == ()
    assert "the address 0x900000809 of an access of 4 bytes is misaligned" in result.undecided[0].reason


def test_numbers_with_which_a_run_takes_too_long_are_replaced_by_smaller_ones() -> None:
    guesses = IntegerGuesses()
    place = ("n", 0)
    assert guesses.integer(3, place) == 256
    assert guesses.lower(3)
    left = [guesses.integer(each, place) for each in range(len(INITIAL_INTEGERS))]
    assert left == [9, 64, 1, 128, 2, 19, 3, 0, 192]
    assert guesses.lower(3)
    again = [guesses.integer(each, place) for each in range(len(INITIAL_INTEGERS))]
    assert again == [9, 64, 1, 32, 2, 19, 3, 0, 16]


def test_a_small_number_with_which_a_run_takes_too_long_is_reduced_by_a_factor() -> None:
    guesses = IntegerGuesses()
    assert guesses.integer(1, ("n", 0)) == 64
    assert guesses.lower(1)
    assert [guesses.integer(each, ("n", 0)) for each in range(4)] == [9, 16, 1, 4]


def test_a_kernel_without_numbers_has_no_smaller_ones() -> None:
    assert not IntegerGuesses().lower(3)


@pytest.mark.parametrize(("buffers", "mebibytes"), [(0, 16), (1, 16), (2, 16), (3, 8), (10, 2), (90, 1)])
def test_the_larger_buffers_have_a_limited_size_together(buffers: int, mebibytes: int) -> None:
    guesses = IntegerGuesses(buffers=buffers)
    assert guesses.grow_buffers() is (mebibytes > 1)
    assert guesses.buffer_bytes == mebibytes << 20
    assert not guesses.grow_buffers()
