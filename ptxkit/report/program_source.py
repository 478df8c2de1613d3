"""Findings about the program that a PTX was compiled from: its line is shown first, and the PTX below it.

`.loc` names the file and the line. The file is read where it is there and is source code by its name: a PTX may name
any file of the machine, and a report must not print the contents of one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from ptxkit.diagnostic_groups import other_lines_text, related_text, shorten_related
from ptxkit.diagnostics import Diagnostic, Label, Place, Undecided
from ptxkit.fast_dataclasses import dataclass
from ptxkit.report.paths import from_root, is_below_root
from ptxkit.small_files import is_inside, read_small_file
from ptxkit.source import SourceFile, SourceLine, Span
from ptxkit.spellings import with_spellings
from ptxkit.user_code import relative_line, source_languages, user_frames

_SOURCE_NAME = r"\.(cu|cuh|c|cc|cpp|cxx|h|hh|hpp|hxx|inc|inl|py|rs|jl|mojo|zig|f90|cuf|ll|mlir)"
_WORD = r"[\w.:]*\w"


class ProgramSources:
    """The texts of the programs that PTX files were compiled from, each read once.

    folders: where files are read, if not everywhere.
    """

    def __init__(self, folders: Sequence[str] | None = None) -> None:
        self._folders = folders
        self._texts: dict[str, SourceFile] = {}

    def source(self, path: str, ptx_path: str) -> SourceFile:
        """The file of a `.file` directive by the name to show, without text where it cannot be read.

        A relative path is that of a file next to the PTX, or else below one of the folders, or the working directory.
        """
        key = path if os.path.isabs(path) else os.path.join(os.path.dirname(ptx_path), path)
        if key not in self._texts:
            tried = (key, *(os.path.join(folder, path) for folder in self._folders or ("",)))
            found = next(filter(os.path.isfile, tried), path)
            is_read = self._folders is None or any(is_inside(found, folder) for folder in self._folders)
            self._texts[key] = SourceFile(from_root(found), _read(found) if is_read else "")
        return self._texts[key]


@dataclass(frozen=True, slots=True)
class ProgramLabel:
    """A place of a finding in the program, and what is there."""

    source: SourceFile
    place: SourceLine
    message: str

    @property
    def span(self) -> Span:
        """The word at the place, where the line is known; else the whole line, or nothing of a file without text."""
        line = self.source.line_span(self.place.line)
        start = self.source.line_bounds(self.place.line)[0] + self.place.column - 1 if line.start < line.end else 0
        if not line.start <= start < line.end:
            return line
        word = re.match(_WORD, self.source.text[start : line.end])
        return Span(start, start + (word.end() if word else 1))


@dataclass(frozen=True, slots=True)
class ProgramFinding:
    """A diagnostic in terms of the program: `at` is the innermost line that the program's author wrote.

    callers: where the functions around that line were inlined, from the inside out. labels: those of the diagnostic
    whose lines are known. notes: about the rest of the fault, as `fault_notes`.
    """

    at: ProgramLabel
    callers: tuple[ProgramLabel, ...]
    labels: tuple[ProgramLabel, ...]
    notes: tuple[str, ...]
    help: str | None

    @property
    def message(self) -> str:
        """The description of the error."""
        return self.at.message


def locate_in_program(item: Diagnostic, sources: ProgramSources) -> ProgramFinding | None:
    """The diagnostic in terms of the program; None where no `.loc` leads to it."""
    frames = user_frames(item.origin)
    if not frames:
        return None

    def source(place: SourceLine) -> SourceFile:
        return sources.source(place.file, item.source.path)

    place, *callers = frames
    labeled = [user_frames(label.origin)[:1] for label in item.labels]
    lines = _line_words(item, place, item.labels)
    texts = item.texts
    message = item.message if texts is None else texts.message.at_lines(lines)
    remedy = item.help if texts is None or texts.help is None else texts.help.at_lines(lines)
    frames_of_all = [*item.origin, *(each for label in item.labels for each in label.origin)]
    labels = tuple(
        ProgramLabel(source(at), at, label.message if texts is None else texts.labels[number].at_lines(lines))
        for number, (label, places) in enumerate(zip(item.labels, labeled, strict=True))
        for at in places
    )
    return ProgramFinding(
        ProgramLabel(source(place), place, message),
        tuple(ProgramLabel(source(at), at, "inlined here") for at in callers),
        labels,
        tuple(_fault_notes(item, place, sources)),
        remedy and with_spellings(remedy, source_languages(frames_of_all)),
    )


def locate_in_repository(item: Diagnostic, sources: ProgramSources, root: str | None = None) -> ProgramFinding | None:
    """The diagnostic in terms of the program, for a tool that annotates the files of a repository; None where the
    program is not below its root, which is the working directory if none is given."""
    found = locate_in_program(item, sources)
    return found if found is not None and found.at.source.text and is_below_root(found.at.source.path, root) else None


def locate_question(item: Undecided, sources: ProgramSources) -> ProgramLabel | None:
    """The line of the program that an open question is about; None where no `.loc` leads to it."""
    frames = user_frames(item.origin)
    if not frames:
        return None
    lines = _line_words(item, frames[0], item.others)
    reason = item.reason if item.text is None else item.text.at_lines(lines)
    return ProgramLabel(sources.source(frames[0].file, item.source.path), frames[0], reason)


def _fault_notes(item: Diagnostic, at: SourceLine, sources: ProgramSources) -> Iterator[str]:
    """Where else in the program the same holds, and what else has the same cause."""
    copies = (user_frames(each.origin)[0] for each in item.copies if each.origin)
    lines = [relative_line(each, at) for each in copies if each != at]
    if lines:
        yield other_lines_text(lines)
    related = []
    for each in item.related:
        found = locate_in_program(each, sources)
        if found is None:
            related.append(related_text(each, f"{each.source.position(each.span.start)[0]} of the PTX"))
        else:
            related.append(related_text(each, relative_line(found.at.place, at), found.message))
    yield from shorten_related(related)


def _line_words(item: Diagnostic | Undecided, place: SourceLine, others: Iterable[Label | Place]) -> list[str]:
    """How a text at `place` names the lines of the finding and of others: `33`, `9 of tma.cuh`, `121 of the PTX`."""
    words = [str(place.line)]
    for each in others:
        frames = user_frames(each.origin)
        line = item.source.position(each.span.start)[0]
        words.append(relative_line(frames[0], place) if frames else f"{line} of the PTX")
    return words


def _read(path: str) -> str:
    """The text of a file of source code; nothing for any other file, and for one that cannot be read."""
    if path.startswith(("//", "\\\\")):
        return ""  # another machine is not asked for a file
    try:
        if not re.fullmatch(_SOURCE_NAME, os.path.splitext(os.path.realpath(path))[1], re.IGNORECASE):
            return ""
        return read_small_file(path).decode("utf-8", "replace").replace("\r\n", "\n")
    except (OSError, ValueError):
        return ""
