"""How instructions are written in the languages that PTX is compiled from: `grammars/isa/spellings.toml`."""

from __future__ import annotations

import os
import re
from functools import cache

from ptxkit.fast_dataclasses import dataclass
from ptxkit.resources import grammar_folder

_OPERAND = re.compile(r"\\\{(\w+)\\\}")
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Spelling:
    """An instruction with named places for its operands, and how languages write it."""

    pattern: re.Pattern[str]
    by_language: dict[str, str]


@cache
def spellings() -> tuple[Spelling, ...]:
    """The table. Raises ValueError where the file is damaged."""
    import tomllib

    with open(os.path.join(grammar_folder(), "isa", "spellings.toml"), "rb") as file:
        entries = tomllib.load(file)["spelling"]
    return tuple(
        Spelling(re.compile(_OPERAND.sub(r"(?P<\1>[^,;]+)", re.escape(entry["ptx"])) + ";?"), _languages(entry))
        for entry in entries
    )


def _languages(entry: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in entry.items() if name != "ptx"}


def spell(code: str, languages: tuple[str, ...]) -> str | None:
    """An instruction in the first of some languages that the table has it for; None where it has none."""
    for each in spellings():
        match = each.pattern.fullmatch(code)
        language = next((name for name in languages if name in each.by_language), None)
        if match is not None and language is not None:
            return each.by_language[language].format(**match.groupdict())
    return None


def with_spellings(text: str, languages: tuple[str, ...]) -> str:
    """A text whose PTX instructions between backticks are preceded by their spelling in the first language known."""

    def replaced(match: re.Match[str]) -> str:
        found = spell(match[1], languages)
        return match[0] if found is None else f"`{found}` ({match[0]})"

    return _CODE.sub(replaced, text)
