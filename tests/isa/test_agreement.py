"""The table against ptxas: what it calls legal is legal, and what it calls wrong is wrong. Seeded, so runs repeat."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ptxkit.isa import table
from ptxkit.isa.instances import Instance, instances
from ptxkit.isa.targets import parse_target, unmet
from tests.isa.oracle import mutate, parses, refused_by_ptxas, refused_by_ptxkit

TARGETS = [
    ((6, 4), "sm_75"),
    ((7, 4), "sm_80"),
    ((8, 0), "sm_90"),
    ((8, 6), "sm_100a"),
    ((8, 8), "sm_100f"),
    ((9, 4), "sm_90a"),
    ((9, 4), "sm_103a"),
    ((9, 4), "sm_120a"),
]
EACH = 3
"""Instances of each form."""

# ptxas 13.5 takes `.cluster` of an earlier line for a modifier of these, on the oldest targets only.
ODDITY = "'_warpsync'"


@pytest.fixture(scope="module")
def legal() -> list[Instance]:
    known, random = table(), Random(94)
    forms = [form for name in known.names for form in known.forms(name) if form.name != "brx"]
    return [found for form in forms for found in instances(form, known.value_gates, random, EACH)]


@pytest.mark.parametrize(("version", "target"), TARGETS, ids=str)
def test_ptxas_accepts_exactly_what_the_gates_open(
    legal: list[Instance], version: tuple[int, int], target: str, tmp_path: Path
) -> None:
    refused = refused_by_ptxas([each.text for each in legal], version, target, tmp_path)
    wrongly_open, wrongly_closed = [], []
    for index, each in enumerate(legal):
        is_open = not unmet(each.match.gates, version, parse_target(target))
        if is_open and index in refused and ODDITY not in refused[index]:
            wrongly_open.append(f"{each.text}  # {refused[index]}")
        if not is_open and index not in refused:
            wrongly_closed.append(each.text)
    assert len(legal) > 1000
    assert len(wrongly_open) <= len(legal) // 100, "\n".join(wrongly_open)
    assert len(wrongly_closed) <= len(legal) // 200, "\n".join(wrongly_closed)


def test_what_ptxkit_refuses_ptxas_refuses(tmp_path: Path) -> None:
    known, random = table(), Random(13)
    texts = []
    for name in known.names:
        words = sorted({value for form in known.forms(name) for slot in form.modifiers for value in slot.values})
        for form in known.forms(name):
            made = instances(form, known.value_gates, random, 2)
            texts += [mutate(each.text, words or ["sync"], random) for each in made]
    texts = [text for text in texts if parses(text)]
    ours = refused_by_ptxkit(texts, (9, 4), "sm_100a")
    theirs = refused_by_ptxas(texts, (9, 4), "sm_100a", tmp_path)
    false_alarms = [f"{texts[index]}  # {message}" for index, message in ours.items() if index not in theirs]
    missed = [f"{texts[index]}  # {message}" for index, message in theirs.items() if index not in ours]
    assert len(texts) > 800
    assert len(false_alarms) <= len(texts) // 50, "\n".join(false_alarms)
    assert len(missed) <= len(texts) // 25, "\n".join(missed)
