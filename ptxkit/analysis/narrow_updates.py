"""Updates of global memory that are atomic within a CTA only, of words that all CTAs of the grid update.

Where an address is a parameter and a number, it is the same for all CTAs; where the thread's place within its CTA alone
decides who executes the update, each CTA does. A kernel that asks for its CTA's place is launched with several.

Source: PTX ISA, "Conflict and Data-Races", "Morally strong operations", "Scope".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.definitions import Definitions
from ptxkit.analysis.flow import Flow
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.reductions import Words
from ptxkit.analysis.slicing import registers_in
from ptxkit.isa.effects import Access
from ptxkit.syntax.tree import Guard

#: Special registers that tell the CTAs of a grid apart, or how many there are.
_GRID = ("%ctaid", "%nctaid")
#: Those that tell the threads of one CTA apart, as in each other.
_WITHIN = ("%tid", "%laneid", "%lanemask", "%warpid")
#: Registers that are followed to learn what decides one step, at most.
_MOST = 200


def narrow_updates(program: Program) -> Iterator[Step]:
    """The atomics of scope `.cta` that every CTA executes on the same word of global memory."""
    updates = [(step, effect) for step in program.steps for effect in _accesses(step) if _is_narrow(effect)]
    if not updates or any(step.match is None for step in program.steps):
        return
    if not any(name.startswith(_GRID) for step in program.steps for name in _read_by(step)):
        return
    words, ways = Words(program), _Ways(program)
    for step, effect in updates:
        if words.of(step, effect) is not None and ways.are_within(step):
            yield step


class _Ways:
    """What decides that a step is executed."""

    def __init__(self, program: Program) -> None:
        self._flow, self._definitions = Flow(program), Definitions(program)

    def are_within(self, step: Step) -> bool:
        """Whether the thread's place in its CTA decides it, and nothing else."""
        waiting = [(each, each.scope.register(guard.predicate)) for each, guard in self._guards(step)]
        seen: set[tuple[int, str]] = set()
        while waiting:
            place, name = waiting.pop()
            if (place.index, name) in seen or name.startswith(_WITHIN):
                continue
            seen.add((place.index, name))
            sources = self._definitions.before(place, name)
            if len(sources) != 1 or len(seen) > _MOST:
                return False  # a special register, or one that several paths assign
            (source,) = sources
            if any(True for _ in _accesses(source)):
                return False
            waiting += [(source, read) for read in _read_by(source)]
        return True

    def _guards(self, step: Step) -> Iterator[tuple[Step, Guard]]:
        """The guards of a step, and of the branches that lead to it."""
        if step.instruction.guard is not None:
            yield step, step.instruction.guard
        waiting, passed = [self._flow.block_of(step)], set[int]()
        while waiting:
            for deciding in self._flow.deciding[waiting.pop()]:
                last = self._flow.steps(deciding)[-1]
                if deciding not in passed and last.instruction.guard is not None:
                    yield last, last.instruction.guard
                if deciding not in passed:
                    passed.add(deciding)
                    waiting.append(deciding)


def _read_by(step: Step) -> Iterator[str]:
    """The registers that an instruction reads, its guard's too; special ones by their names."""
    match = step.match
    results = {match.roles[role] for role in match.results if role in match.roles} if match is not None else set()
    for index, operand in enumerate(step.instruction.operands):
        if index not in results:
            yield from registers_in(operand, step.scope)
    if step.instruction.guard is not None:
        yield step.scope.register(step.instruction.guard.predicate)


def _accesses(step: Step) -> Iterator[Access]:
    for effect in step.match.effects if step.match is not None else ():
        if isinstance(effect, Access):
            yield effect


def _is_narrow(effect: Access) -> bool:
    return (effect.kind, effect.proxy, effect.space, effect.scope) == ("update", "generic", "global", "cta")
