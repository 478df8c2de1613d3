"""Computes the registers that an execution must track: those on which recorded events or control flow depend.

Most of a real kernel computes numbers: sums of products, conversions, stored values. No address, guard, count, size or
mbarrier operand depends on them, so the executor need not evaluate them. The slice is backward and flow-insensitive
over the whole function: a register is in it if any instruction that assigns it may use a register in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ptxkit.analysis.dataflow.forwarded_loads import forwarded_loads
from ptxkit.analysis.dataflow.ineffective_branches import value_branches
from ptxkit.analysis.ir.layout import SymbolScope
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.analysis.ir.step_registers import guard_registers
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import Access, AsyncRegisters, Control, Effect, Grid, ProxyFence, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole, roles_in
from ptxkit.isa.forms import Match
from ptxkit.syntax.tree import Address, Instruction, Name, Operand

#: The state spaces from which a load may read values that the thread itself stored, which an execution must track.
_OWN_MEMORY = ("local", "generic")
#: The kinds of memory that an execution tracks: the private memory of a thread, and the shared memory of a CTA.
_PRIVATE, _SHARED = "own", "shared"
#: The size in bytes of a tensor map, which `tensormap.replace` accesses, whichever field it replaces.
_MAP = ConstantExpr(128)


@dataclass(frozen=True, slots=True)
class ProgramSlice:
    """The part of a function that is tracked.

    includes_private_stores: whether stores to memory that may be private are tracked. global_access_kinds: the kinds of
    tracked accesses to global memory: writes where tensor maps may change, reads where a grid waits for others.
    includes_shared_stores: whether stores to shared memory from which tracked values are loaded are tracked.
    forwarded_loads: the loads that return a register which the thread has just stored, each with that register.
    ineffective_branches: those whose sides differ in values that are not tracked.
    """

    registers: frozenset[str]
    includes_private_stores: bool
    global_access_kinds: frozenset[str] = frozenset()
    includes_shared_stores: bool = False
    forwarded_loads: Mapping[Step, Name] = field(default_factory=dict)
    ineffective_branches: frozenset[Step] = frozenset()

    def is_tracked(self, operand: Operand, scope: SymbolScope) -> bool:
        """Returns whether the value of an operand is tracked exactly."""
        return all(name in self.registers for name in registers_in(operand, scope))

    def is_needed(self, step: Step, effect: Value) -> bool:
        """Returns whether anything depends on a value that a step assigns."""
        match = step.match
        index = match.roles.get(effect.result) if match is not None else None
        if index is None:
            return True
        return any(name in self.registers for name in registers_in(step.instruction.operands[index], step.scope))


@dataclass(frozen=True, slots=True)
class _OperandFlow:
    """The uses of a match's operands, by position.

    effect_operands: those that effects other than values use. values: (result, sources, the kind of memory that is the
    source). stored_operands: those that are stored to such memory, each after the kind of memory.
    """

    has_effects: bool
    effect_operands: tuple[int, ...]
    values: tuple[tuple[int, tuple[int, ...], str], ...]
    stored_operands: tuple[tuple[str, int], ...]


def compute_slice(program: Program) -> ProgramSlice:
    """Returns the slice of a function. The function's results are in the slice, because callers may need them."""
    assigned = program.analysis(value_branches)
    ignored = frozenset(assigned)
    while True:
        found = _slice_without(program, ignored)
        effective = {branch for branch in ignored if not assigned[branch].isdisjoint(found.registers)}
        if not effective:
            return found
        ignored -= effective


def _slice_without(program: Program, ignored: frozenset[Step]) -> ProgramSlice:
    """Returns the slice of a function in which some branches may go either way."""
    wanted = [d.name for declaration in program.function.results for d in declaration.declarators]
    # Other functions may hold an address in the threads' private memory.
    kept = {_PRIVATE} if program.function.kind == "func" or program.callees else set()
    stored: dict[str, list[str]] = {_PRIVATE: [], _SHARED: []}
    feeding: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
    flows: dict[int, _OperandFlow] = {}
    forwarded = program.analysis(forwarded_loads)
    for step in program.steps:
        match, instruction, scope = step.match, step.instruction, step.scope
        if match is None:
            continue
        flow = flows.get(id(match))
        if flow is None:
            flow = flows[id(match)] = _operand_flow_of(match)
        if flow.has_effects and step not in ignored:
            wanted.extend(guard_registers(step))
            wanted.extend(_registers(instruction, flow.effect_operands, scope))
            for memory, position in flow.stored_operands:
                if memory == _PRIVATE or _accesses_named_variable(match, instruction, scope):
                    stored[memory].extend(_registers(instruction, (position,), scope))
        copied = forwarded.get(step)
        for result, sources, memory in flow.values:
            if result < len(instruction.operands):
                read = _registers(instruction, sources, scope) if copied is None else registers_in(copied, scope)
                needed = (*guard_registers(step), *read)
                for name in registers_in(instruction.operands[result], scope):
                    feeding[name].append((needed, memory if copied is None else ""))
    outside = {"write", "update"} if may_change_tensor_maps(program) else set()
    outside |= {"read", "update"} if has_grid_dependency_wait(program) else set()
    registers, memories = _close_over_sources(wanted, feeding, stored, kept)
    return ProgramSlice(registers, _PRIVATE in memories, frozenset(outside), _SHARED in memories, forwarded, ignored)


