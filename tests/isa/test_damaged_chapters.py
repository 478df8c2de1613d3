"""A damaged .isa file loads, or its error is reported at a place in it."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from random import Random

import pytest

from ptxkit.isa.errors import NotationError
from ptxkit.isa.loader import isa_files, load_texts
from ptxkit.isa.table import InstructionTable

TEXTS = {path.name: path.read_text(encoding="utf-8") for path in isa_files()}
CHAPTERS = [
    "logic.isa",
    "control_flow.isa",
    "mixed_precision.isa",
    "half_precision.isa",
    "directives.isa",
    "tolerated.isa",
]
SETS = [line for text in TEXTS.values() for line in text.replace("\\\n", " ").splitlines() if line.startswith("set ")]
_PARTS = re.compile(r"\s+|[A-Za-z_]\w*(?:::\w+)*|\d+|.", re.S)
_SCRAPS = ["", "é", "\0", '"', "{", "}", "\\", "\t", ".", "/", "#", "0", "%", "<", ">", "..", "?", "|", "\n", "é\n"]


COUNT = int(os.environ.get("PTXKIT_DAMAGES", "12"))
"""The number of damages of each chapter; a thousand take minutes."""


def with_sets(name: str, text: str) -> dict[str, str]:
    """Returns a chapter and the sets of other files that it names."""
    return {"sets.isa": sets_for(name), name: text}


@cache
def sets_for(name: str) -> str:
    own = set(re.findall(r"^set (\w+)", TEXTS[name], re.M))
    needed = {line for line in SETS if line.split()[1] not in own and is_named(line, TEXTS[name])}
    while more := {line for line in SETS if any(is_named(line, other) for other in needed)} - needed:
        needed |= more
    return "\n".join(line for line in SETS if line in needed)


def is_named(line: str, text: str) -> bool:
    """Returns whether a text names the set of this line, and does not only define it."""
    word = line.split()[1]
    bare = re.sub(r'"[^"\n]*"|(?<= in) \S+ untyped', "", text)  # neither strings nor the attribute of an address
    return re.search(rf"(?<!^set )\b{word}\b", bare) is not None


def damage_text(text: str, random: Random) -> str:
    lines, parts = text.split("\n"), _PARTS.findall(text)
    place, line = random.randrange(len(parts)), random.randrange(len(lines))
    match random.randrange(7):
        case 0:
            del parts[place]
        case 1:
            parts.insert(place, random.choice(parts))
        case 2:
            parts[place] = random.choice(parts)
        case 3:
            parts[place] = random.choice(_SCRAPS) + parts[place][random.randrange(2) :]
        case 4:
            del lines[line]
            return "\n".join(lines)
        case 5:
            lines.insert(line, random.choice(lines))
            return "\n".join(lines)
        case _:
            other = random.randrange(len(lines))
            lines[line], lines[other] = lines[other], lines[line]
            return "\n".join(lines)
    return "".join(parts)


def bind_some(table: InstructionTable, random: Random) -> None:
    for name in random.sample(table.names, min(3, len(table.names))):
        for form in table.forms(name)[:4]:
            words = [
                random.choice(slot.values) for slot in form.modifiers if not slot.optional or random.random() < 0.6
            ]
            table.candidates(".".join([name, *words]))


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_with_the_sets_that_it_names_loads(name: str) -> None:
    assert load_texts(with_sets(name, TEXTS[name]))


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_damaged_chapter_loads_or_its_error_has_a_place(name: str) -> None:
    random = Random(name)
    mistakes: list[tuple[str, NotationError]] = []
    for _ in range(COUNT):
        text = damage_text(TEXTS[name], random)
        try:
            bind_some(InstructionTable(load_texts(with_sets(name, text))), random)
        except NotationError as error:
            mistakes.append((text, error))
    for text, mistake in mistakes:
        assert 1 <= mistake.line <= text.count("\n") + 2, mistake
        assert str(mistake).split("\n")[-1].strip() == "^", mistake
        assert Path(mistake.path).name in (name, "sets.isa")
    assert len(mistakes) > COUNT // 5, "hardly any of this damage is noticed"
