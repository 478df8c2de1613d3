"""The inputs of `ptxkit compile`: PTX, which is linted, and files with other code, which are only linked."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

from ptxkit.cli.input_files import InputFile, expand_paths, read_texts
from ptxkit.cli.input_settings import InputSettings
from ptxkit.cli.lint_run import LintedInput, lint_inputs
from ptxkit.device.link_inputs import LinkInput, identify_binary
from ptxkit.device.targets import common_target
from ptxkit.diagnostics import Severity
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.results import FileResult, Status
from ptxkit.source import SourceFile
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Directive, Module


@dataclass(frozen=True, slots=True)
class CompileInputs:
    """The inputs as they are linked: PTX first. modules: those that are PTX. results: of the inputs that were linted or
    could not be read. paths: of the files."""

    linked: tuple[LinkInput, ...]
    modules: tuple[Module, ...]
    results: tuple[FileResult, ...]
    paths: tuple[str, ...]

    @property
    def has_failed(self) -> bool:
        """Whether an input could not be read or checked."""
        return any(each.status is Status.FAILED for each in self.results)

    @property
    def error_count(self) -> int:
        """The number of errors in the PTX."""
        found = [item for each in self.results for item in each.diagnostics]
        return sum(item.severity is Severity.ERROR for item in found)

    @property
    def single_module(self) -> Module | None:
        """The PTX if there is no other input."""
        return self.modules[0] if len(self.linked) == len(self.modules) == 1 else None

    def common_target(self) -> str | None:
        """The least `.target` of the PTX on which all of it runs."""
        directives = (each for module in self.modules for each in module.items if isinstance(each, Directive))
        return common_target(word for each in directives if each.name == "target" for word in each.words)


def read_compile_inputs(paths: Sequence[str], configured: InputSettings, *, lints: bool) -> CompileInputs:
    """Reads the files, and lints those that are PTX if `lints`.

    The text that is compiled is the one that was checked. If an input has errors or failed, nothing is linked. Raises
    SettingsError, CannotRunError, UnusableCacheError, and PTXSyntaxError for PTX that was not linted.
    """
    inputs = list(expand_paths(paths))
    binaries = {each.path: found for each in inputs if isinstance(each, InputFile) and (found := _read_binary(each))}
    texts = [each for each in inputs if isinstance(each, FileResult) or each.path not in binaries]
    with closing(lint_inputs(texts, configured) if lints else _read_inputs(texts)) as arriving:
        read = list(arriving)
    files = tuple(each.path for each in inputs if isinstance(each, InputFile))
    checked = CompileInputs((), (), tuple(each.result for each in read), files)
    if checked.has_failed or checked.error_count:
        return checked
    sources = [each.source for each in read if each.source is not None]
    modules = tuple(parse(each.text, each.path) for each in sources)
    texts_first = [LinkInput(source.path, module) for source, module in zip(sources, modules, strict=True)]
    return replace(checked, linked=(*texts_first, *binaries.values()), modules=modules)


def _read_binary(given: InputFile) -> LinkInput | None:
    """Returns the code of a file that is not text. A pipe is read once, as text, which also reports errors."""
    if not os.path.isfile(given.path):
        return None
    try:
        return identify_binary(given.path, Path(given.path).read_bytes())
    except OSError:
        return None


def _read_inputs(inputs: Sequence[InputFile | FileResult]) -> Generator[LintedInput, None, None]:
    """Yields the inputs as `lint_inputs` does, with empty results."""
    for given in inputs:
        for each in [given] if isinstance(given, FileResult) else read_texts(given):
            if isinstance(each, SourceFile):
                yield LintedInput(FileResult(each.path, Status.CLEAN), each)
            else:
                yield LintedInput(each)
