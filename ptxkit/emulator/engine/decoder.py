"""Decodes an instruction into a step: a function of the executing group, constructed once.

The step implements the semantics of the form in the instruction table: functions of the operands' values, actions on
the machine, control flow. It returns None if the next instruction follows, else a signal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy

from ptxkit.emulator.core import semantics_registry
from ptxkit.emulator.core.findings import UnsupportedError
from ptxkit.emulator.core.lane_set import LaneSet, with_lanes_written
from ptxkit.emulator.core.semantics_registry import Bits, Function
from ptxkit.emulator.core.value_ops import ExpressionCompiler
from ptxkit.emulator.engine.control import control_step
from ptxkit.emulator.engine.operand_access import OperandAccess, OperandReader, ResultWriter
from ptxkit.emulator.races.collective_checks import counted_step
from ptxkit.emulator.races.uninitialized_registers import InitializedRegisters
from ptxkit.emulator.state.symbols import BlockScope, RegisterSlots
from ptxkit.emulator.threads.thread_groups import BlockSignal, Signal, Step, ThreadGroup, YieldSignal
from ptxkit.isa import table
from ptxkit.isa.effects import Control, Value
from ptxkit.isa.expressions import ConstantExpr, OperandRole
from ptxkit.isa.forms import Match
from ptxkit.isa.operand_shapes import accept_shapes, shape_of
from ptxkit.isa.table import Mismatch
from ptxkit.isa.value_semantics import Argument, Semantics
from ptxkit.semantics.linear_code import LinearStep
from ptxkit.syntax.tree import Guard, Instruction, Name, Operand, operand_names

if TYPE_CHECKING:
    from ptxkit.emulator.races.tcgen05_load_hazards import LoadedRegisterWatch
    from ptxkit.emulator.races.wgmma_register_hazards import RegisterWatch
    from ptxkit.emulator.threads.machine_state import ProgramCode


def decode_step(
    linear: LinearStep[BlockScope],
    program: ProgramCode,
    watches: Sequence[RegisterWatch | LoadedRegisterWatch | InitializedRegisters] = (),
) -> Step:
    """Returns the step that executes an instruction. `watches` check registers that asynchronous operations use.

    Raises UnsupportedError if the machine has no semantics for it.
    """
    instruction, scope = linear.instruction, linear.scope
    match = _match_form(instruction, scope)
    operands = OperandAccess(instruction, match, scope, program)
    control = next((each for each in match.effects if isinstance(each, Control)), None)
    step = (
        _combine_steps(_decode_parts(operands, match), operands)
        if control is None
        else control_step(control, operands, linear.targets)
    )
    step = counted_step(step, instruction, match)
    for each in watches:
        step = each.instrument(step, linear, match)
    if instruction.guard is None:
        return step
    step = _make_guarded_step(step, _guard_slot(operands, instruction.guard))
    for each in watches:
        if isinstance(each, InitializedRegisters):
            step = each.instrument_guard(step, linear)
    return step


def _match_form(instruction: Instruction, scope: BlockScope) -> Match:
    """Returns the form of an instruction: the first one whose predicate operands agree with those of the
    instruction.
    """
    first = table().match(instruction)
    if isinstance(first, Mismatch):
        raise UnsupportedError(first.message)
    here = [_is_predicate(each, scope) for each in instruction.operands]
    if not any(here) or _predicates_agree(first, here):
        return first
    shapes = [shape_of(each) for each in instruction.operands]
    others = (each for each in table().candidates(instruction.opcode) if accept_shapes(each.operands, shapes))
    return next((each for each in others if _predicates_agree(each, here)), first)


def _is_predicate(operand: Operand, scope: BlockScope) -> bool:
    found = scope.lookup(operand.text) if isinstance(operand, Name) else None
    return isinstance(found, RegisterSlots) and found.type == "pred"


def _predicates_agree(match: Match, here: Sequence[bool]) -> bool:
    """Returns whether predicate and numeric operands agree with the form."""
    return all(
        not is_there or form.kind != "register" or not isinstance(form.type, ConstantExpr) or form.type.value == "pred"
        for form, is_there in zip(match.operands, here, strict=False)
    )


def _decode_parts(operands: OperandAccess, match: Match) -> list[Step]:
    """Returns the parts of an instruction's semantics in order."""
    try:
        meanings = table().semantics_of(match)
    except ValueError as error:
        raise UnsupportedError(str(error)) from error
    given = {role for meaning in meanings for role in meaning.results}
    steps = [_decode_semantics(operands, meaning) for meaning in meanings]
    steps += [
        _decode_value_effect(operands, effect)
        for effect in match.effects
        if isinstance(effect, Value) and effect.result not in given
    ]
    if not steps:
        raise UnsupportedError("the table has no semantics for it")
    return steps


