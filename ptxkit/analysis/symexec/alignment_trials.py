"""Executes a kernel with chosen arguments, because its transfers may depend on the alignment of addresses and on sizes.

A trial gives every pointer parameter a number, so that tests of alignment and of state spaces are decided, shifts the
shared variables that are declared with less than 16 bytes of alignment, and sets the integer parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property, partial

from ptxkit.analysis.cfg.control_flow_graph import step_successors
from ptxkit.analysis.ir.program import ModuleContext, Program, Step, flatten
from ptxkit.analysis.limits import MAX_ALIGNMENT, MAX_TRIAL_STEPS
from ptxkit.analysis.symexec.block_compiler import CompiledProgram, compile_program
from ptxkit.analysis.symexec.exploration import Exploration, execute_all
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.symexec.group_state import GroupState
from ptxkit.analysis.symexec.lane_exchange import LaneExchange
from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent, UnknownCall
from ptxkit.analysis.values.scenario import Scenario
from ptxkit.analysis.values.symbolic_values import SymbolicValueTable
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.semantics.layout import DeclaredVariable

#: The address to which the first pointer parameter points, and the distance between the addresses of two parameters.
FIRST_POINTER, POINTER_DISTANCE = 1 << 32, 1 << 24
#: The values of an integer parameter where only addresses are varied: a multiple of the tile, and a number that is
#: none.
USUAL_SIZES = (512, 519)
#: The sizes that are tried: numbers around each unit of copying, and some that are not multiples of it.
SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 64, 100, 512, 516, 519)
#: The distances in bytes by which shared variables are shifted.
SHIFTS = (0, 1, 2, 4, 8)
#: The size in bytes of a pointer parameter.
_POINTER = 8


@dataclass(frozen=True, slots=True)
class TrialInput:
    """The arguments of a trial.

    pointer_offset: the low bits of pointer parameters. variable_shift: the distance by which shared variables are
    shifted. integer_size: the value of integer parameters. points_to_shared: whether pointer parameters point into
    shared memory.
    """

    pointer_offset: int = 0
    variable_shift: int = 0
    integer_size: int = USUAL_SIZES[0]
    points_to_shared: bool = False


@dataclass(frozen=True, slots=True)
class AlignmentTrial:
    """The result of a trial.

    reached_steps: the indices of the executed steps. explore: returns the executions; None where variables were
    shifted.
    """

    inputs: TrialInput
    reached_steps: frozenset[int]
    explore: Callable[[], Exploration] | None


class AlignmentTrials:
    """The trials of one kernel. There are no trials if its executions are too long for all of them."""

    def __init__(self, explorer: Explorer, pointers: frozenset[tuple[str, int]]) -> None:
        self._explorer = explorer
        self._pointers = pointers
        self._compiled_by_shift: dict[int, CompiledProgram] = {}
        self._remaining_steps = explorer.program.scale_limit(MAX_TRIAL_STEPS)

    def run(self, copies: Collection[Step]) -> list[AlignmentTrial]:
        """Runs trials of alignments, sizes and state spaces; returns nothing if the first probes show no difference.

        copies: the steps whose execution is compared.
        """
        wanted = {step.index for step in copies}
        first = [trial for setting in self._probe_inputs() if (trial := self._run_trial(setting)) is not None]
        if len({trial.reached_steps & wanted for trial in first}) < 2:
            return []
        trials = [trial for setting in self._all_inputs() if (trial := self._run_trial(setting)) is not None]
        return trials if self._remaining_steps > 0 else []  # incomplete trials would be misleading

    def _probe_inputs(self) -> list[TrialInput]:
        """Returns the inputs of the first probes: the best alignment, no alignment, and unequal alignments."""
        near = self._min_alignment
        moved = (
            [TrialInput(variable_shift=near), TrialInput(pointer_offset=near, variable_shift=near)]
            if near < MAX_ALIGNMENT
            else []
        )
        return [
            TrialInput(),
            TrialInput(1),
            TrialInput(2),
            TrialInput(4),
            TrialInput(8),
            *moved,
            TrialInput(points_to_shared=True),
        ]

    @cached_property
    def _min_alignment(self) -> int:
        """The smallest declared alignment of a shared variable."""
        alignments = [v.alignment for v in self._explorer.program.variables if v.space == "shared"]
        return min(alignments, default=MAX_ALIGNMENT)

    def _all_inputs(self) -> Iterator[TrialInput]:
        for shift in SHIFTS:
            if shift % self._min_alignment == 0:
                for size in USUAL_SIZES:
                    yield from (TrialInput(source, shift, size) for source in range(MAX_ALIGNMENT))
        yield from (TrialInput(integer_size=size) for size in SIZES if size not in USUAL_SIZES)
        yield TrialInput(points_to_shared=True)

    def _run_trial(self, setting: TrialInput) -> AlignmentTrial | None:
        if self._remaining_steps <= 0:
            return None
        code = self._compiled_for_shift(setting.variable_shift)
        scenario = Scenario(self._explorer.launch, setting.integer_size)
        all_threads = tuple(range(self._explorer.launch.threads))
        group = GroupState(code, scenario, all_threads, SymbolicValueTable(), LaneExchange(), self._pointers)
        for (space, place), value in self._argument_values(group, setting):
            group.private_memory.store(space, place, value, _POINTER)
        exploration, taken = execute_all(group, self._remaining_steps)
        self._remaining_steps -= taken
        own = set(code.program.steps)
        reached = frozenset(step.index for group in exploration.groups for step in group.covered_steps & own)
        return AlignmentTrial(
            setting, reached, None if setting.variable_shift else partial(self._translate_steps, exploration, code)
        )

    def _argument_values(self, group: GroupState, setting: TrialInput) -> Iterator[tuple[tuple[str, int], int]]:
        """Yields the values of the pointer parameters, for both methods of addressing parameters."""
        variables = {v.name: v for v in group.code.program.variables if v.space.startswith("param")}
        for number, (name, offset) in enumerate(sorted(self._pointers)):
            value = FIRST_POINTER + number * POINTER_DISTANCE + setting.pointer_offset
            if setting.points_to_shared:
                value = group.window.to_generic("shared", value & 0xFFFF)
            yield (name, offset), value
            if name in variables:
                yield ("param", variables[name].address + offset), value

    def _compiled_for_shift(self, shift: int) -> CompiledProgram:
        found = self._compiled_by_shift.get(shift)
        if found is None:
            program = self._explorer.program
            if self._min_alignment < MAX_ALIGNMENT:
                outside = ModuleContext(program.module, program.effort)
                again = flatten(program.module, program.function, outside, calls=True)
                program = with_shifted_variables(again, shift)
            found = self._compiled_by_shift[shift] = compile_program(program)
        return found

    def _translate_steps(self, exploration: Exploration, code: CompiledProgram) -> Exploration:
        """Maps executions of a program that was flattened again to the steps of the explorer's program."""
        own = dict(zip(code.program.steps, self._explorer.program.steps, strict=True))

        def translate(event: TraceEvent | GroupEvent | UnknownCall) -> TraceEvent | GroupEvent | UnknownCall:
            step = own.get(event.step, event.step)
            return event._replace(step=step) if isinstance(event, TraceEvent) else replace(event, step=step)

        groups = [
            replace(
                group,
                events=list(map(translate, group.events)),
                covered_steps={own.get(step, step) for step in group.covered_steps},
            )
            for group in exploration.groups
        ]
        return replace(exploration, groups=groups)


