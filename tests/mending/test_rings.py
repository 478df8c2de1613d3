"""Help and mends for faults of warp-specialised rings: what they propose must be no worse than the fault."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from ptxkit.diagnostics import Diagnostic
from ptxkit.linter import lint_source
from ptxkit.mending import mend
from ptxkit.source import SourceFile
from tests.mending.rings import COPY, MEETING, READ, RELEASE, RING, ring, with_exchange

BRANCH = f"\t@!%leader bra told;\n\t{RELEASE.split('leader ')[1]}told:\n"


def found(text: str) -> tuple[Diagnostic, ...]:
    return lint_source(SourceFile("k.ptx", text)).diagnostics


def told(text: str) -> list[tuple[str, str]]:
    """Of each finding its code and the statement that it begins at."""
    return [(item.code, text[item.span.start : item.span.end].removeprefix("@%leader ")) for item in found(text)]


def mended(text: str) -> tuple[list[str], list[str]]:
    """The lines that mends took out of a text, and those that they put in; nothing is found in it behind that."""
    after = mend(SourceFile("k.ptx", text), unsafe=True)
    assert after.applied
    assert after.result.diagnostics == ()
    assert after.result.undecided == ()
    old, new = (_lines(each) for each in (text, after.source.text))
    return _without(old, new), _without(new, old)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def _without(lines: Iterable[str], others: list[str]) -> list[str]:
    left = list(others)
    return [line for line in lines if line not in left or left.remove(line)]  # type: ignore[func-returns-value]


def test_rings_are_clean() -> None:
    assert found(RING) == ()
    assert found(ring((RELEASE, BRANCH))) == ()
    assert found(with_exchange()) == ()


@pytest.mark.parametrize("release", [RELEASE, BRANCH])
def test_a_warp_meets_before_one_lane_hands_a_slot_back(release: str) -> None:
    text = ring((MEETING, ""), (RELEASE, release))
    [item] = found(text)
    assert told(text) == [("PTX621", COPY)]
    labels = [text[label.span.start : label.span.end].removeprefix("@%leader ") for label in item.labels]
    assert labels == [READ.strip(), "mbarrier.arrive.shared::cta.b64 _, [%e];"]
    assert item.help is not None
    assert "`bar.warp.sync -1;`" in item.help
    assert mended(text) == ([], ["bar.warp.sync -1;"])
    after = mend(SourceFile("k.ptx", text), unsafe=True).source.text
    assert after.index(READ) < after.index("bar.warp.sync -1;") < after.index(release.split(";", maxsplit=1)[0].strip())


def test_warps_of_a_role_meet_at_a_barrier_of_their_own() -> None:
    text = ring(("\tbar.sync 1, 64;\n", ""), text=with_exchange())
    [item] = found(text)
    assert item.code == "PTX621"
    assert item.help is not None
    assert "`bar.sync 1, 64;`" in item.help
    assert mended(text) == ([], ["bar.sync 1, 64;"])


def test_a_barrier_of_a_role_has_a_number_that_nothing_uses() -> None:
    text = ring(("\tbar.sync 1, 64;\n", ""), ("\tbar.sync 0;\n", "\tbar.sync 1;\n"), text=with_exchange())
    assert mended(text) == ([], ["bar.sync 2, 64;"])


def test_no_barrier_is_proposed_between_two_roles() -> None:
    """The consumers do not hand slots back: no barrier can stand where both roles come by."""
    items = [item for item in found(ring((RELEASE, ""))) if item.code == "PTX621"]
    assert items
    for item in items:
        assert item.help is not None
        assert not re.search(r"\bbar(rier)?\.", item.help)


QUIT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k() .reqntid 64, 1, 1
{
	.reg .pred %p<6>;
	.reg .b32 %r<12>;
	.reg .b64 %rd1;
	.shared .align 8 .b64 bar;
	.shared .align 4 .b32 left;
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra made;
	mbarrier.init.shared.b64 [bar], 64;
	st.shared.u32 [left], 64;
made:
	bar.sync 0;
	mbarrier.arrive.shared.b64 %rd1, [bar];
wait:
	mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;
	@!%p2 bra wait;
	bar.warp.sync -1;
	mov.u32 %r2, %laneid;
	setp.ne.u32 %p3, %r2, 0;
	@%p3 bra end;
	fence.sc.cta;
	atom.add.acquire.cta.shared.u32 %r3, [left], -32;
	setp.ne.u32 %p4, %r3, 32;
	@%p4 bra end;
	mbarrier.inval.shared.b64 [bar];
end:
	ret;
}
"""
"""The last warp to quit a libcu++ pipeline ends the life of its mbarrier; one lane counts for a warp."""