def _combine_steps(steps: Sequence[Step], operands: OperandAccess) -> Step:
    """Combines parts into one step. If one writes a register that another reads, each reads the previous values."""
    if len(steps) == 1:
        return steps[0]
    match, nodes = operands.match, operands.instruction.operands
    names = Counter(name for node in nodes for name in operand_names(node))
    if not table().semantics_of(match) and max(names.values(), default=0) > 1:
        return _run_simultaneously(steps)
    return _run_in_order(steps)


def _run_simultaneously(steps: Sequence[Step]) -> Step:
    def run(group: ThreadGroup) -> None:
        registers = group.registers
        before: list[Bits] = list(registers)
        made: dict[int, Bits] = {}
        for step in steps:
            step(group)
            made |= {place: now for place, now in enumerate(registers) if now is not before[place]}
            registers[:] = before
        for place, value in made.items():
            registers[place] = value

    return run


def _run_in_order(steps: Sequence[Step]) -> Step:

    def run(group: ThreadGroup) -> Signal | None:
        signal = None
        for step in steps:
            signal = step(group) or signal
        return signal

    return run


# --------------------------------------------------------------------------------------------------- semantics


def _decode_semantics(operands: OperandAccess, meaning: Semantics) -> Step:
    """Returns the step for a `means` line."""
    sources = [_semantics_argument(operands, each) for each in meaning.operands]
    while sources and sources[-1] is None:
        sources.pop()
    targets = [None if role is None else operands.writer(role) for role in meaning.results]
    is_action = meaning.function in semantics_registry.effect_semantics_table()
    maker = (
        semantics_registry.effect_semantics_table() if is_action else semantics_registry.value_semantics_table()
    ).get(meaning.function)
    if maker is None:
        raise UnsupportedError(f"the machine has no function {meaning.function}")
    function = maker(
        **meaning.named_arguments
    )  # it raises UnsupportedError itself; any other exception is an error in the table
    if is_action:
        return _make_effect_step(function, sources, targets)
    return _make_value_step(function, sources, targets)


def _semantics_argument(operands: OperandAccess, argument: Argument) -> OperandReader | None:
    if isinstance(argument, OperandRole):
        return operands.reader(argument.name)
    if isinstance(argument, ConstantExpr) and argument.value is None:
        return None
    fixed = argument.value if isinstance(argument, ConstantExpr) else operands.spelling_property(argument)
    return OperandReader(lambda _group: fixed, 0)


def _decode_value_effect(operands: OperandAccess, effect: Value) -> Step:
    """Returns the step that computes an exact value of an effect."""
    target = operands.writer(effect.result)
    width = target.width if target is not None else 32
    sources = _Sources(operands)
    constants = {
        role: source.constant for role in sources.roles if (source := sources[role]) and source.constant is not None
    }
    evaluator = ExpressionCompiler(operands.program.windows, sources.widths, constants)
    function = evaluator.compile(effect.value, -1 if target is not None and target.count else width)
    if function is None:
        raise UnsupportedError(f"the table has no value for {effect.result}")
    used = [sources[role] for role in evaluator.roles]
    return _make_value_step(function, used, [target])


class _Sources:
    """The operands that a value expression may refer to."""

    def __init__(self, operands: OperandAccess) -> None:
        match = operands.match
        self.roles = [role for role in match.roles if operands.match.operand(role, operands.instruction) is not None]
        self._cache: dict[str, OperandReader] = {}
        self._operands = operands
        self.widths = _Widths(self)

    def __getitem__(self, role: str) -> OperandReader:
        found = self._cache.get(role)
        if found is None:
            found = self._cache[role] = self._operands.reader(role)
        return found


class _Widths(dict[str, int]):
    def __init__(self, sources: _Sources) -> None:
        super().__init__()
        self._sources = sources

    def __missing__(self, role: str) -> int:
        return self._sources[role].width


