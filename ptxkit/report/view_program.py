"""The program that a PTX was compiled from, next to it: its lines lead to those of the PTX, and back.

A file is shown where it can be read as source code (`ProgramSources`) and belongs to no library.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ptxkit.diagnostics import Diagnostic
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.model.view import FileView
from ptxkit.number_runs import format_runs
from ptxkit.report.limits import MAX_LINE_CHARS, MAX_PROGRAM_FILES, MAX_PROGRAM_LINES
from ptxkit.report.markup import escape_markup, tag
from ptxkit.report.program_source import ProgramSources, locate_in_program
from ptxkit.source import SourceFile, SourceLine
from ptxkit.untrusted_text import escape_text
from ptxkit.user_code import is_library_file, user_frames


@dataclass(frozen=True, slots=True)
class ProgramLinks:
    """files: those that are shown, the one with most of the code first. places: by line of the PTX, the number of the
    file, from 1, and the line in it."""

    files: tuple[SourceFile, ...] = ()
    places: Mapping[int, tuple[int, int]] = field(default_factory=dict)


def link_program(view: FileView, sources: ProgramSources) -> ProgramLinks:
    """Which lines of the program and of the PTX belong together."""
    by_line = dict(_places(view))
    counts = Counter(place.file for place in by_line.values() if not is_library_file(place.file))
    files: dict[str, SourceFile] = {}
    room = MAX_PROGRAM_LINES
    for name, _ in counts.most_common():
        source = sources.source(name, view.source.path)
        if source.text and source.line_count <= room and len(files) < MAX_PROGRAM_FILES:
            files[name] = source
            room -= source.line_count
    numbers = {name: number for number, name in enumerate(files, 1)}
    places = {
        line: (numbers[place.file], place.line)
        for line, place in by_line.items()
        if place.file in numbers and 1 <= place.line <= files[place.file].line_count
    }
    return ProgramLinks(tuple(files.values()), places)


def _places(view: FileView) -> Iterator[tuple[int, SourceLine]]:
    """By line of the PTX: the line that the program's author wrote. It holds up to the next one, or to the end of the
    function."""
    for function in view.functions:
        changes = sorted(line for line in view.source_lines if function.line <= line <= function.last)
        for first, following in itertools.pairwise([*changes, function.last + 1]):
            place = user_frames(view.source_lines[first])[0]
            yield from ((line, place) for line in range(first, following))


def program_section(links: ProgramLinks, findings: Sequence[Diagnostic], sources: ProgramSources) -> str:
    """The files, one below the other, with their findings; nothing without a file. findings: numbered by index."""
    if not links.files:
        return ""
    found = _findings_by_place(links, findings, sources)
    lines: dict[tuple[int, int], list[int]] = defaultdict(list)
    for line, place in links.places.items():
        lines[place].append(line)
    parts = [
        tag("h2", escape_markup(escape_text(source.path)))
        + tag("div", tag("ol", *_rows(source, number, lines, found)), class_="text")
        for number, source in enumerate(links.files, 1)
    ]
    return tag("section", *parts, id="program", tabindex=0, aria_label="Program with findings")


def _findings_by_place(
    links: ProgramLinks, findings: Sequence[Diagnostic], sources: ProgramSources
) -> Mapping[tuple[int, int], list[str]]:
    numbers = {source.path: number for number, source in enumerate(links.files, 1)}
    found: dict[tuple[int, int], list[str]] = defaultdict(list)
    for number, item in enumerate(findings, 1):
        located = locate_in_program(item, sources)
        if located is not None and located.at.source.path in numbers:
            words = f"{item.code} {item.severity}: {' '.join(escape_text(located.message).split())}"
            link = tag("a", escape_markup(words), href=f"#d{number}", class_=f"found {item.severity}")
            found[numbers[located.at.source.path], located.at.place.line].append(link)
    return found


def _rows(
    source: SourceFile,
    number: int,
    lines: Mapping[tuple[int, int], Sequence[int]],
    found: Mapping[tuple[int, int], Sequence[str]],
) -> Iterator[str]:
    for line in range(1, source.line_count + 1):
        text = source.line_text(line)
        content = escape_markup(_printable(text[:MAX_LINE_CHARS])) + ("\u2026" if len(text) > MAX_LINE_CHARS else "")
        own = lines.get((number, line))
        yield tag(
            "li",
            content,
            *found.get((number, line), ()),
            id=f"S{number}-{line}",
            data_ptx=own and format_runs(sorted(own), separator=" "),
        )


def _printable(text: str) -> str:
    return "\t".join(map(escape_text, text.split("\t")))
