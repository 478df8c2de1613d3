"""The rules about asynchronous groups, on small kernels whose comments contain the expected verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit import lint
from tests.rules.cases_groups import CASES
from tests.rules.support import Case, each, holds

RULES = Path(__file__).resolve().parents[2] / "corpus" / "rules"


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)


@pytest.mark.parametrize(
    ("fixture", "change", "label", "remedy"),
    [
        (
            "source_rewritten_without_wait",
            ("", ""),
            "the wait for it",
            "wait with `cp.async.bulk.wait_group.read` in the issuing thread",
        ),
        (
            "source_rewritten_with_one_pending",
            ("", ""),
            "does not cover it",
            "lower the count of the wait at line 37, or wait again in the issuing thread",
        ),
        (
            "source_rewritten_with_one_pending",
            (
                "cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 1;",
                "cp.async.bulk.wait_group.read 0;\n\tcp.async.bulk.commit_group;",
            ),
            "comes before its group is committed",
            "commit its group before the wait at line 36",
        ),
    ],
)
def test_a_source_that_is_overwritten_is_reported_with_the_present_wait(
    fixture: str, change: tuple[str, str], label: str, remedy: str
) -> None:
    text = (RULES / f"PTX303_bad_{fixture}.ptx").read_text().replace(*change)
    found = next(found for found in lint(text).diagnostics if found.code == "PTX303")
    assert [each.message for each in found.labels] == ["bulk copy from these bytes", label]
    assert found.help == f"{remedy}, and then a barrier, before the write"


@pytest.mark.parametrize(
    ("wait", "lack"),
    [("", "its thread never waits for it"), ("cp.async.bulk.wait_group.read 1;", "no wait of its thread covers it")],
)
def test_an_unfinished_copy_is_reported_with_the_fate_of_its_memory(wait: str, lack: str) -> None:
    text = (RULES / "PTX303_ok_source_rewritten_after_read_wait.ptx").read_text()
    before, _, _ = text.partition("cp.async.bulk.wait_group.read 0;")
    [found] = lint(f"{before}{wait}\njoin: ret;\n}}\n").diagnostics
    assert found.message == (
        "the CTA may exit while this bulk copy still reads its shared memory, which another CTA may then use: " + lack
    )


def test_a_copy_without_group_and_wait_needs_both() -> None:
    lines = (RULES / "PTX302_bad_cp_async_with_barrier_only.ptx").read_text().splitlines()
    bare = "\n".join(line for line in lines if "commit_group" not in line and "wait_group" not in line)
    [remedy] = {each.help for each in lint(bare).diagnostics if each.code == "PTX302"}
    assert remedy == "commit the group, and wait for it before the read"
