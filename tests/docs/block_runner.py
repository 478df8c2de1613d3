"""Runs the code blocks of one page, in order, in one folder."""

from __future__ import annotations

import io
import json
import linecache
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import yaml

import ptxkit
from ptxkit.cli.commands import cli
from tests.docs.markdown_blocks import ROOT, CodeBlock, blocks_of
from tests.docs.shell_session import ShellSession

EXCERPT_HEAD = ".version 9.3\n.target sm_100a\n.address_size 64\n"
FORM_CODES = frozenset({"PTX101", "PTX102", "PTX103", "PTX104", "PTX105"})
"""Errors that no excerpt of PTX may have: syntax errors, and instructions that do not exist."""
MALFORMED = frozenset({*FORM_CODES, *(f"PTX{number}" for number in range(106, 112))})
"""Errors that no displayed file may have, because ptxas would reject it."""
FILES_ONLY = frozenset({"cuda", "c++"})
"""Languages for which the suite has no compiler: blocks with a title are files, the others are counted."""


@dataclass
class BlockRunner:
    """The state of a page so far: its files, its Python names, and the texts that blocks should have."""

    page: Path
    folder: Path
    names: dict[str, Any] = field(default_factory=dict)
    corrections: dict[int, str] = field(default_factory=dict)
    last_output: str = ""

    def run(self) -> int:
        """Runs all blocks, and returns their number. A block that fails is an AssertionError that names its place."""
        if self.page.parent != ROOT:
            self._copy_neighbors()
        (self.folder / "corpus").symlink_to(ROOT / "corpus", target_is_directory=True)
        if self.page.parent == ROOT:
            (self.folder / "docs").symlink_to(ROOT / "docs", target_is_directory=True)
        session = ShellSession(self.folder)
        self.names["__name__"] = "__page__"
        done = 0
        for block in blocks_of(self.page):
            if reason_not_to_run(block) is None:
                self._run_block(block, session)
                done += 1
            elif "title" in block.options:
                self._write(block)
        return done

    def _run_block(self, block: CodeBlock, session: ShellSession) -> None:
        if "output" in block.words:
            self._compare(block, self.last_output, block.text)
            return
        action = _LANGUAGES.get(block.language)
        assert action is not None, (
            f"{block.place}: no test runs {block.language or 'a block without a language'}: write `text`, or mark the "
            'block, as in { .console .no-run reason="needs a GPU" }'
        )
        if "title" in block.options:
            self._write(block)
        action(self, block, session)

    def _write(self, block: CodeBlock) -> None:
        path = self.folder / block.options["title"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, "utf-8")

    def _copy_neighbors(self) -> None:
        """The files next to a page are in the folder: sources of a compiler, and its output."""
        for path in self.page.parent.iterdir():
            if path.is_file() and path.suffix != ".md":
                shutil.copy(path, self.folder)

    def run_console(self, block: CodeBlock, session: ShellSession) -> None:
        shown, printed = [], []
        for command, expected in commands_of(block):
            output = session.run(command.replace("\\\n", " "))
            shown.append(f"$ {command}\n{expected}")
            printed.append(f"$ {command}\n{expected if matches(expected, output) else output}")
        if shown != printed:
            self.corrections[block.line] = "".join(printed)
        assert shown, f"{block.place}: a console block has lines that begin with `$ `"

    def run_python(self, block: CodeBlock, session: ShellSession) -> None:
        if "title" in block.options:  # a file, which a console block runs
            compile(block.text, block.place, "exec")
            return
        linecache.cache[block.place] = len(block.text), None, block.text.splitlines(keepends=True), block.place
        printed = io.StringIO()
        with chdir(self.folder), redirect_stdout(printed):
            exec(compile(block.text, block.place, "exec"), self.names)
        self.last_output = printed.getvalue()

    def check_ptx(self, block: CodeBlock, session: ShellSession) -> None:
        whole = re.search(r"^\s*\.version\b", block.text, re.MULTILINE) is not None
        text = block.text if whole else as_module(block.text)
        found = ptxkit.lint(text, path=block.place).diagnostics
        wrong = [f"{each.code}: {each.message}" for each in found if each.code in (MALFORMED if whole else FORM_CODES)]
        assert not wrong, f"{block.place}: {wrong}"

    def check_commands(self, block: CodeBlock, session: ShellSession) -> None:
        """The commands of a `sh` block are not run, but each `ptxkit` has the options that it shows."""
        for line in block.text.replace("\\\n", " ").splitlines():
            for words in re.findall(r"(?:^|[|;&] *)ptxkit ([^|;&#>]+)", line):
                check_options(words.split(), block.place)

    def _compare(self, block: CodeBlock, output: str, expected: str) -> None:
        if not matches(expected, output):
            self.corrections[block.line] = output


