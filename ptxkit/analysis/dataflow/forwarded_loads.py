"""Finds loads that read what the same thread has just stored, as code does that spills a register.

The store and the load name the same register or variable with the same constant and have the same size; they are in one
basic block, with one guard. Nothing between them changes the registers, orders memory, or stores to an address that may
be in the same state space, shared or local. A store of another thread to the same bytes of shared memory would be a
data race, because nothing orders it between the two. So the load returns the stored register.

Source: PTX ISA, "Causality Order", "Conflict and Data-races".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Effect, Value
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.syntax.tree import Address, Name

#: The state spaces in which loads are examined, with the names of the operands of accesses to them.
_SPACES = {"shared": ("shared", "shared::cta"), "local": ("local",)}


@dataclass(frozen=True, slots=True)
class _ScalarAccess:
    """A plain access of one register: the place as text, the size in bytes, and the register."""

    base: str
    offset: int
    size: int
    register: Name


def forwarded_loads(program: Program) -> Mapping[Step, Name]:
    """Returns the register that each such load returns; for `Program.analysis`."""
    return {step: name for space in _SPACES for step, name in _loads_from(program, space)}


def _loads_from(program: Program, space: str) -> Iterator[tuple[Step, Name]]:
    """Yields the loads from one state space."""
    pending: tuple[Step, _ScalarAccess] | None = None
    for step in program.own_effectful_steps:
        if step.match is None or not all(map(_is_harmless, step.effects)):
            pending = None
            continue
        effects = [each for each in step.effects if isinstance(each, Access) and _may_be_in(space, each)]
        own = _scalar_access(step, effects[0], space) if len(effects) == 1 else None
        if any(each.kind != "read" for each in effects):
            pending = None if own is None else (step, own)
        elif own is not None and pending is not None:
            store, stored = pending
            is_same_place = (own.base, own.offset, own.size) == (stored.base, stored.offset, stored.size)
            if is_same_place and _is_straight(program, store, step, stored):
                yield step, stored.register


def _is_harmless(effect: Effect) -> bool:
    """Returns whether an effect neither orders memory nor changes control."""
    if isinstance(effect, Value):
        return True
    return isinstance(effect, Access) and (effect.order, effect.proxy, effect.completion) == ("weak", "generic", None)


def _may_be_in(space: str, effect: Access) -> bool:
    return effect.space.partition("::")[0] in (space, "generic")


def _scalar_access(step: Step, effect: Access, space: str) -> _ScalarAccess | None:
    """Returns the access of an instruction that loads or stores one register of the size of the access."""
    operands, size = step.instruction.operands, effect.size
    address = step.operand(effect.address)
    others = [each for each in operands if each is not address]
    if effect.space not in _SPACES[space] or effect.kind == "update" or len(others) != 1:
        return None
    match others[0], address, size:
        case Name(text=text) as register, Address(base=Name(text=base), offset=offset, index=()), ConstantExpr(
            value=int(amount)
        ):
            binding = step.scope.find(text)
            if binding is None or not binding.is_register or not binding.kind.endswith(str(8 * amount)):
                return None
            return _ScalarAccess(step.scope.register_name(base), offset, amount, register)
    return None


def _is_straight(program: Program, store: Step, load: Step, stored: _ScalarAccess) -> bool:
    """Returns whether the same threads execute both instructions, one after the other, with the same registers."""
    graph, register = program.analysis(ControlFlowGraph), store.scope.register_name(stored.register.text)
    if (
        store.instruction.guard != load.instruction.guard
        or graph.block_of(store) != graph.block_of(load)
        or load.scope.register_name(stored.register.text) != register
    ):
        return False
    used = {stored.base, register, *guard_registers(store)}
    between = program.steps[store.index + 1 : load.index]
    return used.isdisjoint(written for step in between for written in step.result_registers())
