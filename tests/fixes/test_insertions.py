"""Fixes that insert a missing barrier, arrival, expect-tx, wait, or mbarrier."""

from __future__ import annotations

import pytest

from ptxkit.fixes import fix_source
from ptxkit.fixes.insertion_points import context_at
from ptxkit.linter import lint_source
from ptxkit.source import SourceFile
from tests.testing.test_faults import KERNEL

ARRIVE = "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;"
COPY = "\t@%first cp.async.bulk.shared::cluster"
RACE = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 64, 1, 1
{
	.shared .align 16 .b8 tile[256];
	.reg .pred %p;
	.reg .b32 %t, %a, %v;
	.reg .b64 %g;
	ld.param.u64 %g, [out];
	cvta.to.global.u64 %g, %g;
	mov.u32 %t, %tid.x;
	shl.b32 %a, %t, 2;
	mov.u32 %v, tile;
	add.u32 %a, %a, %v;
	st.shared.u32 [%a], %t;
	setp.ne.u32 %p, %t, 0;
	@%p bra done;
	ld.shared.u32 %v, [tile+128];
	st.global.u32 [%g], %v;
done:
	ret;
}
"""


def added_lines(text: str) -> tuple[list[str], list[str]]:
    """Returns the remaining findings after all fixes, and the inserted lines, stripped."""
    fixed = fix_source(SourceFile("k.ptx", text), unsafe=True)
    assert fixed.applied
    old = [line.strip() for line in text.splitlines()]
    new = [line.strip() for line in fixed.source.text.splitlines()]
    for line in old:
        new.remove(line)
    return [item.code for item in fixed.result.diagnostics], new


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (f"\t{ARRIVE}\n", "", [ARRIVE]),
        ("arrive.expect_tx.shared::cta.b64 _,", "expect_tx.relaxed.cta.shared::cta.b64",
         ["@%first mbarrier.arrive.shared::cta.b64 _, [bar];"]),
    ],
)  # fmt: skip
def test_an_arrival_and_its_bytes_are_inserted_for_the_threads_that_copy(old: str, new: str, lines: list[str]) -> None:
    assert old in KERNEL
    assert added_lines(KERNEL.replace(old, new)) == ([], lines)


def test_bytes_are_expected_with_the_existing_arrival() -> None:
    text = KERNEL.replace("arrive.expect_tx.shared::cta.b64 _, [bar], 1024", "arrive.shared::cta.b64 _, [bar]")
    assert fix_source(SourceFile("k.ptx", text), unsafe=True).source.text == KERNEL


def test_a_wait_is_inserted_before_the_read() -> None:
    wait = KERNEL[KERNEL.index("wait:") : KERNEL.index("\tld.shared.u32")]
    codes, lines = added_lines(KERNEL.replace(wait, ""))
    assert codes == []
    assert any(line.startswith("mbarrier.try_wait.parity.shared::cta.b64") and "[bar], 0;" in line for line in lines)


def test_an_mbarrier_is_initialized_by_one_thread() -> None:
    codes, lines = added_lines(KERNEL.replace("\t@%first mbarrier.init.shared::cta.b64 [bar], 1;\n", ""))
    assert codes == []
    assert "@%first mbarrier.init.shared.b64 [bar], 1;" in lines
    assert "bar.sync 0;" in lines


def test_a_barrier_is_inserted_on_a_path_of_all_threads() -> None:
    text = RACE
    assert [item.code for item in lint_source(SourceFile("k.ptx", text)).diagnostics] == ["PTX621"]
    assert added_lines(text) == ([], ["bar.sync 0;"])
    after = fix_source(SourceFile("k.ptx", text), unsafe=True).source.text
    assert after.index("bar.sync") < after.index("@%p bra done;")


def test_nothing_is_inserted_without_a_request() -> None:
    assert fix_source(SourceFile("k.ptx", RACE)).applied == ()
    ordered = RACE.replace("\tsetp.ne", "\tbar.sync 0;\n\tsetp.ne")
    assert fix_source(SourceFile("k.ptx", ordered), unsafe=True).applied == ()


def test_insertion_points_are_outside_of_the_branches_around_a_statement() -> None:
    source = SourceFile("k.ptx", RACE)
    start = RACE.index("ld.shared.u32")
    around = context_at(source, start)
    assert around is not None
    step = around.step_at(start)
    assert step is not None
    assert list(around.points_before(step)) == [start, RACE.index("@%p bra")]
    assert list(around.points_after(step)) == [RACE.index("\n\tst.global"), RACE.index("ret;")]
    assert around.step_at(start + 1) is None
    assert context_at(SourceFile("k.ptx", "not PTX"), 0) is None


def test_an_address_in_a_register_is_named_after_its_variable() -> None:
    text = KERNEL.replace("\tmov.u32 %s, tile;\n", "\tmov.u32 %s, tile;\n\tmov.u32 %bar, bar;\n").replace(
        "[bar]", "[%bar]"
    )
    text = text.replace("%t, %s, %v;", "%t, %s, %v, %bar;")
    codes, lines = added_lines(text.replace("\t@%first mbarrier.init.shared::cta.b64 [%bar], 1;\n", ""))
    assert codes == []
    assert "@%first mbarrier.init.shared.b64 [bar], 1;" in lines


CLUSTER = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
.reqntid 32, 1, 1
.reqnctapercluster 2, 1, 1
{
	.shared .align 16 .b32 word;
	.reg .b32 %peer, %a;
	mov.u32 %peer, %cluster_ctarank;
	xor.b32 %peer, %peer, 1;
	mov.u32 %a, word;
	mapa.shared::cluster.u32 %a, %a, %peer;
	st.shared::cluster.u32 [%a], %peer;
	ret;
}
"""


def test_the_ctas_of_a_cluster_synchronize_before_and_after_remote_accesses() -> None:
    found = {item.code for item in lint_source(SourceFile("k.ptx", CLUSTER)).diagnostics}
    assert found == {"PTX611", "PTX612"}
    assert added_lines(CLUSTER) == ([], ["barrier.cluster.arrive;", "barrier.cluster.wait;"] * 2)


@pytest.mark.parametrize("half", ["barrier.cluster.arrive;", "barrier.cluster.wait;"])
def test_the_missing_half_of_a_cluster_barrier_is_inserted_next_to_the_other(half: str) -> None:
    meeting = "\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n"
    whole = CLUSTER.replace("\tst.", f"{meeting}\tst.").replace("\tret", f"{meeting}\tret")
    assert lint_source(SourceFile("k.ptx", whole)).diagnostics == ()
    text = whole.replace(f"\t{half}\n", "", 1)
    assert fix_source(SourceFile("k.ptx", text), unsafe=True).source.text == whole
