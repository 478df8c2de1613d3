"""Finds copies by a thread itself: it stores to shared memory, unchanged, what it loaded from global memory.

Kernels use such copies instead of asynchronous ones where addresses, sizes or the target do not permit these. Data flow
decides: the stored value was loaded, and after that only moved, packed or unpacked.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.ir.data_movement import DataMovement
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.analysis.limits import MAX_MOVE_CHAIN
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Value
from ptxkit.isa.expressions import CallExpr, OperandRole
from ptxkit.model.transfer import Unit

#: The value operations that do not change the bytes.
_MOVE_FUNCTIONS = ("copy", "pack", "unpack")
#: The completion mechanism of a store, which needs none.
IMMEDIATE = "at once"
_LOAD_SPACES = ("global", "generic")
_STORE_SPACES = ("shared::cta", "shared::cluster", "generic")


@dataclass(frozen=True, slots=True)
class PlainCopy:
    """A store, the loads from which its bytes come, and the data movement.

    The state spaces of the movement may be `generic`; then only executions show them.
    """

    store: Step
    loads: tuple[Step, ...]
    movement: DataMovement


def find_plain_copies(program: Program) -> Iterator[PlainCopy]:
    """Yields the stores to shared or generic memory of values that were loaded from global or generic memory."""
    for step in program.steps:
        access = _sole_access(step, "write", _STORE_SPACES)
        if access is None:
            continue
        loads = _source_loads(program.analysis(ReachingDefinitions), step, access)
        if loads:
            spaces = {found.space for load in loads if (found := _sole_access(load, "read", _LOAD_SPACES)) is not None}
            source = spaces.pop() if len(spaces) == 1 else "generic"
            route = DataMovement("copy", source, access.space, Unit.PLAIN, access, access.size, completion=IMMEDIATE)
            yield PlainCopy(step, tuple(sorted(loads, key=lambda load: load.index)), route)


def _sole_access(step: Step, kind: str, spaces: tuple[str, ...]) -> Access | None:
    """Returns the access of an instruction if it is its only access to memory and is synchronous."""
    accesses = [effect for effect in step.effects if isinstance(effect, Access)]
    if len(accesses) != 1:
        return None
    (access,) = accesses
    at_once = access.completion is None and access.proxy == "generic" and access.via == "address"
    return access if at_once and access.kind == kind and access.space in spaces else None


def _source_loads(definitions: ReachingDefinitions, store: Step, access: Access) -> set[Step]:
    """Returns the loads from which everything that a store writes comes; none where a part does not come from loads."""
    match = store.match
    address = match.roles.get(access.address) if match is not None else None
    stored = [
        register
        for position, operand in enumerate(store.instruction.operands)
        if position != address
        for register in registers_in(operand, store.scope)
    ]
    waiting = [(store, register, 0) for register in stored]
    loads: set[Step] = set()
    while waiting:
        step, register, moves = waiting.pop()
        before = definitions.definitions_reaching(step, register)
        if not before or moves > MAX_MOVE_CHAIN:
            return set()
        for definition in before:
            if _sole_access(definition, "read", _LOAD_SPACES) is not None:
                loads.add(definition)
                continue
            sources = _moved_registers(definition)
            if not sources:
                return set()
            waiting.extend((definition, source, moves + 1) for source in sources)
    return loads


def _moved_registers(step: Step) -> list[str]:
    """Returns the registers whose bytes an instruction only moves; none where it does anything else."""
    registers: list[str] = []
    for effect in step.effects:
        if not isinstance(effect, Value):
            return []
        value = effect.value
        if not isinstance(value, CallExpr) or value.function not in _MOVE_FUNCTIONS:
            return []
        roles = [argument.name for argument in value.arguments if isinstance(argument, OperandRole)]
        for role in roles:
            registers.extend(registers_in(step.operand(role), step.scope))
    return registers
