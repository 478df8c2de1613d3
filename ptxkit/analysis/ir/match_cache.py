"""What a form of an instruction says by itself, found once for each match: walks compile steps by the thousand."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from ptxkit.isa.forms import Match

Found = TypeVar("Found")


def cached_by_match(function: Callable[[Match], Found]) -> Callable[[Match], Found]:
    """Remembers what a function says of each match. The table keeps all matches, and they are the same by identity."""
    known: dict[int, tuple[Match, Found]] = {}

    @wraps(function)
    def remembered(match: Match) -> Found:
        found = known.get(id(match))
        if found is None:
            found = known[id(match)] = match, function(match)
        return found[1]

    return remembered