def with_shifted_variables(program: Program, shift: int) -> Program:
    """Returns the program with each shared variable `shift` bytes after a multiple of 16, if it may be there."""
    outermost = program.scope.outer
    assert outermost is not None
    for scope in (outermost, *program.scopes):
        for name, variable in scope.variables.items():
            scope.variables[name] = _shift_variable(variable, shift)
    return replace(program, variables=tuple(_shift_variable(variable, shift) for variable in program.variables))


def _shift_variable(variable: DeclaredVariable, shift: int) -> DeclaredVariable:
    if variable.space != "shared" or variable.alignment >= MAX_ALIGNMENT:
        return variable
    start = -(-variable.address // MAX_ALIGNMENT) * MAX_ALIGNMENT
    return replace(variable, address=start + (0 if shift % max(variable.alignment, 1) else shift))


def find_deciding_branch(
    program: Program, target: Step, taken: Sequence[frozenset[int]], avoided: Sequence[frozenset[int]]
) -> Step | None:
    """Returns the last branch before `target` at which all of `taken` took a side that some of `avoided` did not."""
    always = frozenset.intersection(*taken)
    for step in reversed(program.steps[: target.index]):
        following = step_successors(program, step) if step.instruction.guard is not None else []
        if len(following) < 2 or not _passes_branch(step, always):
            continue
        others = [reached for reached in avoided if _passes_branch(step, reached)]
        if any(after in always and any(after not in reached for reached in others) for after in following):
            return step
    return None


def _passes_branch(step: Step, reached: frozenset[int]) -> bool:
    """Returns whether an execution reached a branch.

    A branch that is not taken is not recorded as executed, but the step before it is.
    """
    return step.index in reached or step.index - 1 in reached
