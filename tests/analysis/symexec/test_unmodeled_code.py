"""Code that the model does not include: its steps, and the executions without it."""

from __future__ import annotations

import pytest

from ptxkit.analysis.symexec.unmodeled_code import find_unmodeled_code, without_unmodeled_code
from tests.analysis.support import explorer_of, module_of

STORES = "st.shared.u32 [tile], %r1; {} st.shared.u32 [tile+4], %r1;"
BEFORE = ".shared .align 8 .b8 tile[64]; .extern .func away; .extern .func __assertfail;"
LAUNCH = ".reqntid 32, 1, 1"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("call away;", "a call of `away`, whose code is not here"),
        ("call %rd1, named;", "an indirect call"),
        ("ld.strange.u32 %r1, [%rd1];", "`ld.strange.u32`, which no form of the instruction table fits"),
    ],
)
def test_the_executions_without_it_are_complete_again(line: str, words: str) -> None:
    explorer = explorer_of(module_of(STORES.format(line), before=BEFORE, bounds=LAUNCH))
    assert list(find_unmodeled_code(explorer).values()) == [words]
    silent = without_unmodeled_code(explorer)
    assert not find_unmodeled_code(silent)
    assert find_unmodeled_code(explorer), "the walks themselves are as they were"
    groups = [group for exploration in silent.explorations for group in exploration.groups]
    assert [len(group.events) for group in groups] == [2] * len(groups) != []
    assert all(each.cluster == silent.explorations for each in silent.explorations)


def test_a_recursive_function_is_followed_up_to_a_limited_depth() -> None:
    module = module_of("call deep;", before=".func deep() { call deep; ret; }", bounds=LAUNCH)
    assert list(find_unmodeled_code(explorer_of(module)).values()) == [
        "a call of `deep` that is not followed: too many calls are in progress"
    ]


def test_a_guess_before_a_call_remains_in_place() -> None:
    guess = "ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; {} @%p1 bra end; st.shared.u32 [tile], %r1; end:"
    explorer = explorer_of(module_of(guess.format("call away;"), before=BEFORE, bounds=LAUNCH))
    for exploration in without_unmodeled_code(explorer).explorations:
        assert [group.first_guess for group in exploration.groups] == [0]


@pytest.mark.parametrize("line", ["", "call __assertfail;"])
def test_modeled_code_has_nothing_unmodeled(line: str) -> None:
    assert not find_unmodeled_code(explorer_of(module_of(STORES.format(line), before=BEFORE, bounds=LAUNCH)))
