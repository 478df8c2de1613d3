"""From an instruction to what executes it: a function of the executing group, made once.

It does what the table says the form means: functions of the operands' values, actions on the machine, changes of
control. The function gives None where the next instruction follows, else a signal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy

from ptxkit.emulate import registry
from ptxkit.emulate.collectives import collective
from ptxkit.emulate.control import control_step
from ptxkit.emulate.faults import UnsupportedError
from ptxkit.emulate.groups import Blocked, Group, Pause, Signal
from ptxkit.emulate.lanes import Lanes, written
from ptxkit.emulate.operands import Operands, Source, Target
from ptxkit.emulate.registry import Bits, Function
from ptxkit.emulate.scopes import Register, Scope
from ptxkit.emulate.unwritten_reads import WrittenRegisters
from ptxkit.emulate.values import Evaluator
from ptxkit.isa import table
from ptxkit.isa.effects import Control, Value
from ptxkit.isa.expressions import Const, Role
from ptxkit.isa.forms import Match
from ptxkit.isa.meanings import Argument, Meaning
from ptxkit.isa.shapes import fit_all, shape_of
from ptxkit.isa.table import Mismatch
from ptxkit.syntax.tree import Guard, Instruction, Name, Operand, Pair, Unary, Vector

if TYPE_CHECKING:
    from ptxkit.emulate.loaded_registers import LoadedRegisters
    from ptxkit.emulate.program import Program
    from ptxkit.emulate.register_flight import Watch

Step: TypeAlias = Callable[[Group], "Signal | None"]


def step_of(
    instruction: Instruction,
    scope: Scope,
    program: Program,
    watches: Sequence[Watch | LoadedRegisters | WrittenRegisters] = (),
) -> Step:
    """What executes an instruction. watches: mind registers that asynchronous operations use.

    Raises UnsupportedError where the machine knows no meaning for it.
    """
    match = _match(instruction, scope)
    operands = Operands(instruction, match, scope, program)
    control = next((each for each in match.effects if isinstance(each, Control)), None)
    step = _together(_parts(operands, match), operands) if control is None else control_step(control, operands)
    step = collective(step, instruction, match)
    for each in watches:
        step = each.watched(step, instruction, match, scope)
    if instruction.guard is None:
        return step
    step = _guarded(step, _guard(operands, instruction.guard))
    for each in watches:
        if isinstance(each, WrittenRegisters):
            step = each.guarded(step, instruction, scope)
    return step


def _match(instruction: Instruction, scope: Scope) -> Match:
    """The form of an instruction: the first in which predicates stand where the instruction has some."""
    first = table().match(instruction)
    if isinstance(first, Mismatch):
        raise UnsupportedError(first.message)
    here = [_is_predicate(each, scope) for each in instruction.operands]
    if not any(here) or _agrees(first, here):
        return first
    shapes = [shape_of(each) for each in instruction.operands]
    others = (each for each in table().candidates(instruction.opcode) if fit_all(each.operands, shapes))
    return next((each for each in others if _agrees(each, here)), first)


def _is_predicate(operand: Operand, scope: Scope) -> bool:
    found = scope.lookup(operand.text) if isinstance(operand, Name) else None
    return isinstance(found, Register) and found.type == "pred"


def _agrees(match: Match, here: Sequence[bool]) -> bool:
    """Whether no predicate stands for a number."""
    return all(
        not is_there or form.kind != "register" or not isinstance(form.type, Const) or form.type.value == "pred"
        for form, is_there in zip(match.operands, here, strict=False)
    )


def _parts(operands: Operands, match: Match) -> list[Step]:
    """What an instruction does, one after another."""
    try:
        meanings = table().meanings(match)
    except ValueError as error:
        raise UnsupportedError(str(error)) from error
    given = {role for meaning in meanings for role in meaning.results}
    steps = [_meant(operands, meaning) for meaning in meanings]
    steps += [
        _valued(operands, effect)
        for effect in match.effects
        if isinstance(effect, Value) and effect.result not in given
    ]
    if not steps:
        raise UnsupportedError("the table does not say what it means")
    return steps


def _together(steps: Sequence[Step], operands: Operands) -> Step:
    """Part after part; where one writes what another reads, each sees the registers as they were before."""
    if len(steps) == 1:
        return steps[0]
    match, nodes = operands.match, operands.instruction.operands
    names = Counter(each.text for node in nodes for each in _names(node) if not each.is_sink)
    if not table().meanings(match) and max(names.values(), default=0) > 1:
        return _at_once(steps)
    return _in_order(steps)


def _names(node: Operand) -> Iterator[Name]:
    match node:
        case Name():
            yield node
        case Pair(first, second):
            yield from (*_names(first), *_names(second))
        case Vector(elements=elements):
            yield from (name for each in elements for name in _names(each))
        case Unary(operand=inner):
            yield from _names(inner)


def _at_once(steps: Sequence[Step]) -> Step:
    def run(group: Group) -> None:
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


def _in_order(steps: Sequence[Step]) -> Step:

    def run(group: Group) -> Signal | None:
        signal = None
        for step in steps:
            signal = step(group) or signal
        return signal

    return run


# --------------------------------------------------------------------------------------------------- meanings


def _meant(operands: Operands, meaning: Meaning) -> Step:
    """A `means` line."""
    sources = [_argument(operands, each) for each in meaning.operands]
    while sources and sources[-1] is None:
        sources.pop()
    targets = [None if role is None else operands.target(role) for role in meaning.results]
    is_action = meaning.function in registry.actions()
    maker = (registry.actions() if is_action else registry.functions()).get(meaning.function)
    if maker is None:
        raise UnsupportedError(f"the machine has no function {meaning.function}")
    function = maker(**meaning.words)  # UnsupportedError of its own; anything else is a mistake of the table's
    if is_action:
        return _acting(function, sources, targets)
    return _computing(function, sources, targets)


def _argument(operands: Operands, argument: Argument) -> Source | None:
    if isinstance(argument, Role):
        return operands.source(argument.name)
    if isinstance(argument, Const) and argument.value is None:
        return None
    fixed = argument.value if isinstance(argument, Const) else operands.written_as(argument)
    return Source(lambda _group: fixed, 0)


def _valued(operands: Operands, effect: Value) -> Step:
    """An exact value of an effect."""
    target = operands.target(effect.result)
    width = target.width if target is not None else 32
    sources = _Sources(operands)
    constants = {
        role: source.constant for role in sources.roles if (source := sources[role]) and source.constant is not None
    }
    evaluator = Evaluator(operands.program.windows, sources.widths, constants)
    function = evaluator.function(effect.value, -1 if target is not None and target.count else width)
    if function is None:
        raise UnsupportedError(f"the table does not say what {effect.result} receives")
    used = [sources[role] for role in evaluator.roles]
    return _computing(function, used, [target])


class _Sources:
    """The operands that a value may speak of."""

    def __init__(self, operands: Operands) -> None:
        match = operands.match
        self.roles = [role for role in match.roles if operands.match.operand(role, operands.instruction) is not None]
        self._made: dict[str, Source] = {}
        self._operands = operands
        self.widths = _Widths(self)

    def __getitem__(self, role: str) -> Source:
        found = self._made.get(role)
        if found is None:
            found = self._made[role] = self._operands.source(role)
        return found


class _Widths(dict[str, int]):
    def __init__(self, sources: _Sources) -> None:
        super().__init__()
        self._sources = sources

    def __missing__(self, role: str) -> int:
        return self._sources[role].width


# -------------------------------------------------------------------------------------------------- executing


def _computing(function: Function, sources: Sequence[Source | None], targets: Sequence[Target | None]) -> Step:
    """A function of operands' values; the common shapes without a detour."""
    places = [None if source is None else source.place for source in sources]
    if len(targets) == 1 and targets[0] is not None and targets[0].place is not None and None not in places:
        known = [place for place in places if place is not None]
        return _placed(function, known, targets[0].place)
    reads = [_nothing if source is None else source.read for source in sources]
    writes = [None if target is None else target.write for target in targets]
    if len(writes) == 1:
        write = writes[0]
        if write is None:
            return _idle

        def single(group: Group) -> None:
            write(group, function(*[read(group) for read in reads]))

        return single

    def several(group: Group) -> None:
        for write, value in zip(writes, function(*[read(group) for read in reads]), strict=True):
            if write is not None:
                write(group, value)

    return several


