"""The fenced code blocks of a page, as CONTRIBUTING ("Write documentation") describes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

ROOT = Path(__file__).resolve().parent.parent.parent

_FENCE = re.compile(r"(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`]*)")
_INFO = re.compile(r"""(?P<key>[\w-]+)=(?:"(?P<quoted>[^"]*)"|(?P<bare>\S+))|\.?(?P<word>[\w+-]+)""")
_INCLUDED = re.compile(r'^--8<-- "(?P<path>[^":]+)(?::(?P<first>\d+):(?P<last>\d+))?"$', re.MULTILINE)


@dataclass(frozen=True)
class CodeBlock:
    """One fenced block.

    line: of the opening fence, from 1. words: the language, and further words such as `no-run`. options: such as
    `title`. text: dedented, with the files that it includes. first and last: the indexes of the lines between the
    fences.
    """

    page: Path
    line: int
    words: tuple[str, ...]
    options: dict[str, str]
    text: str
    first: int
    last: int
    indent: str

    @property
    def language(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def place(self) -> str:
        page = self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page
        return f"{page}:{self.line}"


def blocks_of(page: Path) -> Iterator[CodeBlock]:
    """Yields the blocks of a page from top to bottom. A fence that is not closed is an AssertionError."""
    lines = page.read_text("utf-8").splitlines()
    number = 0
    while number < len(lines):
        opening = _FENCE.fullmatch(lines[number])
        if opening is None:
            number += 1
            continue
        fence = opening["indent"] + opening["ticks"]
        last = next((at for at in range(number + 1, len(lines)) if lines[at].rstrip() == fence), None)
        assert last is not None, f"{page}:{number + 1}: this block is not closed"
        words, options = _read_info(opening["info"])
        text = dedent("".join(f"{line}\n" for line in lines[number + 1 : last]))
        yield CodeBlock(page, number + 1, words, options, _include(text), number + 1, last, opening["indent"])
        number = last + 1


def replace_blocks(page: Path, texts: dict[int, str]) -> None:
    """Rewrites blocks of a page: new texts, by the line of the opening fence."""
    lines = page.read_text("utf-8").splitlines()
    for block in reversed(list(blocks_of(page))):
        if block.line in texts:
            lines[block.first : block.last] = indent(texts[block.line], block.indent).splitlines()
    page.write_text("\n".join(lines) + "\n", "utf-8")


def _read_info(info: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Returns the words and options of `ptx title="k.ptx"` and of `{ .console .no-run reason="needs a GPU" }`."""
    words, options = [], {}
    for match in _INFO.finditer(info.strip().strip("{}")):
        if match["key"]:
            options[match["key"]] = match["bare"] if match["quoted"] is None else match["quoted"]
        else:
            words.append(match["word"])
    return tuple(words), options


def _include(text: str) -> str:
    """Returns the text with the files of the checkout that `--8<-- "path"` and `--8<-- "path:3:9"` name."""

    def read(match: re.Match[str]) -> str:
        lines = (ROOT / match["path"]).read_text("utf-8").splitlines()
        if match["first"]:
            lines = lines[int(match["first"]) - 1 : int(match["last"])]
        return "\n".join(lines)

    return _INCLUDED.sub(read, text)
