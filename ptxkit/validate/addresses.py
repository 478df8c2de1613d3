"""Checks whether a symbol is allowed as an operand: its state space against the form's, and operands that are not
addresses.

ptxas compares the state space of a *symbol* with that of the instruction, and checks nothing else: offsets may have any
size, sign and alignment, and an access may extend beyond the symbol's end. Registers of 16, 32 and 64 bits can all hold
addresses.

Source: PTX ISA, "Addresses as Operands", "Using Addresses, Arrays, and Vectors", "Generic Addressing".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import operand_reasons
from ptxkit.isa.effects import Access, Control
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import Match, OperandForm
from ptxkit.semantics.symbols import (
    ARGUMENT,
    BRANCH_TARGETS,
    ENTRY,
    FUNCTION,
    INPUT,
    KERNEL_PARAMETER,
    LABEL,
    OUTPUT,
    PARAMETERS,
    is_code,
    is_symbol,
)
from ptxkit.validate.typed_operands import (
    ELEMENT,
    TypedAddress,
    TypedConstant,
    TypedElement,
    TypedName,
    TypedOperand,
    TypedSpecial,
    TypedSum,
    UntypedOperand,
    inner_operands,
)
from ptxkit.validate.typed_scope import UNKNOWN
from ptxkit.validate.typed_shapes import OPAQUE

_GENERIC = frozenset({"&global", "&shared", "&local", "&texref", "&surfref", "&samplerref"})
_REFERENCES = {"texture": "texref", "surface": "surfref", "sampler": "samplerref"}

_FOREIGN = {"param::entry": frozenset({ARGUMENT}), "param::func": frozenset({KERNEL_PARAMETER})}
"""The parameters that a qualifier of the parameter space excludes; after `::func` only a name is allowed."""

_OVERLOOKED_ARRAY = "overlooked_array"

_LABELS = {
    "branch": (frozenset({LABEL, UNKNOWN}), operand_reasons.MUST_BE_LABEL),
    "branch_indexed": (frozenset({BRANCH_TARGETS, UNKNOWN}), operand_reasons.MUST_BE_LIST_LABEL),
}
"""The operand of a form with a label, by the kind of control flow; a call checks its list itself."""


def find_misplaced(match: Match, typed: tuple[TypedOperand, ...]) -> tuple[int, Message, str] | None:
    """Returns the first operand whose symbol is not allowed there, with tolerated ones last, or None.

    The result is its index, a message with the valid operands, and the name of the tolerance with which an assembler
    accepts it, or an empty text. typed: the shapes of the operands, which fit the form.
    """
    taken: tuple[int, Message, str] | None = None
    for found in _find_all_misplaced(match, typed):
        if not found[2]:
            return found
        taken = taken or found
    return taken


def _find_all_misplaced(match: Match, typed: tuple[TypedOperand, ...]) -> Iterator[tuple[int, Message, str]]:
    """Yields every operand whose symbol is not allowed there, in the form of `find_misplaced`."""
    uses: dict[str, str] | None = None
    for index, (operand, shape) in enumerate(zip(match.operands, typed, strict=True)):
        if operand.kind == "register" and not operand.symbol:
            continue
        uses = _operand_uses(match) if uses is None else uses
        for form, part in _parts(operand, shape):
            if form.kind == "address" and _is_foreign(part, match):
                overlooked = _OVERLOOKED_ARRAY if isinstance(part, TypedElement) else ""
                yield index, operand_reasons.MUST_BE_QUALIFIED_PARAMETER(), overlooked
                continue
            wrong = _misplacement(form, part, uses.get(form.role))
            if wrong is not None:
                yield index, wrong, _misplacement_tolerance(form, part)


def _operand_uses(match: Match) -> dict[str, str]:
    """Returns the use of each operand that is an address or a code location: `read`, `write`, `branch`..., by role."""
    uses = {effect.address: effect.kind for effect in match.effects if isinstance(effect, Access)}
    return uses | {
        effect.target: effect.kind for effect in match.effects if isinstance(effect, Control) and effect.target
    }


def _misplacement_tolerance(form: OperandForm, shape: TypedOperand) -> str:
    """Returns the tolerance with which an assembler accepts a misplaced symbol, or an empty text.

    Assemblers do not check what `array[3]` is part of, nor `parameter+4` for a value; and in most instructions they
    treat an opaque reference as an address, in any state space.
    """
    match shape:
        case TypedElement(TypedName(found)):
            space = _space_of(form) if form.kind == "address" or form.space is not None else None
            if found in PARAMETERS:
                return _OVERLOOKED_ARRAY if space in ("param", None) else ""
            is_home = space is None or _wrong_space(space, found) is None
            return _OVERLOOKED_ARRAY if found in OPAQUE and is_home else ""
        case TypedAddress(TypedName(found), is_array=is_array) if found in OPAQUE and form.object not in _REFERENCES:
            if is_array:
                return "" if _wrong_space(_space_of(form), found) else _OVERLOOKED_ARRAY
            return "" if _sees_opaque(form) else "opaque_as_data"
        case TypedSum(TypedName(found)) if form.kind == "register" and found == ARGUMENT:
            return _OVERLOOKED_ARRAY
    return ""


def _sees_opaque(form: OperandForm) -> bool:
    """Returns whether an assembler detects that an opaque reference is not an address of data: if it moves the address
    to a register first, or requires a symbol of a certain state space.
    """
    if form.symbols is not None and not form.data:
        return _wrong_space(_space_of(form), "&texref") is not None
    return form.data or (form.wide and not form.opaque)


def outgoing_parameter(match: Match, typed: tuple[TypedOperand, ...]) -> int | None:
    """Returns the index of the address of a `.param` variable of this body, or None if none exists."""
    for index, (operand, shape) in enumerate(zip(match.operands, typed, strict=True)):
        match shape:
            case TypedAddress(TypedName(found)) | TypedElement(TypedName(found)):
                if operand.kind == "address" and found == ARGUMENT:
                    return index
    return None


def _is_foreign(shape: TypedOperand, match: Match) -> bool:
    """Returns whether the qualifier of the parameter space excludes the base of an address."""
    qualifier = next((value for value in match.modifiers.values() if value in _FOREIGN), None)
    if qualifier is None:
        return False
    match shape:
        case TypedAddress((TypedName() | TypedSpecial()) as base) | TypedElement(
            (TypedName() | TypedSpecial()) as base
        ):
            kind = base.type
            return kind in _FOREIGN[qualifier] or (
                qualifier == "param::func" and not is_symbol(kind) and kind != UNKNOWN
            )
    return False


def _parts(operand: OperandForm, shape: TypedOperand) -> Iterator[tuple[OperandForm, TypedOperand]]:
    """Yields an operand form with its shape, and those inside an address, vector or pair."""
    yield operand, shape
    inner = inner_operands(shape)
    if operand.elements and inner:
        yield from zip(operand.elements, inner, strict=True)


def _misplacement(form: OperandForm, shape: TypedOperand, use: str | None) -> Message | None:
    if isinstance(shape, UntypedOperand):
        return None
    if form.kind == "label" and use in _LABELS:
        allowed, template = _LABELS[use]
        return None if isinstance(shape, TypedName) and shape.type in allowed else template()
    if form.kind in _REFERENCES:  # if there are two, an assembler does not check which one is declared as a texture
        is_same = form.kind == "texture" and shape == TypedName("&surfref")
        return None if is_same else _wrong_reference(form.kind, shape)
    if form.kind == "address" and isinstance(shape, TypedAddress):
        return _wrong_address(form, shape, use)
    if form.kind == "address" and isinstance(shape, TypedElement):
        return _wrong_address(form, TypedAddress(shape.array), use)
    match shape:
        case TypedName(kind) | TypedSum(TypedName(kind)) | TypedElement(TypedName(kind)) if is_symbol(kind):
            if form.kind == "register" and form.symbol:
                return _wrong_symbol(form, kind, is_sum=isinstance(shape, TypedSum))
            if form.kind == "address" and (kind not in OPAQUE or form.wide) and not is_code(kind):
                return _wrong_space(_space_of(form), kind)  # without brackets, which some forms tolerate
    return None


def _space_of(form: OperandForm) -> str:
    """Returns the state space of a symbol, without `::cta` and similar suffixes, or `generic` if the form has none."""
    named = form.symbols if form.symbols is not None else form.space
    space = named.value if isinstance(named, ConstantExpr) else None
    return str(space).partition("::")[0] if space is not None else "generic"


def _wrong_reference(thing: str, base: TypedOperand, *, is_moved: bool = False) -> Message | None:
    """Returns the error in the variable or handle of a texture, surface or sampler, or None.

    is_moved: an offset is added to it.
    """
    if not isinstance(base, TypedName) or is_moved or base.part:
        return operand_reasons.MUST_BE_REFERENCE_ALONE(kind=thing)
    if base.type in (f"&{_REFERENCES[thing]}", "b64", "u64", "s64", UNKNOWN):
        return None
    return operand_reasons.MUST_BE_REFERENCE(kind=_REFERENCES[thing])


def _wrong_address(form: OperandForm, shape: TypedAddress, access: str | None) -> Message | None:
    base = shape.base
    if form.object in _REFERENCES:
        return _wrong_reference(form.object, base, is_moved=shape.has_offset)
    if form.lax and base != TypedName(ELEMENT):
        return None
    space = _space_of(form)
    if isinstance(base, TypedConstant | UntypedOperand):
        return None if space == "local" else operand_reasons.CONSTANT_ADDRESS()
    if not isinstance(base, TypedName):
        return None
    kind = base.type
    if kind == ELEMENT:
        return operand_reasons.ADDRESS_IS_VECTOR_ELEMENT()
    if not is_symbol(kind):
        return None
    if is_code(kind):
        return operand_reasons.MUST_BE_DATA_ADDRESS()
    if form.in_register:
        return operand_reasons.MUST_BE_ADDRESS_IN_REGISTER()
    if space == "param" and kind in PARAMETERS:
        return _wrong_parameter(kind, access)
    outside = _wrong_space(space, kind)
    if kind not in OPAQUE:
        return outside
    is_seen = not shape.is_array and _sees_opaque(form)
    return operand_reasons.OPAQUE_NOT_ACCESSED() if access is not None or is_seen else outside


def _wrong_space(space: str, kind: str) -> Message | None:
    """Returns the error in a variable of that class if a symbol in `space` is required, or None."""
    if space == "any" or kind == f"&{space}" or (space == "global" and kind in OPAQUE):
        return None
    if space == "generic":
        return None if kind in _GENERIC else operand_reasons.MUST_BE_GENERIC()
    return operand_reasons.MUST_BE_IN_SPACE(space=space)


def _wrong_parameter(kind: str, access: str | None) -> Message | None:
    if access == "write" and kind in (KERNEL_PARAMETER, INPUT):
        return operand_reasons.MUST_BE_WRITABLE_PARAMETER()
    if access == "read" and kind == OUTPUT:
        return operand_reasons.MUST_BE_READABLE_PARAMETER()
    if access is None and kind == ARGUMENT:
        return operand_reasons.MUST_BE_ADDRESSABLE_PARAMETER()
    return None


def _wrong_symbol(form: OperandForm, kind: str, *, is_sum: bool) -> Message | None:
    """Returns the error in a symbol that denotes its own address, possibly plus a constant, or None; its type is
    valid.
    """
    if kind == ARGUMENT:
        return operand_reasons.MUST_BE_ADDRESSABLE_VARIABLE()
    if is_code(kind):
        if kind in (FUNCTION, ENTRY) or is_sum:
            return None
        return operand_reasons.LABEL_HAS_NO_ADDRESS()
    wanted = form.type.value if isinstance(form.type, ConstantExpr) else None
    if kind in OPAQUE and wanted != "u64" and not is_sum:
        return operand_reasons.OPAQUE_ADDRESS_IS_U64()
    if form.space is None:
        return None
    space = _space_of(form)
    return None if space == "param" and kind in PARAMETERS else _wrong_space(space, kind)
