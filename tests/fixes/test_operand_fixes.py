"""Fixes of wrong statements: an address of another kind, a number, a guard, a parity, a wait without a loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.fixes import fix_source, with_verified_fixes
from ptxkit.linter import lint_source
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile
from tests.testing.test_faults import KERNEL

RULES = Path(__file__).resolve().parents[2] / "corpus" / "rules"
ARRIVE = "\t@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;\n"
READ = "ld.shared.u32 %v, [%s];"
WAIT = "mbarrier.try_wait.parity.shared::cta.b64 %done, [bar]"


def fix_all(text: str) -> str:
    """Returns a text after all fixes, which has no findings any more."""
    found = SourceFile("k.ptx", text)
    assert lint_source(found).diagnostics
    after = fix_source(found, unsafe=True)
    assert after.result.diagnostics == ()
    assert not any(applied.fix.safe for applied in after.applied)
    return after.source.text


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (READ, "ld.u32 %v, [%s];"),
        (READ, "ld.global.u32 %v, [%s];"),
        ("[%s+8]", "[%s+10]"),
        ("[%s+1020]", "[%s+1028]"),
        ("\tbar.sync 0;\n\t@%first mbarrier", "\t@%first bar.sync 0;\n\t@%first mbarrier"),
        (ARRIVE, ARRIVE + ARRIVE),
        (f"{WAIT}, 0;", f"{WAIT}, 1;"),
        (WAIT, WAIT.replace("[bar]", "[bar+8]")),
    ],
)
def test_a_wrong_operand_is_corrected(right: str, wrong: str) -> None:
    text = KERNEL.replace("[%s+8]", "[%s+1020]") if "1020" in right else KERNEL
    assert right in text
    assert fix_all(text.replace(right, wrong)) == text


def test_an_address_is_converted_where_no_converted_one_exists() -> None:
    converted = KERNEL.replace("%g;\n\tld.param", "%g, %h;\n\tld.param").replace(
        READ, "cvt.u64.u32 %h, %s;\n\tcvta.shared.u64 %h, %h;\n\tadd.u64 %h, %h, 4;\n\tld.shared.u32 %v, [%h];"
    )
    assert "cvta.to.shared.u64 %converted, %h;" in fix_all(converted)
    left_out = converted.replace("\tadd.u64 %h, %h, 4;\n", "")
    assert "cvta.shared.u64" not in fix_all(left_out)


def test_a_step_of_one_thread_is_guarded_for_the_first() -> None:
    init = "mbarrier.init.shared::cta.b64 [bar], 1;"
    assert f"@%first {init}" in fix_all(KERNEL.replace(f"@%first {init}", init)).replace("%first_", "%first")


def test_counts_are_raised_to_include_all_arrivals() -> None:
    text = KERNEL.replace("[bar], 1;", "[bar], 2;").replace(
        "wait:", "\t@%first mbarrier.arrive.shared::cta.b64 _, [bar];\nwait:"
    )
    assert lint_source(SourceFile("k.ptx", text)).diagnostics == ()
    assert fix_all(text.replace("[bar], 2;", "[bar], 1;")) == text


def test_a_wait_is_repeated_until_it_succeeds() -> None:
    text = fix_all(KERNEL.replace("\t@!%done bra wait;\n", ""))
    assert text.index("again:") < text.index(WAIT) < text.index("@!%done bra again;")


def in_laps(text: str) -> str:
    """The kernel with eight iterations of copy, wait and read."""
    text = text.replace(".reg .b32 %t,", ".reg .pred %again;\n\t.reg .b32 %i, %t,")
    text = text.replace(ARRIVE, f"\tmov.u32 %i, 0;\nlap:\n{ARRIVE}")
    turn = "bar.sync 0;\n\tadd.u32 %i, %i, 1;\n\tsetp.lt.u32 %again, %i, 8;\n\t@%again bra lap;"
    return text.replace(READ, f"{READ}\n\t{turn}")


def test_a_parity_follows_the_iterations() -> None:
    text = fix_all(in_laps(KERNEL))
    assert f"{WAIT}, %awaited;\n\t@!%done bra wait;\n\txor.b32 %awaited, %awaited, 1;" in text
    assert "mov.b32 %awaited, 0;" in text
    assert fix_source(SourceFile("k.ptx", text), unsafe=True).applied == ()


def test_a_missing_wait_follows_the_iterations() -> None:
    loop = KERNEL[KERNEL.index("wait:") : KERNEL.index(f"\t{READ}")]
    assert "%waited, [bar], %awaited;" in fix_all(in_laps(KERNEL.replace(loop, "")))


def test_findings_of_one_cause_have_one_fix() -> None:
    """An uncommitted group, of which the wait, the bytes read and those copied again are found."""
    path = RULES / "PTX301_bad_cp_async_without_commit.ptx"
    source = SourceFile(str(path), path.read_text())
    shown = with_verified_fixes(source, lint_source(source)).diagnostics
    assert {item.fix.message for item in shown if item.fix} == {"add `cp.async.commit_group;`"}
    assert all(item.fix for item in shown)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("PTX302_bad_cp_async_with_barrier_only", "add `cp.async.wait_group 0; bar.sync 0;`"),
        ("PTX304_bad_two_sources", "add `cp.async.commit_group; cp.async.wait_group 0;`"),
        ("PTX311_bad_wait_leaves_it_pending", "wait with 0"),
        ("PTX311_bad_stored_without_wait", "add `wgmma.wait_group.sync.aligned 0;`"),
        ("PTX314_bad_no_wait_in_the_loop", "add `wgmma.wait_group.sync.aligned 0;`"),
        ("PTX403_bad_no_acquire", "add `fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;`"),
        ("PTX503_bad_expected_in_parts", "expect 3072 bytes"),
        (
            "PTX503_bad_expected_after_the_arrival",
            "move `mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 4096;` before the arrival",
        ),
        ("PTX506_bad_wait_of_default_scope", "write `mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64`"),
        ("PTX504_bad_expects_the_parity_of_the_next_phase", "begin with parity 0"),
        ("PTX505_bad_arrivals_that_count_two", "arrive once"),
        ("PTX505_bad_counts_fewer_than_one_of_two_roles", "make the count 128"),
        ("PTX601_bad_two_barriers_of_all_threads", "use barrier 2"),
        ("PTX605_bad_decrease_to_more", "write `setmaxnreg.inc.sync.aligned.u32`"),
        ("PTX607_bad_one_lane_too_many", "name the lanes of 0x0001ffff"),
        ("PTX611_bad_relaxed_without_init_fence", "add `@%p1 fence.mbarrier_init.release.cluster;`"),
        ("PTX614_bad_retry", "add `@!%p3 ret;`"),
        ("PTX622_bad_counter_of_all_ctas", "write `atom.relaxed.gpu.global.add.u32`"),
        ("PTX701_bad_other_number_of_columns", "deallocate 32 columns"),
        ("PTX702_bad_commit_of_a_pair", "write `.cta_group::1` in all instructions of the kernel"),
        ("PTX704_bad_other_half_of_the_lanes", "add a loop that waits for [later]"),
        ("PTX707_bad_lanes_in_bytes", "shift the warp's number by 21"),
        ("PTX905_bad_by_the_issuing_thread", "write `fence.proxy.async.shared::cta;`"),
    ],
)
def test_the_likeliest_fix_is_offered(name: str, words: str) -> None:
    source = SourceFile(name, (RULES / f"{name}.ptx").read_text())
    settings = Settings(notes=name.startswith("PTX9"))
    shown = with_verified_fixes(source, lint_source(source, settings), settings).diagnostics
    assert [item.fix.message if item.fix else None for item in shown if item.code == name[:6]] == [words]


def test_a_count_in_a_register_is_replaced_by_a_number() -> None:
    text = (RULES / "PTX505_bad_counts_one_of_two_ctas.ptx").read_text()
    given = "@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;"
    assert given in text
    held = "{ .reg .b32 %count; mov.u32 %count, 1; @%p1 mbarrier.init.shared::cta.b64 [%r5], %count; }"
    result = fix_source(SourceFile("k.ptx", text.replace(given, held)), unsafe=True)
    assert held.replace("[%r5], %count", "[%r5], 2") in result.source.text


def test_a_wider_scope_is_safe() -> None:
    text = (RULES / "PTX622_bad_counter_of_all_ctas.ptx").read_text()
    assert [each.fix.safe for each in fix_source(SourceFile("k.ptx", text)).applied] == [True]
