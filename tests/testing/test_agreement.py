"""The short campaign: ptxkit and every ptxas at hand on a few thousand instructions, others for each table.

`scripts/agree --full` is the long one. What differs is mended, or listed in grammars/isa/tolerated.isa or .toml.
"""

from __future__ import annotations

import hashlib
from random import Random

import pytest

from ptxkit.isa.sources import isa_files
from ptxkit.testing import agreement
from ptxkit.testing.agreement import BROKEN, PAIRS, Difference, Question, Share, Tally, all_forms, run, shares
from ptxkit.testing.ptxas import installed
from ptxkit.testing.summary import described, kinds, totals

EACH = 1
"""Instances of each form on each pair, and as many mutations."""

PAIRS_ASKED = 2

ALLOWED = 0.002
"""The part of the answers that may differ: each table asks new questions; what one finds is mended when it is seen."""


def seed() -> int:
    """Another one for each table, so that runs of the same table repeat."""
    digest = hashlib.sha256()
    for path in isa_files():
        digest.update(path.read_bytes())
    return int.from_bytes(digest.digest()[:4], "big")


def test_ptxkit_and_ptxas_accept_and_refuse_the_same() -> None:
    chosen = Random(seed()).sample(PAIRS, PAIRS_ASKED)
    whole = Tally()
    for share in shares(range(len(all_forms())), chosen, EACH, seed()):
        whole.add(run(share, installed()))
    assert whole.asked > 2500
    assert not whole.without
    found = [line for kind in kinds(whole.differences) for line in described(kind)]
    assert len(whole.differences) <= ALLOWED * whole.asked, "\n".join([*found, *totals(whole)])


def test_a_share_asks_the_same_whenever_it_is_run() -> None:
    share = Share(PAIRS[0], (0, 5), 4, 9)
    one, other = run(share, installed()[:1]), run(share, installed()[:1])
    assert one.counts == other.counts
    assert one.asked == 16


def test_a_difference_is_told_by_who_accepts_and_why_the_other_does_not() -> None:
    question = Question("add.u32 %u32_1, 3;", "integer.isa:15 add.u32", None)
    open_ = Difference(question, PAIRS[0], "13.5", None, "Arguments mismatch for instruction 'add'")
    closed = Difference(question, PAIRS[1], "13.5", "PTX104 `add` takes 3 operands", None)
    first, second = kinds([open_, closed, open_])
    assert next(described(first)).startswith("only ptxas accepts  add.u32")
    assert next(described(second)).startswith("only ptxkit accepts  add.u32")
    assert second.count == 2


def test_a_break_of_ptxkit_agrees_with_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(text: str, path: str) -> None:
        raise RecursionError(text[:3] + path[:3])

    monkeypatch.setattr(agreement, "parse", break_down)
    tally = run(Share(PAIRS[0], (0,), 1, 1), installed()[:1])
    assert len(tally.differences) == tally.asked == 2
    assert all((each.ours or "").startswith(BROKEN) for each in tally.differences)
