"""A baseline: a file of known findings, which is written once, and stored with PTX that a program generates.

A finding is identified by its code, its function and its statement without the numbers of registers and labels, so that
it is still known when lines move or a compiler renumbers its registers. Each entry states the number of such findings:
an additional one is new.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from ptxkit.diagnostics import Diagnostic, Undecided
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.limits import MAX_BASELINE_COUNT, MAX_ERROR_CHARS, MAX_STATEMENT_CHARS
from ptxkit.refusal import RefusedError
from ptxkit.results import FileResult, Status
from ptxkit.small_files import UnsuitableFileError, parse_json, read_small_file
from ptxkit.source import SourceFile

VERSION = 1


BaselineEntry: TypeAlias = tuple[str, str, str]
"""Code, function, statement."""

_FUNCTION = re.compile(r"\.(?:entry|func)\b[ \t\r\n]*(?:\([^)]*\)[ \t\r\n]*)?([A-Za-z_$%][\w$]*)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NUMBERED_NAME = re.compile(r"(%[a-zA-Z_$]+|\$L_*[A-Za-z_]+)[0-9][0-9_]*")
_BLANKS = re.compile(r"\s+")


_WRITE_AGAIN = "write another one with `--write-baseline`"


class BaselineError(RefusedError):
    """The baseline cannot be used."""

    def __init__(self, message: str, path: str, remedy: str) -> None:
        super().__init__(f"{path}: {message}", remedy)
        self.message = message


@dataclass(frozen=True, slots=True)
class Baseline:
    """Known findings by input file. The paths are relative to the folder of the baseline and contain `/`."""

    files: Mapping[str, Counter[BaselineEntry]]


def read_baseline(path: str) -> Baseline:
    """Returns the baseline at a path. Raises BaselineError."""
    try:
        document = parse_json(read_small_file(path))
        version = document["version"]
        if version != VERSION:
            what = f"is of version {str(version)[:MAX_ERROR_CHARS]}, and this ptxkit reads {VERSION}"
            raise BaselineError(what, path, _WRITE_AGAIN)
        files = {
            name: Counter({(each["code"], each["function"], each["statement"]): _count(each) for each in entries})
            for name, entries in document["files"].items()
        }
    except UnsuitableFileError as error:
        raise BaselineError(str(error), path, _WRITE_AGAIN) from error
    except OSError as error:
        remedy = "write one with `--write-baseline`" if isinstance(error, FileNotFoundError) else _WRITE_AGAIN
        raise BaselineError(f"cannot be read: {error.strerror or error}", path, remedy) from error
    except BaselineError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BaselineError("is not a baseline of ptxkit", path, _WRITE_AGAIN) from error
    return Baseline(files)


def _count(entry: Mapping[str, object]) -> int:
    """Returns the number of findings of an entry. Raises ValueError."""
    count = entry["count"]
    if not isinstance(count, int) or not 0 <= count <= MAX_BASELINE_COUNT:
        raise ValueError("the count must be a number of findings")
    return count


def baseline_text(path: str, results: Iterable[FileResult]) -> str:
    """Returns the text of a baseline at `path` with all findings of these results."""
    import json

    files: dict[str, list[dict[str, object]]] = {}
    for result in results:
        if result.status is not Status.FAILED:
            found = Counter(entry for entry in baseline_entries(result.diagnostics) if entry[0] != ptx1xx.NO_VERDICT)
            entries: list[dict[str, object]] = [
                {"code": code, "function": function, "statement": statement, "count": found[code, function, statement]}
                for code, function, statement in sorted(found)
            ]
            if entries:
                files[_relative_name(result.path, path)] = entries
    return json.dumps({"version": VERSION, "files": dict(sorted(files.items()))}, indent=1) + "\n"


@dataclass(frozen=True, slots=True)
class KnownFindings:
    """The findings of a file that are not reported. exact: of functions by their names. renamed: of functions that have
    other names now, without a name; they are those of functions that are not in `functions`.
    """

    exact: Counter[BaselineEntry] = field(default_factory=Counter)
    renamed: Counter[BaselineEntry] = field(default_factory=Counter)
    functions: frozenset[str] = frozenset()

    def __or__(self, other: KnownFindings) -> KnownFindings:
        """The findings that one of both has; each as often as the one that has it more often."""
        functions = self.functions | other.functions
        return KnownFindings(self.exact | other.exact, self.renamed | other.renamed, functions)


def listed_findings(result: FileResult, baseline: Baseline, path: str) -> KnownFindings:
    """Returns the findings of a file that the baseline at `path` contains."""
    return KnownFindings(Counter(baseline.files.get(_relative_name(result.path, path), {})))


def earlier_findings(earlier: FileResult, source: SourceFile) -> KnownFindings:
    """Returns the findings of an earlier text of a file. source: the text now.

    A function that is only in the earlier text may be one that is only in the text now, under another name.
    """
    if earlier.status is Status.FAILED or not earlier.diagnostics:
        return KnownFindings()
    before, now = (frozenset(_function_starts(each)[1]) for each in (earlier.diagnostics[0].source, source))
    entries = baseline_entries(earlier.diagnostics)
    exact = Counter(each for each in entries if each[1] in now)
    return KnownFindings(exact, Counter(_without_name(each) for each in entries if each[1] not in now), before)


def remove_known(result: FileResult, baseline: Baseline, path: str) -> FileResult:
    """Returns the result without the findings that the baseline at `path` contains."""
    return without_findings(result, listed_findings(result, baseline, path))


def without_findings(result: FileResult, known: KnownFindings) -> FileResult:
    """Returns the result without known findings."""
    if not (known.exact or known.renamed) or result.status is Status.FAILED:
        return result
    exact, renamed = Counter(known.exact), Counter(known.renamed)
    fresh = []
    for item, entry in zip(result.diagnostics, baseline_entries(result.diagnostics), strict=True):
        if exact[entry] > 0:
            exact[entry] -= 1
        elif entry[1] not in known.functions and renamed[_without_name(entry)] > 0:
            renamed[_without_name(entry)] -= 1
        else:
            fresh.append(item)
    from ptxkit.diagnostics import Verdict

    left = FileResult.of(result.path, Verdict(tuple(fresh), result.undecided))
    return replace(left, suppressed=result.suppressed, known=len(result.diagnostics) - len(fresh), fixed=result.fixed)


def _without_name(entry: BaselineEntry) -> BaselineEntry:
    """Returns an entry without the name of its function, which is also in the names of parameters."""
    code, function, statement = entry
    return code, "", statement.replace(function, "") if function else statement


def fingerprints(result: FileResult) -> list[str]:
    """Returns a text for each finding of a file that distinguishes it from all others, and is stable when lines
    move.
    """
    from hashlib import sha256

    seen: Counter[BaselineEntry] = Counter()
    marks = []
    for entry in baseline_entries(result.diagnostics):
        seen[entry] += 1
        text = "\0".join([result.path.replace(os.sep, "/"), *entry, str(seen[entry])])
        marks.append(sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32])
    return marks


def baseline_entries(diagnostics: Sequence[Diagnostic | Undecided]) -> list[BaselineEntry]:
    """Returns the entry of each finding or question of one text."""
    if not diagnostics:
        return []
    source = diagnostics[0].source
    starts, names = _function_starts(source)
    return [
        (item.code, names[bisect_right(starts, item.span.start) - 1] if starts else "", _statement(item))
        for item in diagnostics
    ]


def _function_starts(source: SourceFile) -> tuple[list[int], list[str]]:
    """Returns the offsets and the names of functions; code before the first one belongs to none."""
    starts, names = [0], [""]
    for match in _FUNCTION.finditer(source.text):
        starts.append(match.start())
        names.append(match[1])
    return starts, names


def _statement(item: Diagnostic | Undecided) -> str:
    """Returns the statement of a finding, as far as it is on the line on which the finding begins."""
    line, column = item.source.position(item.span.start)
    text = item.source.line_text(line)
    begin = text.rfind(";", 0, column - 1) + 1
    end = text.find(";", column - 1) + 1 or len(text)
    return _BLANKS.sub(" ", _NUMBERED_NAME.sub(r"\1", _COMMENT.sub(" ", text[begin:end]))).strip()[:MAX_STATEMENT_CHARS]


def _relative_name(path: str, baseline: str) -> str:
    folder = os.path.dirname(os.path.abspath(baseline))
    try:
        return os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/")
    except ValueError:  # another drive
        return os.path.abspath(path).replace(os.sep, "/")