def _accesses_named_variable(match: Match, instruction: Instruction, scope: SymbolScope) -> bool:
    """Returns whether an instruction accesses memory at a variable's name.

    This is the usual form of communication between threads.
    """
    accessed = (match.operand(e.address, instruction) for e in match.effects if isinstance(e, Access))
    return any(
        isinstance(each, Address)
        and isinstance(each.base, Name)
        and scope.register_name(each.base.text) == each.base.text
        and scope.variable(each.base.text) is not None
        for each in accessed
    )


def _close_over_sources(
    wanted: list[str],
    feeding: dict[str, list[tuple[tuple[str, ...], str]]],
    stored: Mapping[str, Iterable[str]],
    kept: set[str],
) -> tuple[frozenset[str], set[str]]:
    """Returns all registers that the wanted ones depend on transitively, and the kinds of memory on which they depend.

    kept: the kinds of memory that are included in any case.
    """
    found: set[str] = set()
    memories = set(kept)
    for memory in kept:
        wanted.extend(stored[memory])
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        found.add(name)
        for sources, memory in feeding.get(name, ()):
            wanted.extend(sources)
            if memory and memory not in memories:
                memories.add(memory)
                wanted.extend(stored[memory])
    return frozenset(found), memories


def may_change_tensor_maps(program: Program) -> bool:
    """Returns whether a function may change tensor maps: it replaces a field of one, or orders such a change."""
    return any(is_tensor_map_change(effect) for step in program.effectful_steps for effect in step.effects)


def has_grid_dependency_wait(program: Program) -> bool:
    """Returns whether a kernel waits for the grids on which it depends."""
    effects = (effect for step in program.effectful_steps for effect in step.effects)
    return any(isinstance(effect, Grid) and effect.action == "wait" for effect in effects)


def is_tensor_map_change(effect: Effect) -> bool:
    """Returns whether an effect is specific to instructions that change tensor maps."""
    if isinstance(effect, ProxyFence):
        return effect.proxy == "tensormap"
    return isinstance(effect, Access) and effect.kind == "update" and effect.size == _MAP and effect.proxy == "generic"


def _registers(instruction: Instruction, positions: tuple[int, ...], scope: SymbolScope) -> Iterator[str]:
    for position in positions:
        if position < len(instruction.operands):
            yield from registers_in(instruction.operands[position], scope)


def _operand_flow_of(match: Match) -> _OperandFlow:
    observed: set[int] = set()
    stored: set[tuple[str, int]] = set()
    values: list[tuple[int, tuple[int, ...], str]] = []
    everything = range(len(match.operands))
    acts = False
    for effect in match.effects:
        if isinstance(effect, Value):
            result = match.roles.get(effect.result)
            if result is not None:
                values.append((result, tuple(_positions(match, roles_in(effect.value))), _loaded_memory(effect.value)))
            continue
        acts = True
        written = effect.space if isinstance(effect, Access) and effect.kind != "read" else ""
        if isinstance(effect, Control) or written.startswith("param"):
            observed.update(everything)
        elif not isinstance(effect, AsyncRegisters):
            observed.update(_positions(match, _roles_of_effect(effect)))
        if written.startswith(_OWN_MEMORY):
            stored.update((_PRIVATE, position) for position in everything)
        elif written.startswith(_SHARED):
            stored.update((_SHARED, position) for position in everything)
    return _OperandFlow(acts, tuple(observed), tuple(values), tuple(stored))


def _positions(match: Match, roles: Iterable[str]) -> Iterator[int]:
    return (match.roles[role] for role in roles if role in match.roles)


def _roles_of_effect(effect: Effect) -> Iterator[str]:
    """Yields the roles that an effect names, directly or in its expressions.

    Words that are not roles may be among them.
    """
    for attribute in effect.__match_args__:
        value = getattr(effect, attribute)
        if isinstance(value, str):
            yield value
        elif isinstance(value, ConstantExpr | OperandRole | CallExpr):
            yield from roles_in(value)


def _loaded_memory(value: Expression) -> str:
    """Returns the kind of memory from which a value is loaded.

    The result is empty where the memory is not tracked, or where the value is not a load.
    """
    if not isinstance(value, CallExpr) or value.function != "load":
        return ""
    space = value.arguments[0]
    if isinstance(space, ConstantExpr) and str(space.value).startswith(_SHARED):
        return _SHARED
    return _PRIVATE if not isinstance(space, ConstantExpr) or str(space.value).startswith(_OWN_MEMORY) else ""
