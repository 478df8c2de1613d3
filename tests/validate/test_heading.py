"""The heading of a module: versions, targets, options, the address size."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.diagnostics import Severity
from ptxkit.testing.oracles.ptxas import installed_ptxas
from tests.validate.modules import Pair, accepted_by_ptxas, check, diagnostics, disagreements


def heading(right: str, wrong: str, code: str, words: str, at: str = "") -> Pair:
    """Two headings, lines separated by bars."""
    texts = ["\n".join(text.split(" | ")) + "\n.global .b32 x;\n" for text in (right, wrong)]
    return Pair(texts[0], texts[1], code, words, at)


PAIRS = [
    heading(".version 8.8 | .target sm_90", ".version 8.9 | .target sm_90", "PTX803", "before it is 8.8", "8.9"),
    heading(".version 9.5 | .target sm_90", ".version 9.6 | .target sm_90", "PTX803", "ptxkit supports, 9.5", "9.6"),
    heading(".version 8.7 | .target sm_90", ".version 8.70 | .target sm_90", "PTX803", "no PTX version 8.70"),
    heading(".version 08.7 | .target sm_90", ".version 8.7e0 | .target sm_90", "PTX803", "separated by a dot"),
    heading(".version 8.7 | .target sm_90", ".version 8. | .target sm_90", "PTX803", "is not a version", "8."),
    heading(".version 8.7 | .target sm_90a", ".version 8.7 | .target sm_89a", "PTX803", "did you mean `sm_", "sm_89a"),
    heading(".version 8.7 | .target sm_72", ".version 8.7 | .target sm_73", "PTX803", "is not a target", "sm_73"),
    heading(
        ".version 8.7 | .target sm_90, debug | .section .debug_str { }",
        ".version 8.7 | .target sm_90, debugg",
        "PTX803",
        "`debug`?",
    ),
    heading(
        ".version 8.7 | .target sm_90, debug | .section .debug_str { }",
        ".version 8.7 | .target sm_90, debug",
        "PTX107",
        "add the sections",
        "debug",
    ),
    heading(
        ".version 8.7 | .target sm_90",
        ".version 8.7 | .target texmode_unified, sm_90",
        "PTX107",
        "not with `texmode_unified`",
    ),
    heading(
        ".version 8.7 | .target sm_90, texmode_unified",
        ".version 8.7 | .target sm_90, texmode_unified, texmode_independent",
        "PTX107",
        "exclude each other",
        "texmode_independent",
    ),
    heading(
        ".version 1.4 | .target sm_12, map_f64_to_f32",
        ".version 8.7 | .target sm_75, map_f64_to_f32",
        "PTX801",
        "before sm_13",
    ),
    heading(
        ".version 8.0 | .target sm_90a",
        ".version 7.8 | .target sm_90a",
        "PTX801",
        "`sm_90a` needs `.version 8.0`",
        "sm_90a",
    ),
    heading(
        ".version 8.8 | .target sm_100f", ".version 8.7 | .target sm_100f", "PTX801", "`sm_100f` needs `.version 8.8`"
    ),
    heading(
        ".version 9.4 | .target sm_107", ".version 9.3 | .target sm_107", "PTX801", "`sm_107` needs `.version 9.4`"
    ),
    heading(
        ".version 8.7 | .target sm_90 | .target sm_90",
        ".version 8.7 | .target sm_90 | .address_size 64 | .target sm_90",
        "PTX107",
        "right after `.version`",
    ),
    heading(
        ".version 8.7 | .target sm_90 | .address_size 64",
        ".version 8.7 | .target sm_90 | .address_size 16",
        "PTX107",
        "one of 32, 64, not 16",
    ),
    heading(
        ".version 8.7 | .target sm_90 | .address_size 64",
        f".version 8.7 | .target sm_90 | .address_size {'9' * 40}",
        "PTX107",
        "one of 32, 64, not 9999999",
    ),
    heading(
        ".version 8.7 | .target sm_90 | .address_size 0x40",
        ".version 8.7 | .target sm_90 | .address_size 64 | .address_size 64",
        "PTX107",
        "once, right after `.target`",
    ),
    heading(
        ".version 8.7 | .target sm_90 | .address_size 64",
        '.version 8.7 | .target sm_90 | .file 1 "a" | .address_size 64',
        "PTX107",
        "once, right after",
    ),
    heading(
        ".version 2.3 | .target sm_20 | .address_size 64",
        ".version 2.2 | .target sm_20 | .address_size 64",
        "PTX801",
        "`.version 2.3`",
    ),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.wrong)
def test_a_wrong_heading_is_an_error_and_the_correct_one_is_not(pair: Pair) -> None:
    check(pair)


def test_ptxas_agrees(tmp_path: Path) -> None:
    assert disagreements(PAIRS, tmp_path) == []


@pytest.mark.parametrize("word", ["compute_90", "sm_090", "sm_90x", "sm_90"])
def test_a_target_that_only_ptxas_accepts_is_a_warning(word: str, tmp_path: Path) -> None:
    text = f".version 8.7\n.target {word}\n.entry k() {{ ret; }}\n"
    found = [(each.code, each.severity, each.help) for each in diagnostics(text)]
    assert found == ([] if word == "sm_90" else [("PTX803", Severity.WARNING, "write `sm_90`")])
    assert accepted_by_ptxas(text, tmp_path, 0)


# How ptxas reads each word: its first number and its last letter count.
LAX_TARGETS = {
    "sm_x90": "sm_90",
    "xsm_90": "sm_90",
    "s90sm_": "sm_90",
    "sm_90_sm_20": "sm_90",
    "texmode_compute_90": "sm_90",
    "sm_90abc": "sm_90",
    "sm_90fx": "sm_90",
    "sm_90fxa": "sm_90a",
    "sm_75abc": "sm_75",
    "sm_75bca": "",
    "sm_90fxf": "",
    "x4sm_90": "",
    "sm_9x0": "",
    "sm_x": "",
}


@pytest.mark.parametrize(("word", "meant"), LAX_TARGETS.items())
def test_ptxas_ignores_other_letters_of_a_target(word: str, meant: str) -> None:
    text = f".version 8.7\n.target {word}\n.address_size 64\n.entry k() {{ INSIDE ret; }}\n"
    own = text.replace("INSIDE", "")
    assert [found.severity for found in diagnostics(own)] == [Severity.WARNING if meant else Severity.ERROR]
    assert (installed_ptxas()[0].refusal(own, meant or "sm_90a") is None) is bool(meant)
    chips = text.replace("INSIDE", "wgmma.fence.sync.aligned;")
    has_it = meant == "sm_90a"
    assert (not any(found.severity is Severity.ERROR for found in diagnostics(chips))) is has_it
    assert (installed_ptxas()[0].refusal(chips, meant or "sm_90a") is None) is has_it


def test_of_several_targets_the_last_counts_in_any_notation() -> None:
    text = ".version 8.7\n.target sm_75, xsm_90\n.entry k() { barrier.cluster.arrive; ret; }\n"
    assert [found.severity for found in diagnostics(text)] == [Severity.WARNING]
    assert installed_ptxas()[0].refusal(text, "sm_90") is None


def test_a_heading_without_code_needs_no_newer_version() -> None:
    assert diagnostics(".version 3.0\n.target sm_90\n") == ()
    assert [found.code for found in diagnostics(".version 3.0\n.target sm_90\n.func f();\n")] == ["PTX801"]
