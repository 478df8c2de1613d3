"""Reduces the delayed sites of a plan to the fewest with which the kernel still fails.

Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (the algorithm ddmin). A set of sites
shows the failure if one of several launches does, because each depends on the time at which it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Shows = Callable[[Sequence[int]], bool]
"""Whether launches with delays at these sites only still show the failure. After the time limit it returns False."""


def minimize_sites(sites: Sequence[int], shows: Shows) -> list[int]:
    """Returns a smallest set of sites, from which none can be removed as far as the launches show."""
    if shows([]):
        return []
    current, parts = list(sites), 2
    while len(current) > 1:
        size = -(-len(current) // parts)
        pieces = [current[at : at + size] for at in range(0, len(current), size)]
        rests = [[each for each in current if each not in piece] for piece in pieces]
        smaller = next((each for each in pieces if shows(each)), None)
        if smaller is not None:
            current, parts = smaller, 2
            continue
        smaller = next((each for each in rests if each and shows(each)), None) if parts > 2 else None
        if smaller is not None:
            current, parts = smaller, parts - 1
        elif size == 1:
            break
        else:
            parts = min(2 * parts, len(current))
    return current
