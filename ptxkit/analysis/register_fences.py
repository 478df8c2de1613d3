"""Which register fence, or earlier multiplication, orders an asynchronous multiplication after register accesses.

From an issue the code is searched backwards, path by path. A path is in order up to the nearest fence, or up to an
earlier multiplication that uses the same registers; a touch of one of the registers met before is out of order, and so
is the start of the function. A plain move gives a register another name. What a walk saw last before the issue (a
fence, a multiplication, nothing) then says whether the path that it took was in order.

Source: PTX ISA, "wgmma.fence".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptxkit.analysis.flow import Flow
from ptxkit.analysis.program import Step
from ptxkit.analysis.register_parts import Kind, Part, Parts
from ptxkit.records import dataclass, field

#: Steps that are searched for one issue, and for all of one function.
MAX_SEARCH, MAX_STEPS = 4_000, 300_000


@dataclass(slots=True)
class Approach:
    """How control comes to an issue with these registers.

    ordered: fences and multiplications from which a path comes without a touch. touches: the nearest ones, with the
    register. unclear: the search met code that nobody knows, or took too long.
    """

    issue: Step
    registers: frozenset[str]
    ordered: set[Step] = field(default_factory=set)
    touches: dict[Step, str] = field(default_factory=dict)
    starts: bool = False
    unclear: bool = False


class RegisterFences:
    """The approaches to one function's issues."""

    def __init__(self, flow: Flow, parts: Parts) -> None:
        self._flow = flow
        self._parts = parts
        self._left = MAX_STEPS

    def approaches(self, issue: Step) -> Iterator[Approach]:
        """One for the accumulators, one for the fragments of A where there are any."""
        part = self._parts[issue]
        for registers in (part.updates, part.reads):
            if registers:
                yield self._search(issue, registers)

    def __contains__(self, step: Step) -> bool:
        """Whether a step is a fence."""
        return self._parts[step].kind is Kind.FENCE

    def concerns(self, step: Step, approach: Approach) -> bool:
        """Whether a step is a fence, or a multiplication that has to do with the registers."""
        part = self._parts[step]
        if part.kind is Kind.ISSUE:
            return step in approach.ordered or not part.registers.isdisjoint(approach.registers)
        return step in self

    def _search(self, issue: Step, registers: frozenset[str]) -> Approach:
        found = Approach(issue, registers)
        flow = self._flow
        home = flow.block_of(issue)
        seen: set[tuple[int, frozenset[str]]] = set()
        steps = [step for step in flow.steps(home) if step.index < issue.index]
        waiting = [(home, self._back(steps, registers, found))]
        looked = 0
        while waiting:
            block, wanted = waiting.pop()
            if wanted is None:
                continue
            found.starts = found.starts or block == 0
            for earlier in flow.before[block]:
                if (earlier, wanted) not in seen:
                    seen.add((earlier, wanted))
                    looked += len(flow.steps(earlier))
                    waiting.append((earlier, self._back(flow.steps(earlier), wanted, found)))
            if looked > MAX_SEARCH or self._left < 0:
                found.unclear = True
                break
        self._left -= looked
        return found

    def _back(self, steps: Collection[Step], wanted: frozenset[str], found: Approach) -> frozenset[str] | None:
        """Goes back through steps of one block; the registers to look for before it, None where the path ends."""
        for step in reversed(tuple(steps)):
            part = self._parts[step]
            match part.kind:
                case Kind.FENCE:
                    found.ordered.add(step)
                    return None
                case Kind.UNKNOWN:
                    found.unclear = True
                    return None
                case Kind.ISSUE if not part.registers.isdisjoint(wanted):
                    found.ordered.add(step)
                    return None
                case Kind.COPY if part.target in wanted:
                    wanted = _renamed(part, wanted)
                case Kind.OTHER if not part.registers.isdisjoint(wanted):
                    found.touches.setdefault(step, min(part.registers & wanted))
                    return None
        return wanted


def _renamed(part: Part, wanted: frozenset[str]) -> frozenset[str]:
    """The registers before a move. A constant comes from nowhere: compilers place its move where they like."""
    rest = wanted if part.guarded else wanted - {part.target}
    return rest | {part.source} if part.source is not None else rest
