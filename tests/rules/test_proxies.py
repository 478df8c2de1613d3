"""The rules about proxies, on small kernels whose comments contain the expected verdict."""

from __future__ import annotations

from pathlib import Path

from ptxkit import lint
from tests.rules.cases_proxies import CASES
from tests.rules.support import Case, each, holds

RULES = Path(__file__).resolve().parents[2] / "corpus" / "rules"


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)


def test_where_the_writers_fence_only_the_barrier_is_suggested() -> None:
    text = (RULES / "PTX401_bad_fence_without_barrier.ptx").read_text()
    [found] = lint(text).diagnostics
    fence, read = (text[: text.index(word)].count("\n") + 1 for word in ("fence.proxy.async.", "cp.async.bulk.global"))
    assert found.help == f"add `bar.sync 0;` after the fence at line {fence}, before line {read}"
    [found] = lint(text.replace("\tfence.", "\t@%p1 fence.")).diagnostics
    assert found.help is not None
    assert found.help.startswith("add `fence.proxy.async.shared::cta;` and then `bar.sync 0;` after the write")
