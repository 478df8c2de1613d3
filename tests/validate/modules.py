"""Modules of a few lines, correct and wrong, and the diagnostics of ptxas for them.

`-arch=compute_XX` parses and checks only.
"""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.validate import validate
from tests.build.support import ptxas

NEWEST = "9.4", "sm_90a"
_OLDEST_ARCHITECTURE = 75


class Pair(NamedTuple):
    """A correct text, and one with a single error: items of a module, or a whole one that begins with `.version`.

    code, words: of the diagnostic. at: the word of the wrong text that the diagnostic marks. version, target: of both.
    """

    right: str
    wrong: str
    code: str
    words: str
    at: str = ""
    version: str = NEWEST[0]
    target: str = NEWEST[1]


def whole(items: str, version: str = NEWEST[0], target: str = NEWEST[1]) -> str:
    """Returns the module with these items."""
    if items.startswith(".version"):
        return items
    return f".version {version}\n.target {target}\n.address_size 64\n{items}\n"


def in_body(*pairs: Pair) -> list[Pair]:
    """Returns the same texts as statements of a kernel."""
    kernel = ".entry k() {{\n{}\nret;\n}}"
    return [pair._replace(right=kernel.format(pair.right), wrong=kernel.format(pair.wrong)) for pair in pairs]


def diagnostics(text: str) -> tuple[Diagnostic, ...]:
    """Returns the diagnostics of ptxkit for a module, including syntax errors."""
    try:
        return validate(parse(text, "k.ptx")).diagnostics
    except PTXSyntaxError as error:
        return error.diagnostics


def errors(text: str) -> list[Diagnostic]:
    return [found for found in diagnostics(text) if found.severity is Severity.ERROR]


def check(pair: Pair) -> None:
    """Asserts that the correct text is clean, and that the wrong one has one error with its code, words, and place."""
    assert [found.message for found in diagnostics(whole(pair.right, pair.version, pair.target))] == []
    found = errors(whole(pair.wrong, pair.version, pair.target))
    assert [each.code for each in found] == [pair.code], [each.message for each in found]
    assert pair.words in f"{found[0].message}; {found[0].help}"
    if pair.at:
        assert found[0].source.text[found[0].span.start : found[0].span.end] == pair.at


def accepted_by_ptxas(text: str, folder: Path, number: int) -> bool:
    """Returns whether ptxas accepts the module, for its own target or, where that is too old, for the oldest that it
    supports."""
    path = folder / f"{number}.ptx"
    path.write_text(text)
    match = re.search(r"\.target\s+(?:sm|compute)_0*(\d+)([af]?)", text)
    known = match is not None and int(match[1]) >= _OLDEST_ARCHITECTURE
    architecture = f"{match[1]}{match[2]}" if match is not None and known else f"{_OLDEST_ARCHITECTURE}"
    command = [str(ptxas()), f"-arch=compute_{architecture}", str(path), "-o", "/dev/null"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def disagreements(pairs: list[Pair], folder: Path) -> list[str]:
    """Returns the texts on which ptxas disagrees."""
    texts = [(True, whole(pair.right, pair.version, pair.target)) for pair in pairs]
    texts += [(False, whole(pair.wrong, pair.version, pair.target)) for pair in pairs]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda each: accepted_by_ptxas(each[1][1], folder, each[0]), enumerate(texts)))
    return [text for (right, text), answer in zip(texts, answers, strict=True) if right != answer]
