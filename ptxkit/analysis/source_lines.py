"""Which line of which source file an instruction comes from, by the `.loc` directives before it.

Code that was inlined belongs to the line that called it: a compiler writes the place inside the inlined function, and
where that was called from, which may again be inside an inlined function that an earlier `.loc` places. Line 0 is what
belongs to no line; the last one stays.
Source: PTX ISA, "Debugging Directives: .loc", "Debugging Directives: .file".
"""

from __future__ import annotations

from bisect import bisect_right

from ptxkit.syntax.tree import Block, Body, Directive, Function, Module
from ptxkit.transfers import Place

#: Calls inlined in one another that are followed.
MAX_INLINED = 64

_Spot = tuple[int, int, int]


class SourceLines:
    """The source places of a module's instructions."""

    def __init__(self, module: Module) -> None:
        self._files: dict[int, str] = {}
        for item in module.items:
            if isinstance(item, Directive) and item.name == "file" and len(item.words) > 1 and item.words[0].isdigit():
                self._files[int(item.words[0])] = item.words[1].strip('"')
        self._known: dict[int, tuple[list[int], list[Place | None]]] = {}

    def place(self, function: Function, start: int) -> Place | None:
        """Where the statement at an offset comes from; None where no `.loc` stands before it in its function."""
        starts, places = self._of(function)
        index = bisect_right(starts, start) - 1
        return places[index] if index >= 0 else None

    def _of(self, function: Function) -> tuple[list[int], list[Place | None]]:
        found = self._known.get(id(function))
        if found is None:
            found = self._known[id(function)] = ([], [])
            if function.body is not None:
                self._read(function.body, {}, *found)
        return found

    def _read(
        self, body: Body, callers: dict[_Spot, _Spot | None], starts: list[int], places: list[Place | None]
    ) -> None:
        for statement, start in body.located():
            if isinstance(statement, Block):
                self._read(statement.body, callers, starts, places)
            elif isinstance(statement, Directive) and statement.name == "loc":
                spots = _spots(statement.words)
                if spots is not None:
                    own, caller = spots
                    callers[own] = caller
                    starts.append(start)
                    previous = places[-1] if places else None
                    places.append(self._outermost(own, callers) or previous)

    def _outermost(self, spot: _Spot, callers: dict[_Spot, _Spot | None]) -> Place | None:
        for _ in range(MAX_INLINED):
            caller = callers.get(spot)
            if caller is None or caller == spot:
                break
            spot = caller
        number, line, _ = spot
        name = self._files.get(number)
        return Place(name, line) if name is not None and line > 0 else None


def _spots(words: tuple[str, ...]) -> tuple[_Spot, _Spot | None] | None:
    """(own place, place of the call) of a `.loc`'s words."""
    own = _spot(words[:3])
    if own is None:
        return None
    if "inlined_at" not in words:
        return own, None
    at = words.index("inlined_at") + 1
    return own, _spot(words[at : at + 3])


def _spot(words: tuple[str, ...]) -> _Spot | None:
    numbers = [int(word) for word in words if word.isdigit()]
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else None