_LANGUAGES: dict[str, Callable[[BlockRunner, CodeBlock, ShellSession], object]] = {
    "console": BlockRunner.run_console,
    "python": BlockRunner.run_python,
    "ptx": BlockRunner.check_ptx,
    "sh": BlockRunner.check_commands,
    "json": lambda _, block, __: json.loads(block.text),
    "toml": lambda _, block, __: tomllib.loads(block.text),
    "yaml": lambda _, block, __: yaml.safe_load(block.text),
    **{language: lambda *_: None for language in FILES_ONLY},
}


def reason_not_to_run(block: CodeBlock) -> str | None:
    """Returns why a block is not run, or None."""
    if "no-run" in block.words:
        return block.options.get("reason", "")
    if block.language == "text" and "output" not in block.words:
        return "is text"
    if block.language in FILES_ONLY and "title" not in block.options:
        return "needs nvcc"
    return None


def commands_of(block: CodeBlock) -> Iterator[tuple[str, str]]:
    """Yields (command, output) of each `$` of a console block; a backslash continues a command."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not parts[0].strip(), f"{block.place}: text before the first `$ `"
    for part in parts[1:]:
        [command] = re.match(r"((?:.*\\\n)*.*)\n", part).groups()  # type: ignore[union-attr]
        yield command, part[len(command) + 1 :]


def matches(expected: str, printed: str) -> bool:
    """Returns whether a command prints the text of a page, where `...` is any text, except for spaces at ends of
    lines."""
    pattern = ".*?".join(re.escape(part) for part in without_trailing_spaces(expected).split("..."))
    return re.fullmatch(pattern, without_trailing_spaces(printed), re.DOTALL) is not None


def without_trailing_spaces(text: str) -> str:
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).rstrip()


def as_module(text: str) -> str:
    """Returns an excerpt as a module: functions unchanged, statements inside a kernel, its directives at their
    places."""
    head = EXCERPT_HEAD
    if target := re.search(r"^\.target\b.*\n", text, re.MULTILINE):
        text = text.replace(target[0], "")
        head = re.sub(r"\.target.*\n", target[0], head)
    if re.search(r"^\s*(\.visible|\.entry|\.func|\.extern|\.weak)\b", text, re.MULTILINE):
        return head + text
    directives = "".join(re.findall(r"^\.(?:req|max|min|explicit)\w+.*\n", text, re.MULTILINE))
    body = text.removeprefix(directives)
    return f"{head}.visible .entry excerpt()\n{directives}{{\n{body}\nret;\n}}\n"


def check_options(words: list[str], place: str) -> None:
    """Asserts that a command of ptxkit, and all options that it is shown with, exist."""
    if not words or words[0].startswith("-"):
        return
    command = cli.commands.get(words[0])
    assert isinstance(command, click.Command), f"{place}: there is no command `ptxkit {words[0]}`"
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)} | {"--help"}
    shown = {word.partition("=")[0] for word in words[1:] if word.startswith("-") and word != "-"}
    assert shown <= known, f"{place}: `ptxkit {words[0]}` has no option {', '.join(sorted(shown - known))}"
