"""The effects of bound instructions in sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.isa import table
from ptxkit.isa.effect_words import match_sentences
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Instruction

CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "rules"


@pytest.mark.parametrize(
    ("opcode", "sentence"),
    [
        ("add.s32", "Writes `d`: `add(32, a, b)`."),
        ("st.shared.u32", "Writes `4` bytes of shared::cta memory at `a`."),
        ("st.u32", "Writes `4` bytes of generic memory at `a`."),
        (
            "ld.acquire.gpu.global.u32",
            "Reads `4` bytes of global memory at `a`, with the order acquire and the scope gpu.",
        ),
        ("bar.sync", "Waits at the barrier `a` of the CTA."),
        ("bra", "Branches to `target`."),
    ],
)
def test_a_bound_form_has_the_values_of_its_modifiers(opcode: str, sentence: str) -> None:
    assert match_sentences(table().candidates(opcode)[0])[0] == sentence


def test_every_instruction_of_the_examples_has_sentences_without_conditions() -> None:
    opcodes: set[str] = set()
    for path in sorted(CORPUS.glob("*_bad_*.ptx")):
        for function in parse(path.read_text("utf-8"), path.name).functions():
            if function.body is not None:
                opcodes |= {each.opcode for each, _ in function.body.flatten_blocks() if isinstance(each, Instruction)}
    assert len(opcodes) > 50
    found = [sentence for each in opcodes for match in table().candidates(each) for sentence in match_sentences(match)]
    assert len(found) > len(opcodes)
    assert [each for each in found if not each.endswith(".") or each.startswith("Where") or "``" in each] == []
