"""Findings in open texts, at the lines of the programs that these were compiled from.

A `.loc` may name any file. As in reports, only source code is read, and here only in the folders of the workspace.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from lsprotocol import types
from pygls.uris import from_fs_path

from ptxkit.diagnostic_groups import fold_groups
from ptxkit.diagnostics import Diagnostic
from ptxkit.lsp.diagnostics import ClientFeatures, make_lsp_diagnostic
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.positions import TextLines
from ptxkit.report.program_source import ProgramFinding, ProgramLabel, ProgramSources, locate_in_program
from ptxkit.report.readable_names import with_readable_names
from ptxkit.untrusted_text import escape_text


class ProgramDiagnostics:
    """The diagnostics that are published for programs, by the open texts that were compiled from them."""

    def __init__(self) -> None:
        self._by_text: dict[str, Mapping[str, list[types.Diagnostic]]] = {}

    def update(
        self, uri: str, found: Mapping[str, list[types.Diagnostic]]
    ) -> Iterator[tuple[str, list[types.Diagnostic]]]:
        """Replaces the findings of a text; yields each program for which they changed, with all of its findings.

        Findings of several texts at one place, such as compilations for two targets, are one finding.
        """
        before = self._by_text.pop(uri, {})
        if found:
            self._by_text[uri] = found
        for program in dict.fromkeys((*before, *found)):
            if before.get(program) != found.get(program):
                everything = (item for text in self._by_text.values() for item in text.get(program, ()))
                yield program, list({_place_and_text(item): item for item in everything}.values())


def find_in_programs(
    snapshot: TextSnapshot, diagnostics: Sequence[Diagnostic], folders: Sequence[str], abilities: ClientFeatures
) -> dict[str, list[types.Diagnostic]]:
    """Returns the faults of a text by the URI of the program's file, if that is source code in one of the folders."""
    shown = _ProgramTexts(snapshot, ProgramSources(folders), abilities)
    found: dict[str, list[types.Diagnostic]] = {}
    for item in fold_groups(diagnostics) if folders else ():
        finding = locate_in_program(with_readable_names(item), shown.sources)
        if finding is not None and finding.at.source.text:
            place = shown.location(finding.at)
            found.setdefault(place.uri, []).append(shown.diagnostic(item, finding, place))
    return found


class _ProgramTexts:
    """The texts of programs as the client counts their lines and columns."""

    def __init__(self, snapshot: TextSnapshot, sources: ProgramSources, abilities: ClientFeatures) -> None:
        self.sources = sources
        self._snapshot, self._abilities = snapshot, abilities
        self._lines: dict[str, TextLines] = {}

    def location(self, label: ProgramLabel) -> types.Location:
        """Returns the place of a label whose file was read."""
        source = label.source
        if source.path not in self._lines:
            self._lines[source.path] = TextLines(source.text, self._snapshot.encoding)
        uri = from_fs_path(os.path.abspath(source.path)) or ""
        return types.Location(uri, self._lines[source.path].range(label.span))

    def diagnostic(self, item: Diagnostic, found: ProgramFinding, place: types.Location) -> types.Diagnostic:
        """Returns the finding at its place in the program, with the PTX and other lines of programs as related
        places.
        """
        in_ptx = types.Location(self._snapshot.uri, self._snapshot.lines.range(item.span))
        labels = (*found.callers, *found.labels)
        related = [types.DiagnosticRelatedInformation(in_ptx, "in the PTX")]
        related += [
            types.DiagnosticRelatedInformation(self.location(each), escape_text(each.message))
            for each in labels
            if each.source.text
        ]
        lines = [found.message]
        if not self._abilities.related:
            lines += [f"line {each.place.line}: {each.message}" for each in labels]
        lines += [f"note: {note}" for note in (*item.notes, *found.notes)]
        lines += [f"help: {found.help}"] if found.help else []
        return make_lsp_diagnostic(item, place.range, lines, related, self._abilities)


def _place_and_text(item: types.Diagnostic) -> tuple[object, ...]:
    start, end = item.range.start, item.range.end
    return start.line, start.character, end.line, end.character, item.code, item.message
