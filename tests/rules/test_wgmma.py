"""The rules about multiplications by a warpgroup, on small kernels whose comments contain the expected verdict."""

from __future__ import annotations

from pathlib import Path

from ptxkit import lint
from tests.rules.cases_wgmma import CASES
from tests.rules.support import Case, each, holds

COPY = Path(__file__).parents[2] / "corpus" / "findings" / "cp_async_then_wgmma.ptx"


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)


def test_a_copy_that_a_warpgroup_multiplies_needs_more_than_a_barrier_of_the_warp() -> None:
    """The other warps of the warpgroup read the copied tile, too."""
    [found] = [each for each in lint(COPY.read_text("utf-8")).diagnostics if each.code == "PTX302"]
    assert found.help == "add `bar.sync 0;` between the wait and the read"
