"""Loops that no execution repeats, and code for large sizes: a larger size is tried before questions stay open."""

from __future__ import annotations

from ptxkit.diagnostics import Verdict
from ptxkit.linter import lint

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u32 n)
.reqntid 32, 1, 1
{{
	.shared .align 16 .b8 tile[512];
	.shared .align 8 .b64 bars[2];
	.reg .pred %p, %first, %done;
	.reg .b32 %t, %tile, %n, %slot, %bar, %v, %dst;
	.reg .b64 %g;
	ld.param.u64 %g, [in];
	ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
	setp.eq.u32 %first, %t, 0;
	@%first mbarrier.init.shared::cta.b64 [bars], 1;
	{second}
	bar.sync 0;
	mov.u32 %tile, 0;
	mov.u32 %slot, 0;
next:
	mov.u32 %bar, bars;
	mad.lo.u32 %bar, %slot, 8, %bar;
	@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256;
	mov.u32 %dst, tile;
	mad.lo.u32 %dst, %slot, 256, %dst;
	@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%dst], [%g], 256, [%bar];
wait:
	mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], 0;
	@!%done bra wait;
	ld.shared.u32 %v, [%dst];
	add.u32 %slot, %slot, 1;
	add.u32 %tile, %tile, {step};
	setp.lt.u32 %p, %tile, %n;
	setp.lt.and.u32 %p, %slot, 2, %p;
	@%p bra next;
	ret;
}}
"""
SECOND = "@%first mbarrier.init.shared::cta.b64 [bars+8], 1;"


def verdict(step: int, second: str = SECOND) -> Verdict:
    return lint(KERNEL.format(step=step, second=second))


def unrepeated_loops(found: Verdict) -> list[str]:
    return [each.code for each in found.undecided if "repeated the loop" in each.reason]


def test_a_size_that_repeats_the_loop_is_tried() -> None:
    found = verdict(step=600)
    assert not found.diagnostics
    assert not unrepeated_loops(found)


def test_a_fault_of_the_second_round_is_found() -> None:
    assert "PTX501" in {each.code for each in verdict(step=600, second="").diagnostics}


def test_a_loop_that_no_execution_repeats_is_open() -> None:
    for second in (SECOND, ""):
        assert set(unrepeated_loops(verdict(step=1 << 20, second=second))) == {"PTX300"}


def test_a_repeated_loop_needs_no_other_size() -> None:
    assert not unrepeated_loops(verdict(step=4))


def test_code_for_multiples_of_large_tiles_is_reached() -> None:
    guarded = KERNEL.replace(
        "\tmov.u32 %t, %tid.x;\n",
        "\tmov.u32 %t, %tid.x;\n\tshr.u32 %v, %n, 8;\n\tand.b32 %slot, %v, 7;\n"
        "\tsetp.ne.u32 %p, %slot, 0;\n\t@%p exit;\n"
        "\tsetp.eq.u32 %p, %v, 0;\n\t@%p exit;\n",
    )
    assert guarded != KERNEL
    found = lint(guarded.format(step=600, second=SECOND))
    assert not [each for each in found.undecided if each.code == "PTX300"]
    faulty = lint(guarded.format(step=600, second=""))
    assert "PTX501" in {each.code for each in faulty.diagnostics}
