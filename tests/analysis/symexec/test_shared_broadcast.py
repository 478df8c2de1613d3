"""Values that threads pass to one another through shared memory."""

from __future__ import annotations

import pytest

from ptxkit.analysis.symexec.exploration import Exploration
from tests.analysis.support import explorer_of, module_of, opcodes

CELL = ".shared .align 8 .b8 cell[16]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; setp.ge.u32 %p2, %r1, 32;"
#: Warps from the second one on take another path where they read 2 from a cell.
ROLE = "@!%p2 bra end; ld.shared.u8 %r2, [cell+1]; setp.eq.u32 %p3, %r2, 2; @%p3 bra other; bar.warp.sync -1; other:"
BLOCK = ".reqntid 64, 1, 1"


def explore_lines(body: str) -> Exploration:
    return explorer_of(module_of(f"{CELL} {body} end:", bounds=BLOCK)).explorations[0]


def is_forwarded(exploration: Exploration) -> bool:
    """Returns whether no execution had to guess."""
    return all(group.first_guess is None for group in exploration.groups)


def test_a_store_before_a_barrier_of_all_threads_is_loaded_after_it() -> None:
    found = explore_lines(f"@%p1 st.shared.u32 [cell], 0x01000203; bar.sync 0; {ROLE}")
    assert is_forwarded(found)
    assert len(found.groups) == 2


def test_an_unknown_that_is_passed_is_the_same_for_all() -> None:
    body = (
        "ld.global.u32 %r3, [%rd1]; @%p1 st.shared.u32 [cell], %r3; bar.sync 0; ld.shared.u32 %r2, [cell];"
        "setp.eq.u32 %p3, %r2, 2; setp.eq.u32 %p4, %r3, 2; @%p3 bra end; @%p4 bra end; bar.warp.sync -1;"
    )
    assert len(explore_lines(body).scenario.decisions) == 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"@%p1 st.shared.u32 [cell], 0x203; {ROLE}", "no barrier"),
        (f"bar.sync 0; @%p1 st.shared.u32 [cell], 0x203; {ROLE}", "a barrier before the store alone"),
        (
            f"@%p1 st.shared.u32 [cell], 0x203; @!%p2 bra more; bar.sync 1, 32; {ROLE} more:",
            "a barrier of some",
        ),
        (f"@%p1 st.shared.u32 [cell], 0x203; @%p2 st.shared.u16 [cell], 0x103; bar.sync 0; {ROLE}", "another store"),
        (
            f"@%p1 st.shared.u32 [cell], 0x203; bar.sync 0; @%p1 st.shared.u32 [cell], 0x103; {ROLE}",
            "a later store, which may come first",
        ),
        (f"@%p1 st.shared.u32 [cell], 0x203; bar.sync 0; @%p1 atom.shared.add.u32 %r5, [cell], 1; {ROLE}", "an update"),
        (f"@%p1 st.shared.u32 [cell], 0x203; st.shared.u32 [%r9], 1; bar.sync 0; {ROLE}", "a store nobody knows where"),
    ],
)
def test_a_value_that_may_be_overwritten_or_missing_is_not_passed(body: str, why: str) -> None:
    assert not is_forwarded(explore_lines(body)), why


def test_a_store_after_the_next_barrier_is_passed_in_the_next_iteration() -> None:
    body = (
        "@%p1 st.shared.u32 [cell], 0x203; bar.sync 0; mov.u32 %r5, 0; bar.sync 0; @%p1 st.shared.u32 [cell], 0x103;"
        f"bar.sync 0; {ROLE}"
    )
    found = explore_lines(body)
    assert is_forwarded(found)
    assert any("bar.warp.sync" in opcodes(group.covered_steps) for group in found.groups)


def test_a_value_that_another_cta_may_store_is_not_passed() -> None:
    remote = "mapa.shared::cluster.u32 %r7, %r8, 1; st.shared::cluster.u32 [%r7], 1;"
    body = f"@%p1 st.shared.u32 [cell], 0x203; bar.sync 0; {ROLE} {remote}"
    module = module_of(f"{CELL} {body} end:", bounds=f"{BLOCK} .reqnctapercluster 2, 1, 1")
    assert not is_forwarded(explorer_of(module).explorations[0])


def test_a_value_is_passed_before_a_barrier_that_the_execution_of_another_group_does_not_reach() -> None:
    """The loop of the second warp is longer than its execution; the first warp reads the cell before and after it."""
    work = "mov.u32 %r4, 0; work:" + "add.u32 %r5, %r5, %r4;" * 30 + "add.u32 %r4, %r4, 1;"
    found = explore_lines(
        "mov.u32 %r6, 0; @%p1 st.shared.u32 [cell], 0x203; bar.sync 0; again: ld.shared.u8 %r2, [cell];"
        "setp.eq.u32 %p3, %r2, 3; @%p3 bra known; bar.warp.sync -1; known: bar.sync 0; setp.ne.u32 %p4, %r6, 0;"
        f"@%p4 bra end; add.u32 %r6, %r6, 1; @!%p2 bra join; {work} setp.lt.u32 %p4, %r4, 4000; @%p4 bra work;"
        "join: bar.sync 0; bra again;"
    )
    assert [group.end_reason for group in found.groups] == ["exit", "budget"]
    first, second = found.groups
    assert second.first_guess is None
    assert first.first_guess is not None
