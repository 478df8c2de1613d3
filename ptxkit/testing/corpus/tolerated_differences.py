"""The known differences between ptxkit and ptxas, with their reasons: `grammars/isa/tolerated.toml`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from ptxkit.resources import grammar_path

_SIDES = ("ptxas", "ptxkit")


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """A known difference. accepts: `ptxas` or `ptxkit`. opcode: a pattern. text: a regular expression that matches the
    instruction; a file has none. says: a part of the error message. example: an instruction, with names as in
    `ptxkit.isa.harness_module`, or a module; pair: its version and target, `9.5/sm_100a`."""

    accepts: str
    reason: str
    ptxas: str = ""
    opcode: str = "*"
    text: str = ""
    says: str = ""
    pair: str = ""
    example: str = ""

    def covers(self, opcode: str, release: str, accepts: str, refusal: str, text: str = "") -> bool:
        """Whether a difference matches this entry. text: the instruction, empty for a whole file."""
        return (
            accepts == self.accepts
            and self.ptxas in ("", release)
            and fnmatchcase(opcode, self.opcode)
            and re.search(self.text, text) is not None
            and self.says in refusal
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
        if known.accepts not in _SIDES:
            raise ValueError(f"{path}: difference {number}: accepts must be one of {', '.join(_SIDES)}")
        found.append(known)
    return tuple(found)
