"""The table of transfers for people: a row for each instruction, those that differ in nothing but their line in one.

      line  moves                   unit    bytes  completes by           waited for at      fence
      k.cu:22
        67  global -> shared tile   TMA     4096   mbarrier bar           78                 -
       158  shared tile -> global   TMA     4096   bulk group (161)       164 (0, read)      145

No line is wider than 100 columns: a cell that does not fit its column continues below.
"""

from __future__ import annotations

import os
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.survey import Survey
from ptxkit.model.transfer import KernelTransfers, Size, Transfer, Unit, Wait
from ptxkit.report.full import diagnostic_lines
from ptxkit.report.style import Line, TextRole
from ptxkit.untrusted_text import escape_path, escape_text

#: Columns of a whole line, and of each cell where all are needed.
WIDTH = 100
HEADS = ("line", "moves", "unit", "bytes", "completes by", "waited for at", "fence")
COLUMN_WIDTHS = (9, 21, 9, 10, 18, 13, 6)
GAP = "  "
#: Words of units that the table shortens.
_UNITS = {Unit.TENSOR: "TMA map"}

_Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _TableRow:
    """Transfers that differ in their lines only."""

    cells: _Cells
    notes: tuple[str, ...]


def transfer_report(results: Iterable[Survey[KernelTransfers]]) -> Iterator[Line]:
    """The tables of files as they arrive, their diagnostics, and a line of counts at the end."""
    seen: list[Survey[KernelTransfers]] = []
    for result in results:
        seen.append(result)
        if result.kernels is not None:
            yield (
                (escape_path(result.path), TextRole.LOCATION),
                (f" for {escape_text(result.target)}", TextRole.PLAIN),
            )
            for kernel in result.kernels:
                yield from _kernel(kernel)
            yield ()
        yield from diagnostic_lines(result.diagnostics)
    yield _summary(seen)


def _kernel(kernel: KernelTransfers) -> Iterator[Line]:
    kind = "" if kernel.kind == "entry" else ", a function that no analyzed kernel calls"
    nothing = "" if kernel.transfers else ": no transfers"
    yield ()
    yield ((_truncate(escape_text(kernel.name), WIDTH - 50), TextRole.LOCATION), (kind + nothing, TextRole.PLAIN))
    placed = groupby(kernel.transfers, key=lambda transfer: _line_text(transfer, kernel.name))
    groups = [(place, _rows(list(rows))) for place, rows in placed]
    widths = _widths([row.cells for _, rows in groups for row in rows])
    if groups:
        yield ((_join_cells(HEADS, widths), TextRole.FIELD),)
    for place, rows in groups:
        if any(other for other, _ in groups):
            yield ((f"  {place or 'no source line'}", TextRole.LABEL),)
        for row in rows:
            yield from _lines(row, widths)
    for words in _selection_notes(kernel.transfers):
        yield from _note(words, "  ")


def _selection_notes(transfers: Sequence[Transfer]) -> Iterator[str]:
    """Choices that were made before the kernel runs, with their lines."""
    reasons: dict[tuple[Unit, str], list[int]] = {}
    for transfer in transfers:
        choice = transfer.choice
        if choice is not None and choice.decided != "run time":
            reasons.setdefault((transfer.unit, choice.words), []).append(transfer.line)
    for (unit, words), lines in reasons.items():
        yield f"{unit.value} at {_span(lines)}: {words}"


def _rows(transfers: Sequence[Transfer]) -> list[_TableRow]:
    """The transfers in the order of their first lines, with equal ones merged."""
    equal: dict[tuple[_Cells, tuple[str, ...]], list[int]] = {}
    for transfer in transfers:
        equal.setdefault((cells(transfer), _notes(transfer)), []).append(transfer.line)
    return [_TableRow((_span(lines), *own), notes) for (own, notes), lines in equal.items()]


def _span(lines: Sequence[int]) -> str:
    return str(lines[0]) if len(lines) == 1 else f"{min(lines)}-{max(lines)} ({len(lines)}x)"


def cells(transfer: Transfer) -> tuple[str, ...]:
    """The cells of a transfer after its line: `HEADS` from the second on."""
    return (
        _moves(transfer),
        _UNITS.get(transfer.unit, transfer.unit.value),
        _bytes(transfer.size, transfer.unit),
        _completion(transfer),
        _waits(transfer),
        _fences(transfer),
    )


def _moves(transfer: Transfer) -> str:
    source, destination = transfer.source, transfer.destination
    if transfer.variable:
        near = ("shared", "cluster")
        if destination in near:
            destination += f" {escape_text(transfer.variable)}"
        elif source in near:
            source += f" {escape_text(transfer.variable)}"
    verb = "reduce " if transfer.operation == "reduction" else ""
    return f"{verb}{source} -> {destination}"


