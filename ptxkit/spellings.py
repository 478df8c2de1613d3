"""The spellings of instructions in the languages that PTX is compiled from: `grammars/isa/spellings.toml`."""

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
    """An instruction with placeholders for its operands, and its spellings in other languages."""

    pattern: re.Pattern[str]
    by_language: dict[str, str]


@cache
def spellings() -> tuple[Spelling, ...]:
    """Returns the table. Raises ValueError if the file is damaged."""
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
    """Returns an instruction in the first language for which the table has a spelling, or None."""
    for each in spellings():
        match = each.pattern.fullmatch(code)
        language = next((name for name in languages if name in each.by_language), None)
        if match is not None and language is not None:
            return each.by_language[language].format(**match.groupdict())
    return None


def with_spellings(text: str, languages: tuple[str, ...]) -> str:
    """Returns a text in which each PTX instruction between backticks is preceded by its spelling in the first known
    language.
    """

    def replace(match: re.Match[str]) -> str:
        found = spell(match[1], languages)
        return match[0] if found is None else f"`{found}` ({match[0]})"

    return _CODE.sub(replace, text)
