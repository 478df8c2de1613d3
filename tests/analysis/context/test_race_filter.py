"""The fast filter that shows that threads cannot conflict: it misses no conflict that the comparison of pairs finds."""

from __future__ import annotations

import pytest

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.races import RaceAnalysis
from tests.analysis.support import kernel_of, module_of

HEAD = """.shared .align 128 .b8 tile[8192]; mov.u32 %r2, tile; mov.u32 %r1, %tid.x; shl.b32 %r3, %r1, 2;
add.u32 %r4, %r2, %r3; xor.b32 %r6, %r3, 4; add.u32 %r6, %r2, %r6; xor.b32 %r7, %r3, 128; add.u32 %r7, %r2, %r7;
setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r1, 64;"""
OWN, STORE = "ld.shared.u32 %r9, [%r4];", "st.shared.u32 [%r4], %r1;"
OTHER_HALF = "ld.shared.u32 %r9, [%r4+256];"
NEXT_LANE, NEXT_WARP = "ld.shared.u32 %r9, [%r6];", "ld.shared.u32 %r9, [%r7];"


def scenario_of(body: str, threads: int = 128) -> ScenarioFacts:
    return kernel_of(module_of(HEAD + body, bounds=f".reqntid {threads}, 1, 1")).scenarios[0]


def are_apart(facts: ScenarioFacts) -> bool:
    unproven = RaceAnalysis(facts)._find_unproven("write", "read")
    return unproven is not None and unproven.is_empty


@pytest.mark.parametrize(
    "body",
    [
        f"{STORE} {OWN}",
        f"{STORE} bar.warp.sync -1; {NEXT_LANE}",
        f"{STORE} bar.sync 0; {NEXT_WARP}",
        f"{NEXT_WARP} bar.sync 0; {STORE}",
        f"{STORE} bar.sync 0; {NEXT_WARP} bar.sync 0; {STORE} bar.sync 0; {NEXT_LANE}",
        f"{STORE} bar.sync 1; {NEXT_WARP}",
        f"{STORE} bar.sync 1, 128; {NEXT_WARP}",
        f"@%p2 bra away; {STORE} {OWN} away: bar.sync 0; {NEXT_WARP}",
        "@%p1 st.shared.u32 [%r2], 1; bar.sync 0; ld.shared.u32 %r9, [%r2];",
        "st.shared.v2.u32 [%r4+4096], {%r1, %r1};",
    ],
)
def test_accesses_that_barriers_or_addresses_separate_need_no_comparison_of_pairs(body: str) -> None:
    facts = scenario_of(body)
    assert are_apart(facts)
    assert list(RaceAnalysis(facts)) == []
    assert list(RaceAnalysis(facts)._find_races("write", "read")) == []


@pytest.mark.parametrize(
    "body",
    [
        f"{STORE} {NEXT_LANE}",
        f"{STORE} {NEXT_WARP}",
        f"{STORE} bar.warp.sync -1; {NEXT_WARP}",
        f"bar.sync 0; {NEXT_WARP} {STORE} bar.sync 0;",
        f"@%p2 bra away; {STORE} bra on; away: {OTHER_HALF} on: bar.sync 0;",
        "@%p1 st.shared.u32 [%r2], 1; ld.shared.u32 %r9, [%r2];",
    ],
)
def test_conflicts_are_left_to_the_comparison_of_pairs(body: str) -> None:
    facts = scenario_of(body)
    assert not are_apart(facts)
    assert list(RaceAnalysis(facts)) != []


@pytest.mark.parametrize("body", [f"{STORE} {NEXT_WARP}", f"{NEXT_WARP} {STORE}"])
def test_a_conflict_after_too_many_accesses_is_found(body: str) -> None:
    ordered = f"bar.sync 0; {STORE} bar.sync 0; {NEXT_WARP}" * 40
    facts = scenario_of(f"{ordered} bar.sync 0; {body}", threads=1024)
    assert are_apart(scenario_of(ordered, threads=1024))
    analysis = RaceAnalysis(facts)
    assert [race.steps for race in analysis] != []
    assert analysis.first_dropped is None
