"""Walks with chosen arguments: which transfers a kernel does depends on how its addresses lie, and on sizes.

A trial gives every pointer parameter a number, so that tests of alignment and of state spaces come out, moves the
shared variables that are declared with less than 16 bytes of alignment, and sets the integer parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property, partial

from ptxkit.analysis.code import Code
from ptxkit.analysis.definitions import successors
from ptxkit.analysis.exchange import Exchange
from ptxkit.analysis.explore import Exploration, Explorer, code_of, walk_all
from ptxkit.analysis.layout import Scope, Variable
from ptxkit.analysis.program import Program, Step, flatten
from ptxkit.analysis.scenario import Scenario
from ptxkit.analysis.terms import Terms
from ptxkit.analysis.walker import Walker
from ptxkit.records import dataclass, replace

#: Alignments that copies ask for, up to the largest.
LARGEST = 16
#: Where the memory begins that pointer parameters point to, and how far apart they do.
FIRST_POINTER, POINTER_DISTANCE = 1 << 32, 1 << 24
#: What an integer parameter is where only addresses are varied: whole pieces, and a remainder.
USUAL_SIZES = (512, 519)
#: Sizes that are tried: around each unit of copying, and some with remainders.
SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 64, 100, 512, 516, 519)
#: How far shared variables are moved.
SHIFTS = (0, 1, 2, 4, 8)
#: Bytes of a pointer parameter.
_POINTER = 8
#: Steps of all trials of a kernel.
MAX_STEPS = 400_000


@dataclass(frozen=True, slots=True)
class Setting:
    """source: low bits of pointer parameters. shift: of shared variables. size: of integer parameters.

    shared: pointer parameters point into shared memory.
    """

    source: int = 0
    shift: int = 0
    size: int = USUAL_SIZES[0]
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """reached: the indices of the executed steps. walks: gives the walks; None where variables were moved."""

    setting: Setting
    reached: frozenset[int]
    walks: Callable[[], Exploration] | None


class Trials:
    """The trials of one kernel; there are none where walks are too long for all of them."""

    def __init__(self, explorer: Explorer, pointers: frozenset[tuple[str, int]]) -> None:
        self._explorer = explorer
        self._pointers = pointers
        self._codes: dict[int, Code] = {}
        self._left = MAX_STEPS

    def run(self, ways: Collection[Step]) -> list[Trial]:
        """Alignments, sizes, state spaces; nothing where a first look sees no difference they make.

        ways: the steps that matter.
        """
        wanted = {step.index for step in ways}
        first = [trial for setting in self._first_looks() if (trial := self._trial(setting)) is not None]
        if len({trial.reached & wanted for trial in first}) < 2:
            return []
        trials = [trial for setting in self._settings() if (trial := self._trial(setting)) is not None]
        return trials if self._left > 0 else []  # some of the picture is none

    def _first_looks(self) -> list[Setting]:
        """As aligned as can be, and not at all; the difference of addresses, too."""
        near = self._least
        moved = [Setting(shift=near), Setting(source=near, shift=near)] if near < LARGEST else []
        return [Setting(), Setting(1), Setting(2), Setting(4), Setting(8), *moved, Setting(shared=True)]

    @cached_property
    def _least(self) -> int:
        """The smallest alignment that a shared variable is declared with."""
        alignments = [v.alignment for v in self._explorer.program.variables if v.space == "shared"]
        return min(alignments, default=LARGEST)

    def _settings(self) -> Iterator[Setting]:
        for shift in SHIFTS:
            if shift % self._least == 0:
                for size in USUAL_SIZES:
                    yield from (Setting(source, shift, size) for source in range(LARGEST))
        yield from (Setting(size=size) for size in SIZES if size not in USUAL_SIZES)
        yield Setting(shared=True)

    def _trial(self, setting: Setting) -> Trial | None:
        if self._left <= 0:
            return None
        code = self._code(setting.shift)
        scenario = Scenario(self._explorer.launch, setting.size)
        everyone = tuple(range(self._explorer.launch.threads))
        walker = Walker(code, scenario, everyone, Terms(), Exchange(), self._pointers)
        for (space, place), value in self._arguments(walker, setting):
            walker.memory.keep(space, place, value, _POINTER)
        exploration, taken = walk_all(walker, self._left)
        self._left -= taken
        own = set(code.program.steps)
        reached = frozenset(step.index for group in exploration.groups for step in group.covered & own)
        return Trial(setting, reached, None if setting.shift else partial(self._told_of, exploration, code))

    def _arguments(self, walker: Walker, setting: Setting) -> Iterator[tuple[tuple[str, int], int]]:
        """What the thread finds where the pointer parameters stand, by either way of reading parameters."""
        variables = {v.name: v for v in walker.code.program.variables if v.space.startswith("param")}
        for number, (name, offset) in enumerate(sorted(self._pointers)):
            value = FIRST_POINTER + number * POINTER_DISTANCE + setting.source
            if setting.shared:
                value = walker.window.to_generic("shared", value & 0xFFFF)
            yield (name, offset), value
            if name in variables:
                yield ("param", variables[name].address + offset), value

    def _code(self, shift: int) -> Code:
        found = self._codes.get(shift)
        if found is None:
            program = self._explorer.program
            if self._least < LARGEST:
                program = moved(flatten(program.module, program.function, calls=True), shift)
            found = self._codes[shift] = code_of(program)
        return found

    def _told_of(self, exploration: Exploration, code: Code) -> Exploration:
        """Walks of a program that was flattened anew, as if they had been through the explorer's."""
        own = dict(zip(code.program.steps, self._explorer.program.steps, strict=True))
        groups = [
            replace(
                group,
                events=[replace(event, step=own.get(event.step, event.step)) for event in group.events],
                covered={own.get(step, step) for step in group.covered},
            )
            for group in exploration.groups
        ]
        return replace(exploration, groups=groups)


def moved(program: Program, shift: int) -> Program:
    """The program with each shared variable so many bytes behind a multiple of 16, if its alignment allows it."""
    scopes: dict[int, Scope] = {}
    for step in program.steps:
        scope: Scope | None = step.scope
        while scope is not None and id(scope) not in scopes:
            scopes[id(scope)] = scope
            scope = scope.parent
    for scope in scopes.values():
        for name, variable in scope.variables.items():
            scope.variables[name] = _moved(variable, shift)
    return replace(program, variables=tuple(_moved(variable, shift) for variable in program.variables))


def _moved(variable: Variable, shift: int) -> Variable:
    if variable.space != "shared" or variable.alignment >= LARGEST:
        return variable
    start = -(-variable.address // LARGEST) * LARGEST
    return replace(variable, address=start + (0 if shift % max(variable.alignment, 1) else shift))


def deciding_branch(
    program: Program, target: Step, taken: Sequence[frozenset[int]], avoided: Sequence[frozenset[int]]
) -> Step | None:
    """The last branch before `target` from which every trial of `taken` went a way that some of `avoided` did not."""
    always = frozenset.intersection(*taken)
    for step in reversed(program.steps[: target.index]):
        following = successors(program, step) if step.instruction.guard is not None else []
        if len(following) < 2 or not _passed(step, always):
            continue
        others = [reached for reached in avoided if _passed(step, reached)]
        if any(after in always and any(after not in reached for reached in others) for after in following):
            return step
    return None


def _passed(step: Step, reached: frozenset[int]) -> bool:
    """Whether a walk came by a branch: one that is not taken is not executed, but what stands before it is."""
    return step.index in reached or step.index - 1 in reached