def _nothing(_group: Group) -> None:
    return None


def _idle(_group: Group) -> None:
    return None


def _placed(function: Function, places: list[int], target: int) -> Step:
    """From places of the frame to a place of the frame."""
    if len(places) == 1:
        (first,) = places

        def one(group: Group) -> None:
            registers, where = group.registers, group.lanes.where
            if where is None:
                value = function(registers[first])
                registers[target] = value if value.ndim else numpy.broadcast_to(value, registers[target].shape)
            else:
                registers[target] = written(registers[target], where, function(registers[first][where]))

        return one
    if len(places) == 2:
        first, second = places

        def two(group: Group) -> None:
            registers, where = group.registers, group.lanes.where
            if where is None:
                registers[target] = function(registers[first], registers[second])
            else:
                value = function(registers[first][where], registers[second][where])
                registers[target] = written(registers[target], where, value)

        return two

    def many(group: Group) -> None:
        registers, where = group.registers, group.lanes.where
        if where is None:
            registers[target] = function(*[registers[place] for place in places])
        else:
            value = function(*[registers[place][where] for place in places])
            registers[target] = written(registers[target], where, value)

    return many


def _acting(function: Function, sources: Sequence[Source | None], targets: Sequence[Target | None]) -> Step:
    """An action, with the executing group in front; it may give a signal in place of results."""
    reads = [_nothing if source is None else source.read for source in sources]
    writes = [None if target is None else target.write for target in targets]

    def act(group: Group) -> Signal | None:
        found = function(group, *[read(group) for read in reads])
        if isinstance(found, Blocked | Pause):
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


def _guard(operands: Operands, guard: Guard) -> int:
    """The place of a guard's predicate, shifted, and the lowest bit whether it is negated."""
    from ptxkit.emulate.scopes import Register

    found = operands.scope.lookup(guard.predicate)
    if not isinstance(found, Register):
        raise UnsupportedError(f"nothing declares the predicate {guard.predicate}")
    return found.slots[0] << 1 | guard.negated


def _guarded(step: Step, guard: int) -> Step:
    place, wanted = guard >> 1, not guard & 1

    def run(group: Group) -> Signal | None:
        lanes = group.lanes
        where = lanes.where
        held = group.registers[place] if where is None else group.registers[place][where]
        count = int(numpy.count_nonzero(held))
        if not wanted:
            count = lanes.count - count
        if count == lanes.count:
            return step(group)
        if count == 0:
            return None
        chosen = lanes.index[held if wanted else ~held]
        group.lanes = some = Lanes(chosen, group.cta.threads)
        try:
            signal = step(group)
        finally:
            group.lanes = lanes
        if signal is not None:
            group.active = some
        return signal

    return run
