"""The short campaign: ptxkit and every installed ptxas on a few thousand instructions, others for each table.

`scripts/diff_ptxas --full` is the long one. Differences are fixed, or listed in grammars/isa/tolerated.isa or .toml.
"""

from __future__ import annotations

import hashlib
from random import Random

import pytest

from ptxkit.isa.loader import isa_files
from ptxkit.testing.differential import campaign
from ptxkit.testing.differential.campaign import (
    CRASH_PREFIX,
    VERSION_TARGETS,
    Difference,
    DifferentialCounts,
    FormWorkUnit,
    InstructionProbe,
    all_forms,
    form_work_units,
    run_form_unit,
)
from ptxkit.testing.differential.report import group_differences, kind_lines, total_lines
from ptxkit.testing.oracles.ptxas import installed_ptxas

EACH = 1
"""Instances of each form on each pair, and the same number of mutations."""

PAIRS_ASKED = 2

ALLOWED = 0.002
"""The share of results that may differ: each table generates new questions; differences are fixed when they are
found."""


def seed() -> int:
    """Another seed for each table, so that runs of the same table repeat."""
    digest = hashlib.sha256()
    for path in isa_files():
        digest.update(path.read_bytes())
    return int.from_bytes(digest.digest()[:4], "big")


def test_ptxkit_and_ptxas_accept_and_reject_the_same() -> None:
    chosen = Random(seed()).sample(VERSION_TARGETS, PAIRS_ASKED)
    whole = DifferentialCounts()
    for share in form_work_units(range(len(all_forms())), chosen, EACH, seed()):
        whole.merge(run_form_unit(share, installed_ptxas()))
    assert whole.probe_count > 2500
    assert not whole.forms_without_instance
    found = [line for kind in group_differences(whole.differences) for line in kind_lines(kind)]
    assert len(whole.differences) <= ALLOWED * whole.probe_count, "\n".join([*found, *total_lines(whole)])


def test_a_share_has_the_same_questions_in_every_run() -> None:
    share = FormWorkUnit(VERSION_TARGETS[0], (0, 5), 4, 9)
    one, other = run_form_unit(share, installed_ptxas()[:1]), run_form_unit(share, installed_ptxas()[:1])
    assert one.counts == other.counts
    assert one.probe_count == 16


def test_a_difference_is_reported_by_who_accepts_and_why_the_other_does_not() -> None:
    question = InstructionProbe("add.u32 %u32_1, 3;", "integer.isa:15 add.u32", None)
    open_ = Difference(question, VERSION_TARGETS[0], "13.5", None, "Arguments mismatch for instruction 'add'")
    closed = Difference(question, VERSION_TARGETS[1], "13.5", "PTX104 `add` takes 3 operands", None)
    first, second = group_differences([open_, closed, open_])
    assert next(kind_lines(first)).startswith("only ptxas accepts  add.u32")
    assert next(kind_lines(second)).startswith("only ptxkit accepts  add.u32")
    assert second.count == 2


def test_a_crash_of_ptxkit_agrees_with_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(text: str, path: str) -> None:
        raise RecursionError(text[:3] + path[:3])

    monkeypatch.setattr(campaign, "parse", break_down)
    tally = run_form_unit(FormWorkUnit(VERSION_TARGETS[0], (0,), 1, 1), installed_ptxas()[:1])
    assert len(tally.differences) == tally.probe_count == 2
    assert all((each.ours or "").startswith(CRASH_PREFIX) for each in tally.differences)
