"""Finds address operands whose address is of another kind than the instruction accepts.

Source: PTX ISA, "Generic Addressing", "Addresses as Operands", "cvta", "isspacep" (the window of kernel parameters is
within that of `global`), "Shared State Space" (`.shared` without a sub-qualifier is that of the executing CTA).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ptxkit.analysis.ir.match_cache import cached_by_match
from ptxkit.analysis.symexec.check_generic_window import is_truncated_generic, note_conversion
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler, ValueReader
from ptxkit.analysis.symexec.trace import WrongAddressKind
from ptxkit.analysis.values.symbolic_values import SymbolicValue, Value, value_of_lane
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import Match, OperandForm
from ptxkit.syntax.tree import Address, Name

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.group_state import GroupState

#: The state spaces that do not overlap. (Kernel parameters are part of `global`.)
_ADDRESSED_SPACES = ("shared", "global", "local", "const")
#: The state spaces of address operands that name shared memory of the executing CTA.
OWN_CTA_SPACES = ("shared", "shared::cta")
#: The name of the shared memory of another CTA, where the instruction requires that of the executing CTA.
REMOTE = "shared::cluster"


def address_space_checks(operands: OperandCompiler) -> list[Callable[[GroupState], None]]:
    """Returns a check for each address operand that is a register."""
    match = operands.step.match
    checks: list[Callable[[GroupState], None]] = []
    for form, space in address_operands(match) if match is not None else ():
        operand = operands.step.operand(form.role)
        if (
            isinstance(operand, Address)
            and isinstance(operand.base, Name)
            and not operands.is_variable_name(operand.base)
        ):
            checks.append(_check(operands, form, space, operands.reader(operand)))
    return checks


@cached_by_match
def address_operands(match: Match) -> tuple[tuple[OperandForm, str], ...]:
    """Returns the operands that are addresses in a state space named by the form, each with that space."""
    addresses = [(form, form.space.value) for form in match.operands if isinstance(form.space, ConstantExpr)]
    return tuple((form, space) for form, space in addresses if form.kind == "address" and isinstance(space, str))


def _check(
    operands: OperandCompiler, form: OperandForm, space: str, reader: ValueReader
) -> Callable[[GroupState], None]:
    step, role = operands.step, form.role
    origin_of = _mismatch_with_generic(form) if space == "generic" else _mismatch_with_space(space)

    def check(state: GroupState) -> None:
        value = value_of_lane(reader(state), state.first_active)
        if isinstance(value, SymbolicValue) and value.space is None:
            note_conversion(state, step, role, value)
        origin = origin_of(state, value)
        if origin is not None:
            found = WrongAddressKind(step, role, space, value, origin, is_certain=state.trace.first_guess is None)
            state.trace.wrong_address_kinds.setdefault((step, role), found)

    return check


def _mismatch_with_generic(form: OperandForm) -> Callable[[GroupState, Value], str | None]:
    """Returns a function that gives the actual kind of a value used as a generic address.

    The function returns None where the value may be a generic address, or is unknown.
    """
    is_shared = form.object == "mbarrier"

    def origin(state: GroupState, value: Value) -> str | None:
        if not isinstance(value, int):
            elsewhere = ("generic", "global") if not is_shared else ("generic",)
            return None if value.space is None or value.space in elsewhere else value.space
        if state.window.space_of_generic(value) != "global":
            return None
        if _is_remote(state, value):
            return REMOTE
        held = state.code.program.variable_at(value)
        return held.space if held is not None else None

    return origin


def _mismatch_with_space(space: str) -> Callable[[GroupState, Value], str | None]:
    """Returns a function that gives the actual kind of a value used as an address in a state space."""
    family = space.partition("::")[0]

    def origin(state: GroupState, value: Value) -> str | None:
        if not isinstance(value, int):
            return None if value.space in (None, family) or family not in _ADDRESSED_SPACES else value.space
        window = state.window.space_of_generic(value)
        if window != "global":
            return "generic" if (family, window) != ("global", "param") else None
        if family == "shared":
            if is_truncated_generic(state, value):
                return "generic"
            if space in OWN_CTA_SPACES and _is_remote(state, value):
                return REMOTE
        held = state.code.program.variable_at(value) if family in _ADDRESSED_SPACES else None
        return held.space if held is not None and held.space != family else None

    return origin


def _is_remote(state: GroupState, value: int) -> bool:
    """Returns whether a number is the address of a variable of another CTA of the cluster, as `mapa` returns it."""
    rank = state.window.rank_of(value)
    if rank == state.window.rank:
        return False
    held = state.code.program.variable_at(state.window.map_to_rank(value, state.window.rank))
    return held is not None and held.space == "shared"
