"""Help and fixes for faults of warp-specialized rings: they must not be worse than the fault."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from ptxkit.diagnostics import Diagnostic
from ptxkit.fixes import fix_source
from ptxkit.linter import lint_source
from ptxkit.source import SourceFile
from tests.fixes.rings import (
    COPY,
    EXPECTED,
    MEETING,
    READ,
    RELEASE,
    RING,
    WAIT_EMPTY,
    WAIT_FULL,
    ring,
    with_exchange,
)

BRANCH = f"\t@!%leader bra told;\n\t{RELEASE.split('leader ')[1]}told:\n"


def find_all(text: str) -> tuple[Diagnostic, ...]:
    return lint_source(SourceFile("k.ptx", text)).diagnostics


def report_all(text: str) -> list[tuple[str, str]]:
    """Returns the code of each finding and its first statement."""
    return [(item.code, text[item.span.start : item.span.end].removeprefix("@%leader ")) for item in find_all(text)]


def fix_all(text: str) -> tuple[list[str], list[str]]:
    """Returns the lines that fixes removed from a text, and those that they inserted; the result has no findings."""
    after = fix_source(SourceFile("k.ptx", text), unsafe=True)
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
    assert find_all(RING) == ()
    assert find_all(ring((RELEASE, BRANCH))) == ()
    assert find_all(with_exchange()) == ()


@pytest.mark.parametrize("release", [RELEASE, BRANCH])
def test_a_warp_synchronizes_before_one_lane_releases_a_slot(release: str) -> None:
    text = ring((MEETING, ""), (RELEASE, release))
    [item] = find_all(text)
    assert report_all(text) == [("PTX621", COPY)]
    labels = [text[label.span.start : label.span.end].removeprefix("@%leader ") for label in item.labels]
    assert labels == [READ.strip(), "mbarrier.arrive.shared::cta.b64 _, [%e];"]
    assert item.help is not None
    assert "`bar.warp.sync -1;`" in item.help
    assert fix_all(text) == ([], ["bar.warp.sync -1;"])
    after = fix_source(SourceFile("k.ptx", text), unsafe=True).source.text
    assert after.index(READ) < after.index("bar.warp.sync -1;") < after.index(release.split(";", maxsplit=1)[0].strip())


def test_warps_of_a_role_synchronize_at_a_separate_barrier() -> None:
    text = ring(("\tbar.sync 1, 64;\n", ""), text=with_exchange())
    [item] = find_all(text)
    assert item.code == "PTX621"
    assert item.help is not None
    assert "`bar.sync 1, 64;`" in item.help
    assert fix_all(text) == ([], ["bar.sync 1, 64;"])


def test_a_barrier_of_a_role_has_an_unused_number() -> None:
    text = ring(("\tbar.sync 1, 64;\n", ""), ("\tbar.sync 0;\n", "\tbar.sync 1;\n"), text=with_exchange())
    assert fix_all(text) == ([], ["bar.sync 2, 64;"])


def test_no_barrier_is_proposed_between_two_roles() -> None:
    """The consumers do not release slots: no barrier is on a path of both roles."""
    items = [item for item in find_all(ring((RELEASE, ""))) if item.code == "PTX621"]
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
"""The last warp to quit a libcu++ pipeline invalidates its mbarrier; one lane counts for a warp."""


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
def test_the_count_of_a_lane_for_its_warp_follows_the_waits_of_the_warp(
    missing: list[str], help_: str, lines: list[str]
) -> None:
    assert find_all(QUIT) == ()
    text = ring(*((f"\t{line}\n", "") for line in missing), text=QUIT)
    [item] = find_all(text)
    assert item.code == "PTX507"
    assert item.help is not None
    assert item.help.startswith(help_)
    after = fix_source(SourceFile("k.ptx", text), unsafe=True)
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
"""Threads synchronize their copies at the barrier of the cluster."""


def test_a_relaxed_arrival_is_made_a_release() -> None:
    assert find_all(CLUSTER) == ()
    text = ring(("arrive.release", "arrive.relaxed"), text=CLUSTER)
    [item] = find_all(text)
    assert item.code == "PTX302"
    assert "line 25 is relaxed" in item.message
    assert item.help == "make the arrival at line 25 a release, and the wait for it an acquire"
    after = fix_source(SourceFile("k.ptx", text))
    assert after.source.text == CLUSTER
    assert [each.fix.safe for each in after.applied] == [True]


def test_a_wait_after_the_barrier_must_be_moved() -> None:
    """The count of the wait is correct; only its location is wrong."""
    wait = "\tcp.async.wait_group 0;\n"
    text = ring((wait, ""), ("\tld.shared", f"{wait}\tld.shared"), text=CLUSTER)
    [item] = find_all(text)
    assert item.help == "move the wait before line 24"


# ------------------------------------------------------------------------------------------------ parities and counts

BULK = ring(
    ("\tbar.sync 1, 64;\n", "\tfence.proxy.async.shared::cta;\n\tbar.sync 1, 64;\n"),
    (
        "\txor.b32 %e, %e, 128;\n\tadd.u32 %tile, %v, %e;\n\tld.shared.u32 %sum, [%tile];\n\tmul.wide.u32 %o, %t, 4;\n"
        "\tadd.u64 %out, %out, %o;\n\tst.global.u32 [%out], %sum;\n",
        "\t@!%first bra end;\n\tcp.async.bulk.global.shared::cta.bulk_group [%out], [%v], 256;\n"
        "\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;\n",
    ),
    text=with_exchange(),
)
"""The ring whose consumers copy their sums out together."""

STORED = ring((f"\t{EXPECTED}\n", ""), (COPY, "st.shared.u32 [%tile], %i;\n\tmbarrier.arrive.shared::cta.b64 _, [%f];"))
"""The ring whose producer stores a word in each slot."""


@pytest.mark.parametrize("mask", ["-1", "0xffffffff"])
def test_all_lanes_synchronize_whatever_the_notation_of_their_mask(mask: str) -> None:
    """No lane is an iteration later than the one that releases slots for its warp."""
    assert find_all(ring(("bar.warp.sync -1;", f"bar.warp.sync {mask};"), text=STORED)) == ()


@pytest.mark.parametrize("text", [RING, STORED])
def test_of_two_roles_with_the_same_first_parity_the_producer_is_wrong(text: str) -> None:
    """Producer and consumers wait for each other without end; only the producer may pass at first."""
    assert find_all(text) == ()
    wrong = ring(("mov.u32 %parity, 1;", "mov.u32 %parity, 0;"), text=text)
    [item] = find_all(wrong)
    assert report_all(wrong) == [("PTX504", WAIT_EMPTY)]
    assert [wrong[label.span.start : label.span.end] for label in item.labels] == [WAIT_FULL]
    assert item.help is not None
    assert item.help.startswith("begin with parity 1")
    assert fix_all(wrong) == (["mov.u32 %parity, 0;"], ["mov.u32 %parity, 1;"])


def test_a_consumer_that_passes_at_once_begins_with_the_other_parity() -> None:
    text = ring(("mov.u32 %parity, 0;", "mov.u32 %parity, 1;"))
    by_code = {item.code: item for item in find_all(text)}
    assert by_code.keys() == {"PTX302", "PTX505"}
    excess = by_code["PTX505"]
    [last] = [text[label.span.start : label.span.end] for label in excess.labels][-1:]
    assert last == WAIT_FULL
    assert excess.help is not None
    assert excess.help.startswith("begin with parity 0 at line")
    early = by_code["PTX302"]
    assert [text[label.span.start : label.span.end] for label in early.labels] == [COPY, WAIT_FULL]
    assert early.message.endswith("passes before its first phase ends")
    assert early.help == f"wait for parity 0 first at line {text[: text.index(WAIT_FULL)].count(chr(10)) + 1}"
    assert fix_all(text) == (["mov.u32 %parity, 1;"], ["mov.u32 %parity, 0;"])


@pytest.mark.parametrize(
    ("name", "right", "wrong", "expected"),
    [
        ("empty", 2, 64, [("PTX504", WAIT_EMPTY)]),
        ("empty", 2, 3, [("PTX504", WAIT_EMPTY)]),
        ("empty", 2, 1, [("PTX621", COPY), ("PTX505", RELEASE.strip().removeprefix("@%leader "))]),
        ("full", 1, 2, [("PTX504", WAIT_FULL)]),
    ],
)
def test_the_count_of_all_slots_is_that_of_the_arrivals(
    name: str, right: int, wrong: int, expected: list[tuple[str, str]]
) -> None:
    slots = [f"mbarrier.init.shared::cta.b64 [{name}{at}]" for at in ("", "+8")]
    text = ring(*((f"{slot}, {right};", f"{slot}, {wrong};") for slot in slots))
    [*_, item] = find_all(text)
    assert report_all(text) == expected
    arriving = "1 thread" if wrong == 1 else f"{wrong} threads"
    assert item.help == f"make the count of `mbarrier.init` {right}, or let {arriving} arrive in each phase"
    assert fix_all(text) == ([f"{slot}, {wrong};" for slot in slots], [f"{slot}, {right};" for slot in slots])


def test_the_count_follows_lanes_that_all_arrive() -> None:
    text = ring((RELEASE, RELEASE.replace("@%leader ", "")))
    assert report_all(text) == [("PTX505", RELEASE.strip().removeprefix("@%leader "))]
    slots = [f"mbarrier.init.shared::cta.b64 [empty{at}]" for at in ("", "+8")]
    assert fix_all(text) == ([f"{slot}, 2;" for slot in slots], [f"{slot}, 64;" for slot in slots])


def test_an_expect_tx_without_arrival_gets_its_arrival() -> None:
    alone = EXPECTED.replace("arrive.expect_tx.shared::cta.b64 _,", "expect_tx.relaxed.cta.shared::cta.b64")
    text = ring((EXPECTED, alone))
    assert report_all(text) == [("PTX503", alone)]
    assert fix_all(text) == ([], ["mbarrier.arrive.shared::cta.b64 _, [%f];"])


def test_a_role_fences_bytes_before_it_copies_them() -> None:
    assert find_all(BULK) == ()
    text = ring(("\tfence.proxy.async.shared::cta;\n", ""), text=BULK)
    assert report_all(text) == [("PTX401", "cp.async.bulk.global.shared::cta.bulk_group [%out], [%v], 256;")]
    assert fix_all(text) == ([], ["fence.proxy.async.shared::cta;"])


def test_a_role_synchronizes_separately_before_it_copies_to_global_memory() -> None:
    text = ring(("\tbar.sync 1, 64;\n", ""), text=BULK)
    [item] = find_all(text)
    assert item.code == "PTX401"
    assert item.help is not None
    assert item.help.startswith("add `bar.sync 1, 64;` after the fence")
    assert fix_all(text) == ([], ["bar.sync 1, 64;"])


@pytest.mark.parametrize(
    "changes",
    [
        [(RELEASE, "")],
        [(RELEASE, RELEASE.replace("[%e]", "[%f]"))],
        [(f"filled:\n\t{WAIT_FULL}\n\t@!%done bra filled;\n", "")],
        [("setp.lt.u32 %more, %i, 8;\n\t@%more bra produce;", "setp.lt.u32 %more, %i, 7;\n\t@%more bra produce;")],
    ],
)
def test_nothing_is_inserted_where_its_registers_have_other_values(changes: list[tuple[str, str]]) -> None:
    """An arrival or a wait of the producer would be clean where the contents of its address register are unknown."""
    text = ring(*changes)
    assert find_all(text)
    after = fix_source(SourceFile("k.ptx", text), unsafe=True).source.text
    beginning = after[: after.index("produce:")]
    assert "mbarrier.arrive" not in beginning
    assert "try_wait" not in beginning
    assert "try_wait.parity.shared::cta.b64 %waited, [%f]" not in after[: after.index("consumer:")]


# ----------------------------------------------------------------------------------- arrivals and waits of a ring

ALL_ARRIVE = ring(
    (f"{MEETING}{RELEASE}", "\tmbarrier.arrive.shared::cta.b64 _, [%e];\n"),
    ("[empty], 2;", "[empty], 64;"),
    ("[empty+8], 2;", "[empty+8], 64;"),
)
"""The ring whose readers arrive one by one."""


@pytest.mark.parametrize("text", [RING, STORED, BULK])
def test_a_missing_release_is_inserted_after_the_last_read_by_a_lane_of_each_warp(text: str) -> None:
    wrong = ring((f"{MEETING}{RELEASE}", ""), text=text)
    item = next(each for each in find_all(wrong) if each.code == "PTX503")
    assert wrong[item.span.start : item.span.end] == WAIT_EMPTY
    assert [wrong[label.span.start : label.span.end] for label in item.labels] == [READ.strip()]
    line = wrong[: wrong.index(READ.strip())].count("\n") + 1
    assert item.help == (
        f"let one lane of each of the 2 warps that read the slot arrive at it after line {line} and `bar.warp.sync -1;`"
    )
    removed, added = fix_all(wrong)
    assert removed == []
    assert added[0] == "bar.warp.sync -1;"
    assert added[-2:] == ["@%elected mbarrier.arrive.shared::cta.b64 _, [%e];", "}"]
    assert not any(line.startswith("bar.sync") for line in added)


def test_each_reader_arrives_where_the_count_is_that_of_the_readers() -> None:
    assert find_all(ALL_ARRIVE) == ()
    wrong = ring(("\tmbarrier.arrive.shared::cta.b64 _, [%e];\n", ""), text=ALL_ARRIVE)
    [item] = [each for each in find_all(wrong) if each.code == "PTX503"]
    assert item.help is not None
    assert item.help.startswith("let each of the 64 threads that read the slot arrive at it after line")
    assert fix_all(wrong) == ([], ["mbarrier.arrive.shared::cta.b64 _, [%e];"])


def test_the_mbarrier_of_a_slot_is_computed_where_no_register_of_the_readers_has_it() -> None:
    consumer = RING[RING.index("consumer:") :]
    used = consumer.replace("\tmov.u32 %e, empty;\n\tadd.u32 %e, %e, %f;\n", "").replace(RELEASE, "")
    assert "%e" not in used
    removed, added = fix_all(RING[: RING.index("consumer:")] + used)
    assert removed == []
    assert [line for line in added if line.startswith(("mov.b32", "sub", "add"))] == [
        "mov.b32 %own, full;",
        "mov.b32 %other, empty;",
        "sub.s32 %own, %f, %own;",
        "add.s32 %other, %other, %own;",
    ]
    assert "@%elected mbarrier.arrive.shared::cta.b64 _, [%other];" in added


def test_the_mbarrier_of_a_slot_is_at_an_offset_in_the_same_variable() -> None:
    text = ring(
        ("\t.shared .align 8 .b64 full[2];\n\t.shared .align 8 .b64 empty[2];\n", "\t.shared .align 8 .b64 bars[4];\n"),
        ("[full", "[bars"),
        ("[empty+8]", "[bars+24]"),
        ("[empty]", "[bars+16]"),
        ("\tmov.u32 %e, empty;\n\tadd.u32 %e, %e, %f;\n", ""),
        ("mov.u32 %v, full;", "mov.u32 %v, bars;"),
        ("[%e]", "[%f+16]"),
    )
    assert find_all(text) == ()
    _, added = fix_all(ring((RELEASE.replace("[%e]", "[%f+16]"), ""), text=text))
    assert "@%elected mbarrier.arrive.shared::cta.b64 _, [%f+16];" in added
    assert fix_all(ring((WAIT_FULL, WAIT_FULL.replace("[%f]", "[%f+16]")), text=text))[1] == [WAIT_FULL]


@pytest.mark.parametrize("text", [RING, STORED])
def test_readers_that_wait_for_the_writers_mbarrier_are_shown_their_own(text: str) -> None:
    """Each reader waits for its own arrival: that wait never ends."""
    wrong = ring((WAIT_FULL, WAIT_FULL.replace("[%f]", "[%e]")), text=text)
    item = next(each for each in find_all(wrong) if each.code == "PTX504")
    consumer = wrong.index("filled:")
    assert item.span.start == wrong.index("mbarrier.try_wait", consumer)
    line = wrong[: item.span.start].count("\n") + 1
    assert item.help == f"wait for the mbarrier of `full` at line {line}: all threads would continue then"
    assert fix_all(wrong) == ([WAIT_EMPTY], [WAIT_FULL])


@pytest.mark.parametrize("text", [RING, STORED])
def test_a_writer_that_waits_for_its_own_mbarrier_is_shown_that_of_the_readers(text: str) -> None:
    wrong = ring((WAIT_EMPTY, WAIT_EMPTY.replace("[%e]", "[%f]")), text=text)
    item = next(each for each in find_all(wrong) if each.code == "PTX505")
    wait = wrong.index("mbarrier.try_wait")
    assert item.labels[-1].span.start == wait
    line = wrong[:wait].count("\n") + 1
    assert item.help == f"wait for the mbarrier of `empty` at line {line}: all threads would continue then"
    assert fix_all(wrong) == ([WAIT_FULL], [WAIT_EMPTY])
