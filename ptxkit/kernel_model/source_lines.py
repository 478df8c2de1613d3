"""Maps statements of a built module to the lines of Python that created them."""

from __future__ import annotations

import linecache
from bisect import bisect_right
from collections.abc import Sequence

from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.syntax import parse, tree


@dataclass(frozen=True, slots=True)
class Location:
    """A line of the user's Python."""

    file: str
    line: int

    @property
    def text(self) -> str:
        """The source text of the line, stripped; empty where the file cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Assembled:
    """A module, and for each statement of its kernel's body the user's line (None for declarations).

    `functions` holds the same for each other function of the module, by its name. `boxes` holds the number of bytes of
    tensor copies, with the name of the kernel or function and the number of the statement in its body.
    """

    module: tree.Module
    locations: tuple[Location | None, ...]
    functions: tuple[tuple[str, tuple[Location | None, ...]], ...] = ()
    boxes: tuple[tuple[str, int, int], ...] = ()


def with_source_offsets(assembled: Assembled, name: str) -> tree.Module:
    """Returns a module whose statements have offsets in its text.

    A built tree is printed and parsed again, which gives every statement an offset and an equal structure. An offset
    then identifies a statement, and the statement the user's line. A parsed module already has its offsets.
    """
    module = assembled.module
    if module.source is not None:
        return module
    module = parse(str(module), path=f"{name}.ptx")
    starts = {function: find_statement_starts(module, function) for function, *_ in assembled.boxes}
    return replace(module, boxes={starts[each][index]: size for each, index, size in assembled.boxes})


def find_statement_starts(module: tree.Module, name: str) -> Sequence[int]:
    """Returns the offsets in the text at which the statements of a function begin; empty where it has no body."""
    found = next((each.body for each in module.functions() if each.name == name and each.body is not None), None)
    return found.starts if found is not None else ()


def find_location(offset: int, starts: Sequence[int], locations: Sequence[Location | None]) -> Location | None:
    """Returns the user's line of the statement at an offset of the text; None outside the body and for declarations."""
    index = bisect_right(starts, offset) - 1
    return locations[index] if 0 <= index < len(locations) else None


class LocationIndex:
    """Maps offsets of the text to the user's lines, in the kernel and in the other functions of its module."""

    def __init__(self, module: tree.Module, assembled: Assembled, name: str) -> None:
        tables = (*assembled.functions, (name, assembled.locations))
        self._tables = [(find_statement_starts(module, function), lines) for function, lines in tables]

    def location_at(self, offset: int) -> Location | None:
        """Returns the line of the statement at an offset, in the last function that begins before the offset."""
        within = [each for each in self._tables if each[0] and each[0][0] <= offset]
        return find_location(offset, *max(within, key=lambda each: each[0][0])) if within else None
