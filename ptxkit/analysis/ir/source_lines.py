"""Maps instructions to source lines by the `.loc` directives that precede them.

Inlined code belongs to the line of the call: a compiler states the location inside the inlined function, and the
location of its call, which may again be inside an inlined function whose call an earlier `.loc` states. Line 0 marks
code without a line, for which the previous location remains valid.

Source: PTX ISA, "Debugging Directives: .loc", "Debugging Directives: .file".
"""

from __future__ import annotations

from bisect import bisect_right

from ptxkit.analysis.limits import MAX_INLINED_CALLS
from ptxkit.source import SourceLine
from ptxkit.syntax.tree import Body, Directive, Function, Module

_LocTriple = tuple[int, int, int]


class SourceLines:
    """The source locations of a module's instructions."""

    def __init__(self, module: Module) -> None:
        self._files: dict[int, str] = {}
        for item in module.items:
            if isinstance(item, Directive) and item.name == "file" and len(item.words) > 1 and item.words[0].isdigit():
                self._files[int(item.words[0])] = item.words[1].strip('"')
        self._by_function: dict[int, tuple[list[int], list[tuple[SourceLine, ...]]]] = {}

    def location(self, function: Function, start: int) -> SourceLine | None:
        """Returns the source location of the statement at an offset; None where no `.loc` precedes it in its function.

        For inlined code it is the location of the outermost call.
        """
        places = self.inline_chain(function, start)
        return places[-1] if places else None

    def inline_chain(self, function: Function, start: int) -> tuple[SourceLine, ...]:
        """Returns the line of the statement at an offset, then the call sites of its inlined code, innermost first."""
        starts, places = self._locations_of(function)
        index = bisect_right(starts, start) - 1
        return places[index] if index >= 0 else ()

    def _locations_of(self, function: Function) -> tuple[list[int], list[tuple[SourceLine, ...]]]:
        found = self._by_function.get(id(function))
        if found is None:
            found = self._by_function[id(function)] = ([], [])
            if function.body is not None:
                self._collect_locations(function.body, *found)
        return found

    def _collect_locations(self, body: Body, starts: list[int], places: list[tuple[SourceLine, ...]]) -> None:
        callers: dict[_LocTriple, _LocTriple | None] = {}
        for statement, start in body.flatten_blocks():
            if isinstance(statement, Directive) and statement.name == "loc":
                spots = _parse_loc(statement.words)
                if spots is not None:
                    own, caller = spots
                    callers[own] = caller
                    starts.append(start)
                    previous = places[-1] if places else ()
                    places.append(self._inline_chain(own, callers) or previous)

    def _inline_chain(self, spot: _LocTriple, callers: dict[_LocTriple, _LocTriple | None]) -> tuple[SourceLine, ...]:
        """Returns the locations, innermost first; none if the outermost one has no line."""
        spots = [spot]
        for _ in range(MAX_INLINED_CALLS):
            caller = callers.get(spot)
            if caller is None or caller == spot:
                break
            spots.append(spot := caller)
        places = [
            SourceLine(self._files[number], line, column)
            for number, line, column in spots
            if number in self._files and line > 0
        ]
        number, line, _ = spot
        return tuple(places) if number in self._files and line > 0 else ()


class DebugLocations:
    """The source locations of offsets of a text, independent of their function."""

    def __init__(self, module: Module) -> None:
        self._lines = SourceLines(module)
        located = [(start, item) for item, start in module.with_offsets()]
        self._starts = [start for start, _ in located]
        self._items = [item for _, item in located]

    def locations_at(self, offset: int) -> tuple[SourceLine, ...]:
        """Returns the line at an offset, followed by the call sites at which it was inlined; none without a `.loc`."""
        index = bisect_right(self._starts, offset) - 1
        item = self._items[index] if index >= 0 else None
        return self._lines.inline_chain(item, offset) if isinstance(item, Function) else ()


def _parse_loc(words: tuple[str, ...]) -> tuple[_LocTriple, _LocTriple | None] | None:
    """Returns the location and that of its call, from the words of a `.loc`."""
    own = _parse_loc_triple(words[:3])
    if own is None:
        return None
    if "inlined_at" not in words:
        return own, None
    at = words.index("inlined_at") + 1
    return own, _parse_loc_triple(words[at : at + 3])


def _parse_loc_triple(words: tuple[str, ...]) -> _LocTriple | None:
    numbers = [int(word) for word in words if word.isdigit()]
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else None
