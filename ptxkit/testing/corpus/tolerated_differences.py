"""The known differences between ptxkit and ptxas, with their reasons: `grammars/isa/tolerated.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import TypeAlias

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue.index import CODES, TEMPLATES
from ptxkit.resources import grammar_path

_SIDES = ("ptxas", "ptxkit")
_NAMES = {id(template): f"{module}.{name}" for (module, name), template in TEMPLATES.items()}

_Statement: TypeAlias = tuple[str, Mapping[str, str]]
"""A code or the name of a template, `operand_reasons.TYPE_DIFFERS`, and the fields as text."""


class Refusal(str):
    """An error of ptxkit as text. statements: its code and each template that its message is made of, with the
    fields.
    """

    statements: tuple[_Statement, ...]

    def __new__(cls, text: str, message: Message | None = None) -> Refusal:
        made = super().__new__(cls, text)
        made.statements = () if message is None else ((str(message.code), _shown_fields(message)), *_parts(message))
        return made


def _parts(message: Message) -> Iterator[_Statement]:
    yield _NAMES[id(message.template)], _shown_fields(message)
    for value in message.fields.values():
        if isinstance(value, Message):
            yield from _parts(value)


def _shown_fields(message: Message) -> Mapping[str, str]:
    return {name: str(value) for name, value in message.fields.items()}


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """A known difference. accepts: `ptxas` or `ptxkit`. opcode: a pattern. text: a regular expression that matches the
    instruction; a file has none. `says`: a part of the error message of ptxas. refusal: the code of the error of ptxkit,
    or the name of a template that its message is made of; fields: some of the fields, as text. example: an instruction,
    with names as in `ptxkit.isa.harness_module`, or a module; pair: its version and target, `9.5/sm_100a`.
    """

    accepts: str
    reason: str
    ptxas: str = ""
    opcode: str = "*"
    text: str = ""
    ptxas_message: str = ""
    refusal: str = ""
    fields: Mapping[str, str] = field(default_factory=dict, hash=False)
    pair: str = ""
    example: str = ""

    def covers(self, opcode: str, release: str, accepts: str, refusal: str, text: str = "") -> bool:
        """Returns whether a difference matches this entry. text: the instruction, empty for a whole file."""
        return (
            accepts == self.accepts
            and self.ptxas in ("", release)
            and fnmatchcase(opcode, self.opcode)
            and re.search(self.text, text) is not None
            and self.ptxas_message in refusal
            and (not self.refusal or self._is_stated_in(refusal))
        )

    def _is_stated_in(self, refusal: str) -> bool:
        return isinstance(refusal, Refusal) and any(
            name == self.refusal and self.fields.items() <= fields.items() for name, fields in refusal.statements
        )


@cache
def known_differences() -> tuple[KnownDifference, ...]:
    """Reads all entries. Raises ValueError with the file and the entry for an invalid one."""
    path = grammar_path() / "isa" / "tolerated.toml"
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("difference", [])
    found = []
    for number, entry in enumerate(entries, 1):
        try:
            known = KnownDifference(**entry)
        except TypeError as error:
            raise ValueError(f"{path}: difference {number}: {error}") from None
        problem = _entry_problem(known)
        if problem:
            raise ValueError(f"{path}: difference {number}: {problem}")
        found.append(known)
    return tuple(found)


def _entry_problem(entry: KnownDifference) -> str:
    """Returns the error in an entry, or an empty text."""
    if entry.accepts not in _SIDES:
        return f"accepts must be one of {', '.join(_SIDES)}"
    if entry.accepts == "ptxas" and entry.ptxas_message:
        return "ptxkit refuses it: name the code or the template as `refusal`"
    if entry.accepts == "ptxkit" and entry.refusal:
        return "ptxas refuses it: quote its message as `ptxas_message`"
    if entry.refusal and entry.refusal not in (*CODES, *_NAMES.values()):
        return f"the catalogue has no code or template `{entry.refusal}`"
    return ""
