"""Address operands of the wrong kind, agreed on by every scenario: what PTX201, PTX202 and PTX208 share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from ptxkit.analysis.kernel import Kernel
from ptxkit.analysis.origins import REMOTE
from ptxkit.analysis.program import Step
from ptxkit.analysis.terms import Value
from ptxkit.analysis.trace import Misuse
from ptxkit.rules.finding import Finding, Observation


def observations(
    kernel: Kernel, wanted: Callable[[Misuse], bool], finding: Callable[[Misuse], Finding]
) -> Iterator[Observation]:
    """One for each operand that is wrong in every scenario that comes to it.

    A number that follows the sample of a parameter may be an address that the caller passes as an integer; so an offset
    must be the same number in two scenarios. What comes from a conversion never comes from a parameter: a generic
    address, and a term, whose space only a conversion tells. Of an address in another CTA one scenario tells enough:
    the other ones may be those of that CTA.
    """
    values: dict[tuple[Step, str], dict[int, set[tuple[int, Value]]]] = defaultdict(lambda: defaultdict(set))
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
        everywhere = len(by_world) == len(reached[place[0]])
        if first[place].origin == REMOTE:
            agreed = True
        elif first[place].origin == "generic" or not isinstance(first[place].value, int):
            agreed = everywhere
        else:
            enough = sum(kernel.worlds[number].scenario.samples for number in by_world) > 1
            agreed = everywhere and enough and bool(set.intersection(*by_world.values()))
        if agreed:
            yield Observation((place[0], None), min(by_world), True, finding(first[place]))
