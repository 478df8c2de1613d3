"""Caches properties of an instruction form by its match, because thousands of steps are compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from ptxkit.isa.forms import Match

Found = TypeVar("Found")


def cached_by_match(function: Callable[[Match], Found]) -> Callable[[Match], Found]:
    """Caches the result of a function for each match. The table keeps all matches alive, so identity is a valid key."""
    known: dict[int, tuple[Match, Found]] = {}

    @wraps(function)
    def look_up(match: Match) -> Found:
        found = known.get(id(match))
        if found is None:
            found = known[id(match)] = match, function(match)
        return found[1]

    return look_up
