"""Finds accesses outside their variable: before its start, after its end, or outside all declared variables.

Where a space has several variables, the check notes each access to one of them whose operand does not name it, since
its address may be derived from another variable. Threads that exist only in some launches are checked where the others
stay within their variable.
`ptxkit.analysis.dataflow.input_independence` decides whether the address is derived from a single variable, and whether
the thread executes the access for all arguments and data.

Source: PTX ISA, "Variable Declarations", "State Spaces", "Addresses as Operands", "cp.async.bulk", "Size and alignment
of mbarrier object".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.shared_window import FIRST_ADDRESS
from ptxkit.analysis.limits import MAX_CHECKED_EXECUTIONS
from ptxkit.analysis.symexec.check_operands import count_addressing_lanes, symbol_of, variable_of
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler, ValueReader
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.analysis.values.symbolic_values import LaneValues, SymbolicValue, Value, value_of_lane
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import ConstantExpr, Expression
from ptxkit.isa.forms import Match
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.tree import Address, Name

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.group_state import GroupState

Check = Callable[["GroupState"], None]

#: The size in bytes of an mbarrier object.
_MBARRIER = 8


def bounded_spaces(program: Program) -> frozenset[str]:
    """Returns the state spaces in which the extent of all variables is known."""
    outermost = program.scope.outer
    named = outermost.variables.values() if outermost is not None else ()
    found = {v.space for v in named if v.fixed_size is not None and v.space in ("global", "const")}
    found.update(v.space for v in program.variables if v.fixed_size is not None)
    return frozenset(found)


def bound_checks(operands: OperandCompiler, spaces: frozenset[str]) -> list[Check]:
    """Returns a check for each address operand of an access of known size to one of these spaces."""
    match = operands.step.match
    if match is None or not spaces:
        return []
    collective = match.is_aligned
    checks: list[Check] = []
    for role, space, extent in accessed_ranges(match):
        size = operands.evaluator(extent)
        if size is None:
            continue
        operand = operands.step.operand(role)
        if isinstance(operand, Address) and (space == "generic" or space.partition("::")[0] in spaces):
            is_fixed = isinstance(extent, ConstantExpr)
            checks.append(_check(operands, (role, space, size), spaces, collective=collective, is_fixed=is_fixed))
    return checks


def accessed_ranges(match: Match) -> Iterator[tuple[str, str, Expression | None]]:
    """Yields (role, state space, size in bytes) of the accesses through address operands; None if it is unknown."""
    seen: set[str] = set()
    for form in match.operands:
        if form.object == "mbarrier" and isinstance(form.space, ConstantExpr):
            seen.add(form.role)
            yield form.role, str(form.space.value), ConstantExpr(_MBARRIER)
    for effect in match.effects:
        if not isinstance(effect, fx.Access) or effect.via != "address" or effect.unless is not None:
            continue
        if effect.address not in seen and effect.size is not None:
            seen.add(effect.address)
            yield effect.address, effect.space, effect.size


def _check(
    operands: OperandCompiler,
    used: tuple[str, str, ValueReader],
    spaces: frozenset[str],
    *,
    collective: bool,
    is_fixed: bool,
) -> Check:
    role, space, size = used
    step, operand = operands.step, operands.step.operand(role)
    reader, place = operands.reader(operand), f"bounds of {role}"
    base = operand.base if isinstance(operand, Address) else None
    named = operands.scope.variable(base.text) if isinstance(base, Name) else None
    lanes = count_addressing_lanes(operands, step.match, role) if step.match is not None else 1

    def check(state: GroupState) -> None:
        if state.visit >= MAX_CHECKED_EXECUTIONS or (step, place) in state.trace.operand_violations:
            return
        held, length = reader(state), value_of_lane(size(state), state.first_active)
        if not isinstance(length, int) or not length:
            return

        def values_at_ends(threads: Sequence[int]) -> list[Value]:
            if not threads or (collective and state.tids[threads[0]] % WARP_SIZE):
                return []
            if collective and isinstance(held, LaneValues) and not state.visit:
                own = [value_of_lane(held, index) for index in threads if state.tids[index] % WARP_SIZE < lanes]
                numbers = [each for each in own if isinstance(each, int)]
                return [min(numbers), max(numbers)] if len(numbers) == len(own) else list(own[:1])
            ends = [value_of_lane(held, index) for index in (threads[0], threads[-1])]
            return ends[:1] if collective or not isinstance(held, LaneValues) else ends

        def find(ends: list[Value]) -> tuple[int, DeclaredVariable | None] | None:
            found = next(filter(None, (_find_overrun(state, space, spaces, value, length) for value in ends)), None)
            return found or _find_neighbor_overrun(state, space, ends)

        def find_misplaced(ends: list[Value]) -> dict[tuple[Step, str], OperandViolation]:
            found: dict[tuple[Step, str], OperandViolation] = {}
            for end in ends:
                variable, offset = _variable_among_several(state, space, spaces, end) or (named, 0)
                if variable is not None and variable is not named:
                    misfit = OperandViolation(step, role, offset, "bounds", length, variable)
                    found.setdefault((step, f"{place} in {variable.name}"), misfit)
            return found

        of_block = values_at_ends(state.active_threads)
        if _are_in_one_variable(state, space, spaces, of_block, length, named):
            return
        is_exact = state.scenario.launch.is_exact
        present = of_block if is_exact else values_at_ends(state.guaranteed_threads)
        found = find(present)
        in_every_launch = found is not None
        if found is None and not is_exact:
            found = find(of_block)
        if found is not None:
            state.trace.depends_on_block |= not is_exact
            where, held_in = found
            is_certain = is_fixed and not state.visit and state.trace.first_guess is None
            state.trace.operand_violations[(step, place)] = OperandViolation(
                step, role, where, "bounds", length, held_in, is_certain, is_in_every_launch=in_every_launch
            )
            return
        misplaced = find_misplaced(present)
        for key, misfit in misplaced.items():
            state.trace.operand_violations.setdefault(key, misfit)
        if not is_exact:
            of_launch = misplaced if of_block == present else find_misplaced(of_block)
            state.trace.depends_on_block |= not misplaced.keys() <= of_launch.keys()
            for key, misfit in of_launch.items():
                state.trace.block_violations.setdefault(key, misfit)

    return check


def _are_in_one_variable(
    state: GroupState,
    space: str,
    spaces: frozenset[str],
    ends: list[Value],
    length: int,
    named: DeclaredVariable | None,
) -> bool:
    """Returns whether accesses at some addresses, and between these, stay within the variable that an operand names.

    If the operand names none, it is the only variable of its space.
    """
    found: DeclaredVariable | None = None
    for value in ends:
        place = _locate(state, space, spaces, value) if isinstance(value, int) else None
        held = None if place is None else variable_of(state, *place)
        if place is None or held is None or (found is not None and held[0] is not found):
            return False
        found, offset = held
        if found is not named and place[0].partition("::")[0] in state.code.program.multi_variable_spaces:
            return False
        if found.fixed_size is not None and offset + length > found.fixed_size:
            return False
    return found is not None


def _find_overrun(
    state: GroupState, space: str, spaces: frozenset[str], value: Value, length: int
) -> tuple[int, DeclaredVariable | None] | None:
    """Returns the access outside a variable, if there is one.

    The result is (the address, None) where no variable is declared at the address; (the number of bytes from its start,
    a variable) where bytes after the end of the variable that contains the address are accessed; and None where the
    access is in bounds, or this is unknown.
    """
    if isinstance(value, SymbolicValue):
        return _find_symbol_overrun(state, value, length)
    place = _locate(state, space, spaces, value)
    if place is None:
        return None
    held = variable_of(state, *place)
    if held is None:
        return place[1], None
    variable, offset = held
    if variable.fixed_size is None or offset + length <= variable.fixed_size:
        return None
    return offset, variable


def _locate(state: GroupState, space: str, spaces: frozenset[str], value: int) -> tuple[str, int] | None:
    """Returns the (state space, address in it) of an address in one of these spaces.

    The result is None where it is in no such space.
    """
    if space == "generic":
        space = state.window.space_of_generic(value)
        value = state.window.from_generic(space, value)
    elif state.window.space_of_generic(value) != "global" or state.window.truncated_offset(value) is not None:
        return None  # a generic address outside the spaces
    if space.startswith("shared"):
        value = state.window.map_to_rank(value, state.window.rank)
    family = space.partition("::")[0]
    return (space, value) if family in FIRST_ADDRESS and family in spaces else None


def _variable_among_several(
    state: GroupState, space: str, spaces: frozenset[str], value: Value
) -> tuple[DeclaredVariable, int] | None:
    """Returns the variable that contains an address, and the offset from its start, if its space has several variables.

    The address may then be derived from another variable.
    """
    place = _locate(state, space, spaces, value) if isinstance(value, int) else None
    if place is None or place[0].partition("::")[0] not in state.code.program.multi_variable_spaces:
        return None
    return variable_of(state, *place)


def _find_neighbor_overrun(state: GroupState, space: str, ends: list[Value]) -> tuple[int, DeclaredVariable] | None:
    """Returns (the number of bytes from its start, a variable) of an access beyond one of two adjacent variables.

    The addresses of the first and the last thread are in different variables. One of the two addresses is then outside
    the variable from which it is derived, if both are derived from a single one.
    """
    held = [variable_of(state, space, value) if isinstance(value, int) else None for value in ends]
    first, last = (held[0], held[-1]) if held else (None, None)
    if first is None or last is None or first[0] is last[0] or last[0].size is None:
        return None
    return last[1], last[0]


def _find_symbol_overrun(
    state: GroupState, value: SymbolicValue, length: int
) -> tuple[int, DeclaredVariable | None] | None:
    """Returns the result of `_find_overrun` for an address that is a symbol plus a constant."""
    variable, offset = symbol_of(state, value) or (None, 0)
    if variable is None or variable.fixed_size is None or value.space != variable.space:
        return None
    return None if 0 <= offset <= variable.fixed_size - length else (offset, variable)