# -------------------------------------------------------------------------------------------------- executing


def _make_value_step(
    function: Function, sources: Sequence[OperandReader | None], targets: Sequence[ResultWriter | None]
) -> Step:
    """Returns a step that applies a function to operands' values, with fast paths for the common shapes."""
    places = [None if source is None else source.slot for source in sources]
    if len(targets) == 1 and targets[0] is not None and targets[0].slot is not None and None not in places:
        known = [place for place in places if place is not None]
        return _make_slot_step(function, known, targets[0].slot)
    reads = [_no_operation if source is None else source.read for source in sources]
    writes = [None if target is None else target.write for target in targets]
    if len(writes) == 1:
        write = writes[0]
        if write is None:
            return _idle_step

        def single(group: ThreadGroup) -> None:
            write(group, function(*[read(group) for read in reads]))

        return single

    def several(group: ThreadGroup) -> None:
        for write, value in zip(writes, function(*[read(group) for read in reads]), strict=True):
            if write is not None:
                write(group, value)

    return several


def _no_operation(_group: ThreadGroup) -> None:
    return None


def _idle_step(_group: ThreadGroup) -> None:
    return None


def _make_slot_step(function: Function, places: list[int], target: int) -> Step:
    """Returns a step that reads slots of the frame and writes a slot of the frame."""
    if len(places) == 1:
        (first,) = places

        def one(group: ThreadGroup) -> None:
            registers, where = group.registers, group.lanes.selector
            if where is None:
                value = function(registers[first])
                registers[target] = value if value.ndim else numpy.broadcast_to(value, registers[target].shape)
            else:
                registers[target] = with_lanes_written(registers[target], where, function(registers[first][where]))

        return one
    if len(places) == 2:
        first, second = places

        def two(group: ThreadGroup) -> None:
            registers, where = group.registers, group.lanes.selector
            if where is None:
                registers[target] = function(registers[first], registers[second])
            else:
                value = function(registers[first][where], registers[second][where])
                registers[target] = with_lanes_written(registers[target], where, value)

        return two

    def many(group: ThreadGroup) -> None:
        registers, where = group.registers, group.lanes.selector
        if where is None:
            registers[target] = function(*[registers[place] for place in places])
        else:
            value = function(*[registers[place][where] for place in places])
            registers[target] = with_lanes_written(registers[target], where, value)

    return many


def _make_effect_step(
    function: Function, sources: Sequence[OperandReader | None], targets: Sequence[ResultWriter | None]
) -> Step:
    """Returns a step for an action, whose first argument is the executing group and which may return a signal instead
    of results.
    """
    reads = [_no_operation if source is None else source.read for source in sources]
    writes = [None if target is None else target.write for target in targets]

    def act(group: ThreadGroup) -> Signal | None:
        found = function(group, *[read(group) for read in reads])
        if isinstance(found, BlockSignal | YieldSignal):
            return found
        if len(writes) == 1:
            if writes[0] is not None:
                writes[0](group, found)
        elif writes:
            for write, value in zip(writes, found, strict=True):
                if write is not None:
                    write(group, value)
        return None

    return act


# ----------------------------------------------------------------------------------------------------- guards


def _guard_slot(operands: OperandAccess, guard: Guard) -> int:
    """Returns the slot of a guard's predicate, shifted left by one; the lowest bit states whether it is negated."""
    found = operands.scope.lookup(guard.predicate)
    if not isinstance(found, RegisterSlots):
        raise UnsupportedError(f"nothing declares the predicate {guard.predicate}")
    return found.slots[0] << 1 | guard.negated


def _make_guarded_step(step: Step, guard: int) -> Step:
    place, wanted = guard >> 1, not guard & 1

    def run(group: ThreadGroup) -> Signal | None:
        lanes = group.lanes
        where = lanes.selector
        held = group.registers[place] if where is None else group.registers[place][where]
        count = int(numpy.count_nonzero(held))
        if not wanted:
            count = lanes.count - count
        if count == lanes.count:
            return step(group)
        if count == 0:
            return None
        chosen = lanes.index[held if wanted else ~held]
        group.lanes = some = LaneSet(chosen, group.cta.threads)
        try:
            signal = step(group)
        finally:
            group.lanes = lanes
        if signal is not None:
            group.active_lanes = some
        return signal

    return run