@pytest.mark.parametrize(
    ("missing", "help_", "lines"),
    [
        (["bar.warp.sync -1;"], "add `bar.warp.sync -1;` between", ["bar.warp.sync -1;"]),
        (["fence.sc.cta;"], "add `fence.acq_rel.cta;` before", ["fence.acq_rel.cta;"]),
        (
            ["bar.warp.sync -1;", "fence.sc.cta;"],
            "add `bar.warp.sync -1; fence.acq_rel.cta;` between",
            ["bar.warp.sync -1;", "fence.acq_rel.cta;"],
        ),
    ],
)
def test_what_a_lane_counts_for_its_warp_is_behind_the_waits_of_the_warp(
    missing: list[str], help_: str, lines: list[str]
) -> None:
    assert found(QUIT) == ()
    text = ring(*((f"\t{line}\n", "") for line in missing), text=QUIT)
    [item] = found(text)
    assert item.code == "PTX507"
    assert item.help is not None
    assert item.help.startswith(help_)
    after = mend(SourceFile("k.ptx", text), unsafe=True)
    assert after.result.diagnostics == ()
    assert _without(_lines(after.source.text), _lines(text)) == lines


CLUSTER = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
.reqntid 64, 1, 1
{
	.shared .align 16 .b8 tile[1024];
	.reg .b32 %t, %a, %b, %v;
	.reg .b64 %g, %o, %d;
	ld.param.u64 %g, [in];
	cvta.to.global.u64 %g, %g;
	ld.param.u64 %o, [out];
	cvta.to.global.u64 %o, %o;
	mov.u32 %t, %tid.x;
	mul.wide.u32 %d, %t, 16;
	add.u64 %g, %g, %d;
	shl.b32 %a, %t, 4;
	xor.b32 %b, %a, 512;
	mov.u32 %v, tile;
	add.u32 %a, %a, %v;
	add.u32 %b, %b, %v;
	cp.async.cg.shared.global [%a], [%g], 16;
	cp.async.commit_group;
	cp.async.wait_group 0;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.aligned;
	ld.shared.u32 %v, [%b];
	mul.wide.u32 %d, %t, 4;
	add.u64 %o, %o, %d;
	st.global.u32 [%o], %v;
	ret;
}
"""
"""Threads hand their copies over at the barrier of the cluster."""


def test_a_relaxed_arrival_is_made_a_release() -> None:
    assert found(CLUSTER) == ()
    text = ring(("arrive.release", "arrive.relaxed"), text=CLUSTER)
    [item] = found(text)
    assert item.code == "PTX302"
    assert "line 25 is relaxed" in item.message
    assert item.help == "make the arrival at line 25 a release, and the wait for it an acquire"
    after = mend(SourceFile("k.ptx", text))
    assert after.source.text == CLUSTER
    assert [each.fix.safe for each in after.applied] == [True]


def test_a_wait_behind_the_barrier_is_to_move() -> None:
    """The count of the wait is right; only its place is wrong."""
    wait = "\tcp.async.wait_group 0;\n"
    text = ring((wait, ""), ("\tld.shared", f"{wait}\tld.shared"), text=CLUSTER)
    [item] = found(text)
    assert item.help == "move the wait in front of line 24"
