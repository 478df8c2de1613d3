"""The small kernels themselves: ptxas accepts every one of them, and their expectations are valid."""

from __future__ import annotations

import pytest

from ptxkit.rules import RULES, Rule
from tests.corpus.support import refusals
from tests.rules import (
    cases_addresses,
    cases_bounds,
    cases_boxes,
    cases_calls,
    cases_cancellation,
    cases_capacity,
    cases_clusters,
    cases_contradictions,
    cases_flags,
    cases_global_copies,
    cases_grids,
    cases_groups,
    cases_guarded_orders,
    cases_homes,
    cases_last_comers,
    cases_maps,
    cases_mbarriers,
    cases_members,
    cases_notes,
    cases_phases,
    cases_proxies,
    cases_races,
    cases_registers,
    cases_same_bytes,
    cases_scopes,
    cases_shared_flags,
    cases_strict,
    cases_tensor,
    cases_unassigned_guards,
    cases_unknown_addresses,
    cases_wgmma,
    cases_windows,
)
from tests.rules.support import Case, expected_findings, stated_findings

CASES = (
    *cases_addresses.CASES,
    *cases_bounds.CASES,
    *cases_boxes.CASES,
    *cases_calls.CASES,
    *cases_cancellation.CASES,
    *cases_capacity.CASES,
    *cases_clusters.CASES,
    *cases_contradictions.CASES,
    *cases_grids.CASES,
    *cases_groups.CASES,
    *cases_guarded_orders.CASES,
    *cases_homes.CASES,
    *cases_flags.CASES,
    *cases_global_copies.CASES,
    *cases_last_comers.CASES,
    *cases_maps.CASES,
    *cases_mbarriers.CASES,
    *cases_members.CASES,
    *cases_notes.CASES,
    *cases_phases.CASES,
    *cases_proxies.CASES,
    *cases_races.CASES,
    *cases_registers.CASES,
    *cases_same_bytes.CASES,
    *cases_scopes.CASES,
    *cases_shared_flags.CASES,
    *cases_strict.CASES,
    *cases_tensor.CASES,
    *cases_unassigned_guards.CASES,
    *cases_unknown_addresses.CASES,
    *cases_wgmma.CASES,
    *cases_windows.CASES,
)


def test_ptxas_accepts_every_kernel() -> None:
    assert refusals({f"{number}: {case.name}": case.text for number, case in enumerate(CASES)}) == {}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_each_rule_is_broken_by_some_cases_and_observed_by_more(rule: Rule) -> None:
    broken = [case for case in CASES if any(code == rule.code for code, *_ in expected_findings(case.text))]
    assert len(broken) >= 2
    assert len(broken) < len(CASES) / 2


def test_expectations_name_codes_lines_and_labels() -> None:
    case = Case("x", "mov.u32 %r10, 0; //= a\nmov.u32 %r11, 0; //! PTX401 a b\nmov.u32 %r12, 0; //= b")
    ((code, severity, line, labels),) = expected_findings(case.text)
    assert (code, severity, labels) == ("PTX401", "error", (line - 1, line + 1))
    assert case.text.splitlines()[line - 1].startswith("mov.u32 %r11")
    assert expected_findings(Case("y", "ret;").text) == stated_findings(()) == []
