"""Numbers that lead to the instruction of a finding again, to show that the finding does not depend on them.

The numbers that decide whether the instruction is executed stay near those of a run that showed the finding, and all
others are whole tiles.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ptxkit.analysis.values.scenario import Arguments, ParameterKey
from ptxkit.verifier.run_agreement import Numbers

_WHOLE_TILES = (64, 128)
"""The numbers that are passed for the integers that do not decide the path."""


def vary_numbers(shown: Sequence[Numbers], deciding: Collection[ParameterKey]) -> Iterator[Arguments]:
    """Yields numbers near those of the runs that showed a finding, each once.

    First those that decide the path are kept, of each run; then one of them is changed.

    deciding: the places of the numbers that decide whether the instruction of the finding is executed.
    """
    paths = list(dict.fromkeys(tuple(each for each in numbers if each[0] in deciding) for numbers in shown))
    changed = [near for path in paths for near in _changed_paths(path)]
    first, second = _WHOLE_TILES
    yield from dict.fromkeys(
        [*((first, path) for path in paths), *((first, path) for path in changed), *((second, path) for path in paths)]
    )


def _changed_paths(path: Numbers) -> Iterator[Numbers]:
    """Yields numbers of which one is different from those of a path: one more, or twice as much."""
    for at, (place, value) in enumerate(path):
        for other in (value + 1, 2 * value):
            if other != value:
                yield (*path[:at], (place, other), *path[at + 1 :])
