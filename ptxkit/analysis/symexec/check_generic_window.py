"""Finds generic addresses that are certainly in another window than their instruction accepts.

A form that may omit its state space accepts generic addresses in one of the spaces that it could name; `cvta.to`
accepts those of the space that it names, and `cvta` accepts addresses in that space. The result for any other address
is undefined.

Source: PTX ISA, "Generic Addressing", "cvta", "isspacep", and the sections of the instructions ("if no state space is
specified"; "may be used only with").
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from ptxkit.analysis.ir.match_cache import cached_by_match
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler, ValueReader
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.analysis.values.symbolic_values import GroupValue, SymbolicValue, Value, value_of_lane
from ptxkit.analysis.values.value_ops import Operation, SymbolicOps
from ptxkit.isa.effects import Access
from ptxkit.isa.expressions import CallExpr, ConstantExpr
from ptxkit.isa.forms import Form, Match
from ptxkit.isa.functions import space
from ptxkit.syntax.tree import Address

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.group_state import GroupState

#: The keys of the unknowns that result from conversions of addresses that they do not accept, each with the kind of
#: violation of an access through the result.
_REFUSED = {"outside": "window", "not in space": "source"}


def generic_window_checks(operands: OperandCompiler) -> list[Callable[[GroupState], None]]:
    """Returns a check for each generic address that must be in a certain window."""
    match = operands.step.match
    checks: list[Callable[[GroupState], None]] = []
    for role, taken in _windowed_operands(match) if match is not None else ():
        operand = operands.step.operand(role)
        if isinstance(operand, Address) and not operands.is_variable_name(operand.base):
            checks.append(_window_check(operands, role, taken))
    return checks


@cached_by_match
def _windowed_operands(match: Match) -> tuple[tuple[str, frozenset[str]], ...]:
    """Returns the roles of generic addresses that must be in certain windows, each with these windows."""
    generic = [each.role for each in match.operands if each.kind == "address" and each.space == ConstantExpr("generic")]
    return tuple((role, taken) for role in generic if (taken := allowed_windows(match, role)))


def allowed_windows(match: Match, role: str) -> frozenset[str]:
    """Returns the windows in which a generic address may be; empty where any is allowed, or nothing is specified.

    For weak loads and stores, `global` as the only space states only where a hint is useful.
    """
    accesses = [effect for effect in match.effects if isinstance(effect, Access) and effect.address == role]
    windows = allowed_spaces(match.form).get(role, frozenset())
    if windows == {"global"} and any(e.order == "weak" and e.via == "address" for e in accesses):
        return frozenset()
    return windows if accesses else frozenset()


@cache
def allowed_spaces(form: Form) -> dict[str, frozenset[str]]:
    """Returns, by role, the state spaces, without sub-qualifiers, that a form may name for an address operand."""
    named = {modifier.name: modifier.values for modifier in form.modifiers}
    found: dict[str, frozenset[str]] = {}
    for operand in form.operands:
        given = operand.space
        if (
            isinstance(given, CallExpr)
            and given.function == "modifier"
            and isinstance(given.arguments[0], ConstantExpr)
        ):
            values = named.get(str(given.arguments[0].value), ())
            found[operand.role] = frozenset(space(value).partition("::")[0] for value in values)
    return found


def _window_check(operands: OperandCompiler, role: str, taken: frozenset[str]) -> Callable[[GroupState], None]:
    step, reader = operands.step, operands.reader(operands.step.operand(role))

    def check(state: GroupState) -> None:
        value = value_of_lane(reader(state), state.first_active)
        window = _window_of(state, value)
        if window is not None and window not in taken:
            offset = value if isinstance(value, int) else value.offset
            misfit = OperandViolation(step, role, offset, "window", 0, rule=f"in .{window}")
            state.trace.operand_violations.setdefault((step, f"window of {role}"), misfit)

    return check


def note_conversion(state: GroupState, step: Step, role: str, value: SymbolicValue) -> None:
    """Records an access through the result of converting an address that the conversion does not accept."""
    refusal = _refusal(state, value)
    if refusal is not None:
        kind, conversion, window = refusal
        misfit = OperandViolation(step, role, 0, kind, 0, rule=window, other=conversion)
        state.trace.operand_violations.setdefault((step, f"window of {role}"), misfit)


def _refusal(state: GroupState, value: SymbolicValue) -> tuple[str, Step, str] | None:
    """Returns (kind of violation, conversion, actual window) of the result of a conversion that does not accept its
    source; None for other values.
    """
    match state.symbolic_values.key_of(value):
        case (str(key), Step() as conversion, str(window)) if key in _REFUSED:
            return _REFUSED[key], conversion, window
    return None


def from_generic(operands: OperandCompiler, call: CallExpr) -> ValueReader:
    """Returns a reader of the address in a state space of a generic one.

    The result is a fresh unknown if the generic address is certainly in another space.
    """
    return _conversion_reader(operands, call, SymbolicOps.op_from_generic, "outside", _other_window)


def to_generic(operands: OperandCompiler, call: CallExpr) -> ValueReader:
    """Returns a reader of the generic address of an address in a state space.

    The result is a fresh unknown if the address is certainly in another space, or is a generic address.
    """
    return _conversion_reader(operands, call, SymbolicOps.op_to_generic, "not in space", _other_kind)


def _conversion_reader(
    operands: OperandCompiler,
    call: CallExpr,
    operation: Operation,
    key: str,
    fault_of: Callable[[GroupState, Value, str], str | None],
) -> ValueReader:
    """Returns a reader of a converted address, and of a fresh unknown if the conversion does not accept the address.

    key: of that unknown. fault_of: describes such an address, given the state space of the conversion.
    """
    first, source = call.arguments
    name = str(first.value) if isinstance(first, ConstantExpr) else "generic"
    family, step = name.partition("::")[0], operands.step
    reader = operands.evaluator(source) or (lambda state: state.fresh_symbol("absent operand"))

    def convert(state: GroupState) -> GroupValue:
        held = reader(state)
        first_held = value_of_lane(held, state.first_active)
        if isinstance(first_held, SymbolicValue) and _refusal(state, first_held) is not None:
            return held  # what an earlier conversion did not accept is no address in any space
        fault = fault_of(state, first_held, family)
        if fault is not None:
            return state.symbolic_values.intern((key, step, fault))
        return state.operations.apply(operation, name, held)

    return convert


def _other_window(state: GroupState, value: Value, family: str) -> str | None:
    """Describes the window of an address that is converted to another space; None where it may be in that space.

    Kernel parameters are in `global`, so that nothing is known about addresses there.
    """
    if family == "param":
        return None
    window = _window_of(state, value)
    if window is not None:
        return None if window == family else f"in .{window}"
    held = state.code.program.variable_at(value) if isinstance(value, int) and family != "global" else None
    return f"an offset in .{held.space}" if held is not None else None


def _other_kind(state: GroupState, value: Value, family: str) -> str | None:
    """Describes an address that is converted to a generic one, but is not in `family`; None where it may be there.

    An address in `global` is its own generic address, so `cvta.global` accepts each generic address that may be there.
    """
    if family == "global":
        window = _window_of(state, value)
        return f"in .{window}" if window not in (None, "global") else None
    if isinstance(value, int):
        if state.window.space_of_generic(value) != "global" or is_truncated_generic(state, value):
            return "generic"
        held = state.code.program.variable_at(value)
        space = held.space if held is not None else family
    else:
        space = value.space or family
    if space == family:
        return None
    return space if space == "generic" else f"in .{space}"


def is_truncated_generic(state: GroupState, value: int) -> bool:
    """Returns whether a number has the lower bits of the generic address of a shared variable."""
    offset = state.window.truncated_offset(value)
    return offset is not None and state.code.program.variable_at(offset) is not None


def _window_of(state: GroupState, value: Value) -> str | None:
    """Returns the window that certainly contains a generic address; None where it is unknown.

    Kernel parameters are in `global`. A number outside every window may be an integer argument of the kernel.
    """
    if isinstance(value, int):
        window = state.window.space_of_generic(value)
        return "global" if window == "param" else window if window != "global" else None
    if value.space == "global":
        return "global"
    match state.symbolic_values.key_of(value):
        case ("variable", "const", _) if value.space == "generic":
            return "const"
    return None