def _bytes(size: Size, unit: Unit) -> str:
    words = "box" if unit == Unit.TENSOR else size.depends_on
    number = f"{size.number}" if size.number is not None else words
    if size.zeros is None and unit != Unit.TENSOR:
        return f"{number} or 0s"
    return f"{number}, {size.zeros} 0s" if size.zeros else number


def _completion(transfer: Transfer) -> str:
    completion = transfer.completion
    lines = f" ({', '.join(map(str, completion.lines))})" if completion.lines else ""
    if completion.mechanism == "mbarrier" and completion.object is None:
        return f"mbarrier{lines}"
    return f"{completion.mechanism}{f' {escape_text(completion.object)}' if completion.object else ''}{lines}"


def _waits(transfer: Transfer) -> str:
    if not transfer.reached:
        return "not reached"
    if transfer.completion.mechanism in ("nothing", "at once"):
        return "-"
    unfollowed = transfer.completion.mechanism == "commit" and not transfer.completion.lines
    return ", ".join(map(_wait, transfer.waits)) or ("not followed" if unfollowed else "no wait seen")


def _wait(wait: Wait) -> str:
    details = [f"{wait.pending}" if wait.pending is not None else "", "read" if wait.reads_only else ""]
    inside = ", ".join(detail for detail in details if detail)
    return f"{wait.line} ({inside})" if inside else str(wait.line)


def _fences(transfer: Transfer) -> str:
    words = [
        "none" if fence.line is None else f"{fence.line}{' (map)' if fence.between == 'tensormap' else ''}"
        for fence in transfer.fences
    ]
    return ", ".join(words) or "-"


def _notes(transfer: Transfer) -> tuple[str, ...]:
    choice = transfer.choice
    if choice is None or choice.decided != "run time":
        return ()
    return (choice.words + (f" (line {choice.branch} decides)" if choice.branch is not None else ""),)


def _line_text(transfer: Transfer, kernel: str) -> str:
    place = transfer.source_line
    words = f"{escape_text(os.path.basename(place.file))}:{place.line}" if place is not None else ""
    if transfer.function in ("", kernel):
        return words
    called = f"in {_truncate(escape_text(transfer.function), WIDTH - 50)}"
    return f"{words} {called}" if words else called


def _widths(rows: Sequence[_Cells]) -> list[int]:
    """Each column is as wide as its widest cell; the widest ones are reduced until the line fits."""
    wanted = [max(len(head), *(len(row[column]) for row in rows), 0) for column, head in enumerate(HEADS)]
    room = WIDTH - len(GAP) * len(HEADS)
    while sum(wanted) > room:
        excess, column = max(
            (width - widest, at) for at, (width, widest) in enumerate(zip(wanted, COLUMN_WIDTHS, strict=True))
        )
        wanted[column] -= min(excess, sum(wanted) - room)
    return wanted


def _lines(row: _TableRow, widths: Sequence[int]) -> Iterator[Line]:
    wrapped = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row.cells, widths, strict=True)]
    for number in range(max(map(len, wrapped))):
        cells = tuple(column[number] if number < len(column) else "" for column in wrapped)
        yield ((_join_cells(cells, widths), TextRole.PLAIN),)
    for note in row.notes:
        yield from _note(note, " " * (widths[0] + 4))


def _note(note: str, indent: str) -> Iterator[Line]:
    for number, text in enumerate(textwrap.wrap(note, WIDTH - len(indent) - 2)):
        yield ((indent, TextRole.PLAIN), ("= " if number == 0 else "  ", TextRole.FIELD), (text, TextRole.PLAIN))


def _join_cells(cells: _Cells, widths: Sequence[int]) -> str:
    first, *others = (
        cell.rjust(width) if at == 0 else cell.ljust(width)
        for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  " + GAP.join([first, *others]).rstrip()


def _summary(results: Sequence[Survey[KernelTransfers]]) -> Line:
    kernels = [kernel for result in results for kernel in result.kernels or ()]
    rows = [row for kernel in kernels for row in kernel.transfers]
    units = Counter(row.unit.value.replace(", ", " with ") for row in rows)
    parts = [f"{count} {unit}" for unit, count in sorted(units.items())]
    missed = sum(not row.reached for row in rows)
    if missed:
        parts.append(f"{missed} not reached")
    failed = sum(result.status == "failed" for result in results)
    errors = sum(len(result.diagnostics) for result in results if result.status != "failed")
    if errors:
        parts.append(f"{errors} error{'' if errors == 1 else 's'}")
    if failed:
        parts.append(f"{failed} not checked")
    counts = f"{len(rows)} transfer{'' if len(rows) == 1 else 's'} in {len(kernels)} kernel"
    text = f"{counts}{'' if len(kernels) == 1 else 's'}{': ' if parts else ''}{', '.join(parts)}"
    return ((text, TextRole.ERROR if errors or failed else TextRole.LOCATION),)


def _truncate(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
