"""Selection of the form of the instruction table that a method's name and its operands denote.

Among the forms that the name may denote, those that accept the given values remain. The form nearest in type is
selected, and among equals the one that needs the lowest target. A selection is cached by the properties of the operands
that determine it, and saved for later processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, TypeAlias, cast

from ptxkit.build.addresses import Address
from ptxkit.build.errors import BuildAttributeError, BuildError, BuildTypeError, IncompleteNameError
from ptxkit.build.instruction_docs import describe_inputs
from ptxkit.build.limits import MAX_CACHED_SELECTIONS
from ptxkit.build.method_names import (
    MissingModifierError,
    OperandHints,
    count_implied_words,
    enumerate_opcodes,
    find_expected_words,
    find_readings,
    to_name_part,
)
from ptxkit.build.operand_assignment import FormRejection, OperandAssignment, OperandPart, assign_operands
from ptxkit.build.registers import Register
from ptxkit.build.target_inference import generality_key, infer_lowest_target
from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.isa.table import Mismatch
from ptxkit.syntax import tree

_Selection: TypeAlias = tuple[Match, tuple[OperandPart, ...]]

_SELECTIONS: dict[tuple[object, ...], OperandAssignment] = {}
"""Selections, by the name and the properties of the operands."""


def select_form(name: str, operands: tuple[object, ...], keywords: dict[str, str | bool]) -> _Selection:
    """Returns the nearest form with its operands assigned. Operands with equal properties use the cached selection."""
    equal = _selection_key(operands)
    key = None if equal is None else (name, equal, *keywords.items())
    known = None if key is None else _SELECTIONS.get(key)
    if known is not None:
        return known.match, known.with_operands(operands)
    before = None if key is None else table().stored_choice(key)
    again = None if before is None else assign_operands(before, operands)
    found = again if isinstance(again, OperandAssignment) else _find_nearest_form(name, operands, keywords)
    _cache_selection(key, found)
    return found.match, found.parts


def select_explicit_form(opcode: str, operands: tuple[object, ...]) -> _Selection:
    """Returns the form of an opcode that is written in full, with its operands assigned."""
    equal = _selection_key(operands)
    key = None if equal is None else ("emit", opcode, equal)
    known = None if key is None else _SELECTIONS.get(key)
    if known is not None:
        return known.match, known.with_operands(operands)
    candidates = table().candidates(opcode)
    if not candidates:
        mismatch = table().match(tree.Instruction(opcode))
        raise BuildError(str(mismatch.message) if isinstance(mismatch, Mismatch) else f"`{opcode}` is unknown")
    tried = [assign_operands(match, operands, results_given=True) for match in candidates]
    fitting = [found for found in tried if isinstance(found, OperandAssignment)]
    if not fitting:
        raise BuildTypeError(
            _explain_rejections(opcode, [found for found in tried if isinstance(found, FormRejection)])
        )
    best = min(fitting, key=lambda found: found.distance)
    _cache_selection(key, best)
    return best.match, best.parts


def save_selections() -> None:
    """Saves the selections of this process for later ones."""
    table().store_choices({key: found.match for key, found in _SELECTIONS.items()})


def _cache_selection(key: tuple[object, ...] | None, found: OperandAssignment) -> None:
    if key is not None:
        if len(_SELECTIONS) >= MAX_CACHED_SELECTIONS:
            _SELECTIONS.clear()
        _SELECTIONS[key] = found


def _selection_key(operand: object) -> object:
    """Returns the properties of an operand that determine the form, or None if they are not known."""
    if isinstance(operand, Register):
        return operand.type.word
    if isinstance(operand, Address):
        return type(operand).__name__, operand.type.word, operand.alignment
    kind = type(operand)
    if kind is int or kind is bool:
        return kind.__name__, operand
    if kind is float:
        return "float", cast("float", operand).hex()  # 0.0 and -0.0 compare equal, and are different constants
    if kind is tuple or kind is list:
        some = cast("Sequence[object]", operand)
        parts = tuple([each.type.word if type(each) is Register else _selection_key(each) for each in some])
        return None if None in parts else parts
    return None


def _find_nearest_form(name: str, operands: tuple[object, ...], keywords: dict[str, str | bool]) -> OperandAssignment:
    """Returns the nearest form: same types first, then the fewest implied modifiers, then the lowest target."""
    meant = find_readings(name)
    if not meant:
        raise BuildAttributeError(unknown_name_message(name))
    hints = _collect_hints(operands)
    fitting: list[tuple[tuple[object, ...], OperandAssignment, int]] = []
    rejected: list[tuple[FormRejection, int]] = []
    unsaid: list[MissingModifierError] = []
    untyped = False
    for reading in meant:
        known = {slot.name for slot in reading.form.modifiers}
        if not keywords.keys() <= known:
            continue
        try:
            opcodes = list(enumerate_opcodes(reading, keywords, hints))
            untyped |= not opcodes
            for match, far in _find_nearest_matches(opcodes):
                found = assign_operands(match, operands)
                if isinstance(found, FormRejection):
                    rejected.append((found, far))
                else:
                    fitting.append((_ranking_key(found, far, count_implied_words(reading)), found, far))
        except MissingModifierError as missing:
            unsaid.append(missing)
    if untyped and not hints.types and all(guesses for *_, guesses in fitting):
        raise BuildTypeError(f"the operands of {name} do not determine its type; write it in the name")
    if fitting:
        return min(fitting, key=lambda each: each[0])[1]
    reasons = [each for each, far in rejected if not (untyped and far)]
    if untyped and all(each.progress <= 0 for each in reasons):
        reasons = []  # rejections by forms of other types do not explain the error
    if unsaid and not reasons:
        choices = [to_name_part(value) for value in unsaid[0].slot.values]
        raise IncompleteNameError(f"{name} is incomplete: its name includes one of {', '.join(choices)}", choices)
    raise BuildTypeError(_rejection_message(name, reasons, keywords, hints))


def _find_nearest_matches(opcodes: list[tuple[str, int]]) -> list[tuple[Match, int]]:
    """Returns the forms of those opcodes that exist and are nearest to the operands' types: a form for `u32` is
    preferred to one for `b32`.
    """
    found = [(match, far) for opcode, far in opcodes for match in table().candidates(opcode)]
    nearest = min((far for _, far in found), default=0)
    return [(match, far) for match, far in found if far == nearest]


def _ranking_key(found: OperandAssignment, far: int, unsaid: int) -> tuple[object, ...]:
    """Returns the key by which forms that fit are ordered; the form with the least key is selected.

    A form with fewer implied modifiers is preferred to one for a lower target, because an implied modifier can change
    the meaning: an arrival with `.noComplete` must not complete the phase.
    """
    odd = bool(found.match.tolerated)
    try:
        version, target = infer_lowest_target(found.match.gates)
    except ValueError:
        return (odd, found.distance + far, unsaid, 1)
    return (
        *(odd, found.distance + far, unsaid, 0),
        generality_key(target),
        version,
        found.match.canonical.count("."),
        found.match.canonical,
    )


def _collect_hints(operands: tuple[object, ...]) -> OperandHints:
    """Returns what the values imply: a type that the name lacks is that of an address's elements, else that of a
    register.
    """
    tuples = [operand for operand in operands if isinstance(operand, tuple | list)]
    flat = [value for operand in operands for value in (operand if isinstance(operand, tuple | list) else (operand,))]
    addresses: list[Register[Any] | Address[Any]] = [value for value in flat if isinstance(value, Address)]
    typed = addresses or [value for value in flat if isinstance(value, Register)]
    words = dict.fromkeys(value.type.word for value in typed)
    return OperandHints(tuple(words), tuple(dict.fromkeys(len(each) for each in tuples)))


# ------------------------------------------------------------------------------------------------- messages


def unknown_name_message(name: str) -> str:
    head, _, rest = name.rstrip("_").partition("_")
    forms = table().forms(head)
    if not forms:
        near = get_close_matches(head, table().names, n=1)
        return f"no attribute and no instruction is called {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
    words = find_expected_words(name)
    near = get_close_matches(rest, words, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; one of {', '.join(words[:12])} is wanted" if words else ""
    return f"no form of `{head}` can be written {name!r}{hint}"


def _rejection_message(
    name: str,
    rejected: list[FormRejection],
    keywords: dict[str, str | bool],
    hints: OperandHints,
) -> str:
    if rejected:
        return _explain_rejections(name, rejected)
    if not hints.types:
        return f"no form of {name} has the modifiers {', '.join(keywords)}"
    names = (f"{name.rstrip('_')}_{word}" for word in find_expected_words(name))
    longer = ", ".join([each for each in names if _has_form(each, hints)][:12])
    types = " or ".join(f".{word}" for word in hints.types)
    return f"no form of {name} is for {types}" + (f"; there is {longer}" if longer else "")


def _has_form(name: str, hints: OperandHints) -> bool:
    """Returns whether a name denotes a form for some types, or for those of the operands."""
    for reading in find_readings(name):
        try:
            if any(table().candidates(opcode) for opcode, _ in enumerate_opcodes(reading, {}, hints)):
                return True
        except MissingModifierError:
            return True
    return False


def _explain_rejections(name: str, rejected: list[FormRejection]) -> str:
    best = max(rejected, key=lambda each: (each.progress, not each.wants_generic))
    return f"{name}: {best.reason}\n    operands: {describe_inputs(best.match)}"
