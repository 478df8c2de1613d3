"""Address operands of the wrong kind, agreed on by every scenario: what PTX201 and PTX202 share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from ptxkit.analysis.kernel import Kernel
from ptxkit.analysis.program import Step
from ptxkit.analysis.trace import Misuse
from ptxkit.rules.finding import Finding, Observation


def observations(
    kernel: Kernel, wanted: Callable[[Misuse], bool], finding: Callable[[Misuse], Finding]
) -> Iterator[Observation]:
    """One for each operand whose number, in some thread, is the same whatever the integer parameters are.

    A number that follows the sample of a parameter may be an address that the caller passes as an integer; so an offset
    needs two scenarios to tell. A generic address comes from a conversion, never from a parameter: one will do.
    """
    values: dict[tuple[Step, str], dict[int, set[tuple[int, int]]]] = defaultdict(lambda: defaultdict(set))
    first: dict[tuple[Step, str], Misuse] = {}
    reached: dict[Step, set[int]] = defaultdict(set)
    for number, world in enumerate(kernel.worlds):
        for thread in world.threads.values():
            for step in thread.trace.covered:
                reached[step].add(number)
            for place, misuse in thread.trace.misuses.items():
                if wanted(misuse):
                    values[place][number].add((thread.tid, misuse.value))
                    first.setdefault(place, misuse)
    for place, by_world in values.items():
        enough = (
            sum(kernel.worlds[number].scenario.samples for number in by_world) > 1 or first[place].origin == "generic"
        )
        agreed = len(by_world) == len(reached[place[0]]) and set.intersection(*by_world.values())
        if enough and agreed:
            yield Observation((place[0], None), min(by_world), True, finding(first[place]))
