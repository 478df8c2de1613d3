"""Checks whole files, unchanged and with one change, with ptxkit and with ptxas.

A change removes, repeats, replaces or moves a character, a token or a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ptxkit.testing.corpus.tolerated_differences import Refusal, known_differences
from ptxkit.testing.differential.campaign import CRASH_PREFIX, VersionTarget, ptxkit_refusal
from ptxkit.testing.limits import MAX_MUTATED_CHARS
from ptxkit.testing.oracles.ptxas import Ptxas

_HEADING = re.compile(r"^\s*\.version\s+(\d+)\.(\d+).*?^\s*\.target\s+(sm_\w+)", re.MULTILINE | re.DOTALL)
_TOKEN = re.compile(r"[%$]?[\w$.:]+|\"[^\"\n]*\"|\S")
_COMMENT = re.compile(r"//[^\n]*")
_FOREIGN_TOKENS = (
    *("0", "1", "-1", "7", "256", "0x7fffffff", "4294967296", "1.5", "0f3F800000", "_", "%tid.x", "WARP_SZ"),
    *(";", ",", "{", "}", "[", "]", "(", ")", ":", "@", "!", "|", "+", "-", "<", ">", "="),
    *(".reg", ".param", ".shared", ".global", ".local", ".const", ".u32", ".b64", ".f32", ".pred", ".align", ".v2"),
    *(".func", ".entry", ".visible", ".extern", ".weak", ".version", ".target", ".maxntid", ".pragma", "ret", "bra"),
)
_CHARACTERS = "abrxyz0189 %$_.,;:[]{}()<>|@!+-*/=\"'#&?~\\\n"


@dataclass(frozen=True, slots=True)
class FileSample:
    """A module for both sides to check. origin: the file. pair: version and target of the unchanged file. change: the
    description of the change, None for an unchanged file."""

    origin: str
    pair: VersionTarget
    text: str
    change: str | None = None


@dataclass(frozen=True, slots=True)
class FileVerdicts:
    """The reasons why ptxkit and each release of ptxas reject a sample, or None if they accept it."""

    sample: FileSample
    ours: str | None
    theirs: tuple[tuple[str, str | None], ...]

    def disagreements(self) -> list[tuple[str, str | None]]:
        """Returns the releases whose verdict differs from that of ptxkit, with their reasons, except for known
        differences.
        """
        return [(release, why) for release, why in self.theirs if not self._is_explained(release, why)]

    def _is_explained(self, release: str, why: str | None) -> bool:
        if (self.ours or "").startswith(CRASH_PREFIX):
            return False
        if (self.ours is None) == (why is None):
            return True
        accepts, refusal = ("ptxkit", why or "") if self.ours is None else ("ptxas", self.ours)
        opcode = _opcode_in(self.ours or "")
        return any(each.covers(opcode, release, accepts, refusal) for each in known_differences())


def _opcode_in(refusal: str) -> str:
    """Returns the opcode of the instruction that ptxkit rejects; `*` if it rejects something else."""
    statements = refusal.statements if isinstance(refusal, Refusal) else ()
    return next((fields["opcode"] for _, fields in statements if "opcode" in fields), "*")


def declared_target(text: str) -> VersionTarget | None:
    """Returns the version and the first target of a module."""
    found = _HEADING.search(text)
    return ((int(found[1]), int(found[2])), found[3]) if found else None


def find_ptx_files(folders: Sequence[Path]) -> list[Path]:
    """Returns all PTX files below some folders, in a fixed order."""
    return sorted(path for folder in folders for path in folder.rglob("*.ptx"))


def original_samples(paths: Sequence[Path]) -> Iterator[FileSample]:
    """Yields the unchanged files, except for those without a heading."""
    for path in paths:
        text = read_text(path)
        pair = declared_target(text)
        if pair is not None:
            yield FileSample(str(path), pair, text)


def mutated_samples(paths: Sequence[Path], count: int, seed: int) -> Iterator[FileSample]:
    """Yields `count` samples, each a file with one random change. Files that are too large are skipped."""
    originals = [each for each in original_samples(paths) if len(each.text) <= MAX_MUTATED_CHARS]
    for number in range(count if originals else 0):
        random = Random(f"{seed} {number}")
        original = random.choice(originals)
        text, change = mutate_text(original.text, random)
        yield FileSample(original.origin, original.pair, text, change)


def mutate_text(text: str, random: Random) -> tuple[str, str]:
    """Returns the text with one random change, and a description of it. The text has at least one line of code."""
    made, change = text, ""
    while made == text:
        made, change = random.choice(_TEXT_MUTATORS)(text, random)
    return made, change


def read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def compare_sample(sample: FileSample, oracles: Sequence[Ptxas]) -> FileVerdicts:
    """Checks one sample with both sides, each assembler in its own process, because files share `.visible` names."""
    asked = [each for each in oracles if each.supports(*sample.pair)]
    theirs = tuple((each.release, each.refusal(sample.text, sample.pair[1])) for each in asked)
    return FileVerdicts(sample, ptxkit_refusal(sample.text), theirs)


# ------------------------------------------------------------------------------------------- changes
# Each returns the new text and a description of the change.


def _mutate_character(text: str, random: Random) -> tuple[str, str]:
    place = random.choice(_code_offsets(text))
    shown = f"character {text[place]!r} of line {text.count(chr(10), 0, place) + 1}"
    match random.randrange(3):
        case 0:
            return text[:place] + text[place + 1 :], f"{shown} dropped"
        case 1:
            new = random.choice(_CHARACTERS)
            return text[:place] + new + text[place:], f"{new!r} put before {shown}"
        case _:
            new = random.choice(_CHARACTERS)
            return text[:place] + new + text[place + 1 :], f"{shown} becomes {new!r}"


def _mutate_token(text: str, random: Random) -> tuple[str, str]:
    tokens = list(_TOKEN.finditer(_COMMENT.sub(lambda found: " " * len(found[0]), text)))
    one, other = random.choice(tokens), random.choice(tokens)
    shown = f"token {one[0]!r} of line {text.count(chr(10), 0, one.start()) + 1}"
    before, after = text[: one.start()], text[one.end() :]
    match random.randrange(5):
        case 0:
            return before + after, f"{shown} dropped"
        case 1:
            return f"{before}{one[0]} {one[0]}{after}", f"{shown} doubled"
        case 2:
            return before + other[0] + after, f"{shown} becomes {other[0]!r}"
        case 3:
            near = [each for each in tokens if abs(each.start() - one.start()) < 400]
            new = random.choice(near)[0]
            return before + new + after, f"{shown} becomes {new!r}"
        case _:
            new = random.choice(_FOREIGN_TOKENS)
            return before + new + after, f"{shown} becomes {new!r}"


def _mutate_line(text: str, random: Random) -> tuple[str, str]:
    lines = text.splitlines()
    place = random.choice([index for index, line in enumerate(lines) if line.split("//")[0].strip()])
    line = lines[place]
    shown = f"line {place + 1} ({line.strip()[:60]})"
    match random.randrange(3):
        case 0:
            del lines[place]
            change = f"{shown} dropped"
        case 1:
            lines.insert(place, line)
            change = f"{shown} doubled"
        case _:
            other = random.randrange(len(lines))
            lines.insert(other, lines.pop(place))
            change = f"{shown} moved to line {other + 1}"
    return "\n".join(lines) + "\n", change


def _code_offsets(text: str) -> list[int]:
    """Offsets of characters outside comments."""
    bare = _COMMENT.sub(lambda found: " " * len(found[0]), text)
    return [index for index, character in enumerate(bare) if not character.isspace()]


_TEXT_MUTATORS = (_mutate_character, _mutate_token, _mutate_token, _mutate_line)
