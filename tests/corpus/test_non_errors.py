"""corpus/rules/silent_*.ptx: correct code that resembles a fault has no findings, in every shape."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from ptxkit import Severity, lint

from .support import non_errors, refusals, stated_codes

#: Code that the manual permits although it seems wrong; the head of a kernel names the item that it shows.
ITEMS = (
    "async, waited for, then generic",
    "mbarrier.init without a proxy fence",
    "copy before its expect-tx",
    "parity 1 on a fresh barrier",
    "empty commit groups",
    "double fences",
    "wait_group N larger than the groups",
    "remote expect_tx",
    "`_` as a result",
    "wgmma chains on the same accumulators",
    "generic after generic across bar.sync",
    "async after async in one CTA",
)
KERNELS = non_errors()
each_kernel = pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)


def item(path: Path) -> str:
    head = re.match(r"// Correct, (.+?): \S.+\.\n", path.read_text())
    assert head is not None, f"{path.name} does not describe what it shows"
    return head[1]


def test_every_item_has_kernels_in_three_shapes_or_more() -> None:
    shapes = Counter(map(item, KERNELS))
    assert set(shapes) == set(ITEMS)
    assert min(shapes.values()) >= 3


@each_kernel
def test_correct_kernels_have_no_findings_and_no_open_questions(path: Path) -> None:
    verdict = lint(path.read_text(), path=path.name)
    assert not stated_codes(verdict.diagnostics, *Severity)
    assert [(doubt.code, doubt.reason) for doubt in verdict.undecided] == []


def test_ptxas_accepts_every_kernel() -> None:
    assert refusals({path.name: path.read_text() for path in KERNELS}) == {}
