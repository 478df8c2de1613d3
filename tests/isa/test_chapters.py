"""The chapters of the instruction set, each with its cases in a separate file, compared with ptxkit and ptxas."""

from __future__ import annotations

import pytest

from tests.isa import (
    cases_atomics,
    cases_comparison,
    cases_control_flow,
    cases_conversion,
    cases_data_movement,
    cases_floating_point,
    cases_integer,
    cases_logic,
    cases_texture,
    cases_video,
)
from tests.isa.pairs import NEWEST, Gated, Pair, cases_of, holds, is_tolerated, opens, will_be_asked

CHAPTERS = (
    cases_atomics,
    cases_comparison,
    cases_control_flow,
    cases_conversion,
    cases_data_movement,
    cases_floating_point,
    cases_integer,
    cases_logic,
    cases_texture,
    cases_video,
)
for chapter in CHAPTERS:
    will_be_asked(case for each in (*chapter.PAIRS, *chapter.GATED) for case in cases_of(each))
    will_be_asked((text, *NEWEST) for text in chapter.TOLERATED)


@pytest.mark.parametrize("pair", [pair for chapter in CHAPTERS for pair in chapter.PAIRS], ids=str)
def test_an_instruction_is_accepted_and_its_neighbor_is_not(pair: Pair) -> None:
    holds(pair)


@pytest.mark.parametrize("gated", [gated for chapter in CHAPTERS for gated in chapter.GATED], ids=str)
def test_an_instruction_is_accepted_from_its_version_and_target_on(gated: Gated) -> None:
    opens(gated)


@pytest.mark.parametrize("text", [text for chapter in CHAPTERS for text in chapter.TOLERATED])
def test_an_instruction_that_only_assemblers_accept_is_a_warning(text: str) -> None:
    is_tolerated(text)


def test_a_register_count_with_a_sign_is_a_warning() -> None:
    reason = is_tolerated("setmaxnreg.inc.sync.aligned.s32 40;", *cases_control_flow.SM_90A)
    assert "a number of registers is unsigned" in reason
