"""Whether a symbol is allowed where it is: its state space against the form's, and what is no address at all.

ptxas holds the space of a *symbol* to that of the instruction, and nothing else: offsets may be of any size, sign and
alignment, and an access may pass the symbol's end. Registers of 16, 32 and 64 bits can all hold addresses.

Source: PTX ISA, "Addresses as Operands", "Using Addresses, Arrays, and Vectors", "Generic Addressing".
"""

from __future__ import annotations

from collections.abc import Iterator

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
from ptxkit.validate.typed_scope import UNKNOWN
from ptxkit.validate.typed_shapes import ARRAY, ELEMENT, OPAQUE, TypedShape

_GENERIC = frozenset({"&global", "&shared", "&local", "&texref", "&surfref", "&samplerref"})
_REFERENCES = {"texture": "texref", "surface": "surfref", "sampler": "samplerref"}

_FOREIGN = {"param::entry": frozenset({ARGUMENT}), "param::func": frozenset({KERNEL_PARAMETER})}
"""The parameters that a qualifier of the parameter space shuts out; after `::func` only a name is allowed."""

_OVERLOOKED_ARRAY = "overlooked_array"

_IS_OPAQUE = "is an opaque reference, which cannot be read or written"

_LABELS = {
    "branch": (frozenset({LABEL, UNKNOWN}), "a label of this function"),
    "branch_indexed": (frozenset({BRANCH_TARGETS, UNKNOWN}), "the label of a `.branchtargets` list above it"),
}
"""What is written where a form has a label, by the kind of control; a call looks at its list itself."""


def find_misplaced(match: Match, typed: tuple[TypedShape, ...]) -> tuple[int, str, str] | None:
    """The first operand whose symbol is not allowed there, tolerated ones last: its index, what would be right, and the
    tolerance by which an assembler takes it, empty where it does not. None: there is none.

    typed: the shapes of the operands; they are known to fit the form.
    """
    taken: tuple[int, str, str] | None = None
    for found in _find_all_misplaced(match, typed):
        if not found[2]:
            return found
        taken = taken or found
    return taken


def _find_all_misplaced(match: Match, typed: tuple[TypedShape, ...]) -> Iterator[tuple[int, str, str]]:
    """Every operand whose symbol is not allowed there, as `misplaced` gives the first."""
    uses: dict[str, str] | None = None
    for index, (operand, shape) in enumerate(zip(match.operands, typed, strict=True)):
        if operand.kind == "register" and not operand.symbol:
            continue
        uses = _operand_uses(match) if uses is None else uses
        for form, part in _parts(operand, shape):
            if form.kind == "address" and isinstance(part, tuple) and _is_foreign(part[1], match):
                overlooked = _OVERLOOKED_ARRAY if part[0] == "e" else ""
                yield index, "must be a parameter of the kind that the state space names", overlooked
                continue
            wrong = _misplacement(form, part, uses.get(form.role))
            if wrong is not None:
                yield index, wrong, _misplacement_tolerance(form, part)


def _operand_uses(match: Match) -> dict[str, str]:
    """What becomes of each operand that is an address or a place in the code: `read`, `write`, `branch`..., by role."""
    uses = {effect.address: effect.kind for effect in match.effects if isinstance(effect, Access)}
    return uses | {
        effect.target: effect.kind for effect in match.effects if isinstance(effect, Control) and effect.target
    }


def _misplacement_tolerance(form: OperandForm, shape: TypedShape) -> str:
    """The tolerance by which an assembler takes a misplaced symbol; empty where it does not.

    It does not look what `array[3]` is part of, nor `parameter+4` for a value; and in most instructions it takes an
    opaque reference for an address, in whatever space.
    """
    base = shape[1] if isinstance(shape, tuple) else None
    if shape[0] == "e" and isinstance(base, tuple):
        space = _space_of(form) if form.kind == "address" or form.space is not None else None
        if base[1] in PARAMETERS:
            return _OVERLOOKED_ARRAY if space in ("param", None) else ""
        is_home = space is None or _wrong_space(space, str(base[1])) is None
        return _OVERLOOKED_ARRAY if base[1] in OPAQUE and is_home else ""
    if shape[0] == "a" and isinstance(base, tuple) and base[1] in OPAQUE and form.object not in _REFERENCES:
        if ARRAY in base:
            return "" if _wrong_space(_space_of(form), str(base[1])) else _OVERLOOKED_ARRAY
        return "" if _sees_opaque(form) else "opaque_as_data"
    return _OVERLOOKED_ARRAY if form.kind == "register" and shape[:2] == ("+", ARGUMENT) else ""


def _sees_opaque(form: OperandForm) -> bool:
    """Whether an assembler sees that an opaque reference is no address of data: where it moves the address to a
    register first, or wants a symbol of a certain space."""
    if form.symbols is not None and not form.data:
        return _wrong_space(_space_of(form), "&texref") is not None
    return form.data or (form.wide and not form.opaque)


def outgoing_parameter(match: Match, typed: tuple[TypedShape, ...]) -> int | None:
    """The index of the address that is that of a `.param` variable of this body; None where there is none."""
    for index, (operand, shape) in enumerate(zip(match.operands, typed, strict=True)):
        base = shape[1] if operand.kind == "address" and isinstance(shape, tuple) else None
        if isinstance(base, tuple) and base[0] in ("r", "+") and base[1] == ARGUMENT:
            return index
    return None


def _is_foreign(base: object, match: Match) -> bool:
    """Whether the base of an address is none that the qualifier of the parameter space allows."""
    qualifier = next((value for value in match.modifiers.values() if value in _FOREIGN), None)
    if qualifier is None or not isinstance(base, tuple) or base[0] not in ("r", "+", "s"):
        return False
    kind = str(base[1])
    return kind in _FOREIGN[qualifier] or (qualifier == "param::func" and not is_symbol(kind) and kind != UNKNOWN)


def _parts(operand: OperandForm, shape: TypedShape) -> Iterator[tuple[OperandForm, TypedShape]]:
    """An operand form and its shape, and those inside an address, vector or pair."""
    yield operand, shape
    if not isinstance(shape, tuple) or shape[0] not in ("a", "v", "p"):
        return
    inner = shape[2:] if shape[0] == "a" else shape[1:]
    if operand.elements:
        yield from zip(operand.elements, inner, strict=True)


def _misplacement(form: OperandForm, shape: TypedShape, use: str | None) -> str | None:
    if not isinstance(shape, tuple):
        return None
    if form.kind == "label" and use in _LABELS:
        allowed, words = _LABELS[use]
        return None if shape[0] == "r" and shape[1] in allowed else f"must be {words}"
    if form.kind in _REFERENCES:  # an assembler does not see which one is declared a texture where there are two
        is_like = form.kind == "texture" and shape == ("r", "&surfref")
        return None if is_like else _wrong_reference(form.kind, shape)
    if form.kind == "address" and shape[0] in ("a", "e"):
        return _wrong_address(form, shape[1], use)
    if form.kind == "address" and shape[0] in ("r", "+"):  # without brackets, which some forms tolerate
        kind = str(shape[1][1] if isinstance(shape[1], tuple) else shape[1])
        if kind in OPAQUE and not form.wide:
            return None
        return _wrong_space(_space_of(form), kind) if is_symbol(kind) and not is_code(kind) else None
    if form.kind == "register" and form.symbol and shape[0] in ("r", "+", "e"):
        kind = str(shape[1][1] if isinstance(shape[1], tuple) else shape[1])
        return _wrong_symbol(form, kind, is_sum=shape[0] == "+") if is_symbol(kind) else None
    return None


def _space_of(form: OperandForm) -> str:
    """The state space that a symbol must be in, without `::cta` and the like; `generic` where the form has none."""
    named = form.symbols if form.symbols is not None else form.space
    space = named.value if isinstance(named, ConstantExpr) else None
    return str(space).partition("::")[0] if space is not None else "generic"


def _wrong_reference(thing: str, base: object) -> str | None:
    """What is wrong with the variable or handle that must be that of a texture, surface or sampler."""
    kind, *rest = base[1:] if isinstance(base, tuple) and base[0] == "r" else ("", "")
    rest = [each for each in rest if each != ARRAY]
    if rest:
        return f"must be a {thing}, or a .u64 register with its handle, and nothing more"
    if kind in (f"&{_REFERENCES[thing]}", "b64", "u64", "s64", UNKNOWN):
        return None
    return f"must be a .{_REFERENCES[thing]} variable, or a .u64 register with the handle of one"


def _wrong_address(form: OperandForm, base: object, access: str | None) -> str | None:
    if form.object in _REFERENCES:
        return _wrong_reference(form.object, base)
    if form.lax and base != ("r", ELEMENT):
        return None
    space = _space_of(form)
    if not isinstance(base, tuple) or base[0] == "c":
        return None if space == "local" else "is a constant address, which only the .local space has"
    kind = str(base[1])
    if kind == ELEMENT:
        return "is an element of a vector, which cannot be an address: move it to a register first"
    if base[0] != "r" or not is_symbol(kind):
        return None
    if is_code(kind):
        return "must be an address of data"
    if form.in_register:
        return "must be an address in a register"
    if space == "param" and kind in PARAMETERS:
        return _wrong_parameter(kind, access)
    outside = _wrong_space(space, kind)
    if kind not in OPAQUE:
        return outside
    is_seen = ARRAY not in base and _sees_opaque(form)
    return _IS_OPAQUE if access is not None or is_seen else outside


def _wrong_space(space: str, kind: str) -> str | None:
    """What is wrong with a variable of that class where a symbol of `space` is asked for."""
    if space == "any" or kind == f"&{space}" or (space == "global" and kind in OPAQUE):
        return None
    if space == "generic":
        return None if kind in _GENERIC else "must be in the .global, .shared or .local space for a generic access"
    return f"must be in the .{space} space"


def _wrong_parameter(kind: str, access: str | None) -> str | None:
    if access == "write" and kind in (KERNEL_PARAMETER, INPUT):
        return "must be a parameter that can be written: a return parameter, or a .param variable of this body"
    if access == "read" and kind == OUTPUT:
        return "must be a parameter that can be read: return parameters are written only"
    if access is None and kind == ARGUMENT:
        return "must be a parameter whose address can be taken: not a .param variable of this body"
    return None


def _wrong_symbol(form: OperandForm, kind: str, *, is_sum: bool) -> str | None:
    """A symbol that stands for its own address, maybe with a constant after it; its type is known to be right."""
    if kind == ARGUMENT:
        return "must be a variable whose address can be taken: not a .param variable of this body"
    if is_code(kind):
        if kind in (FUNCTION, ENTRY) or is_sum:
            return None
        return "must be a register, a constant, a variable or a function: a label has no address"
    wanted = form.type.value if isinstance(form.type, ConstantExpr) else None
    if kind in OPAQUE and wanted != "u64" and not is_sum:
        return "must be an address of data: that of an opaque reference is a .u64"
    if form.space is None:
        return None
    space = _space_of(form)
    return None if space == "param" and kind in PARAMETERS else _wrong_space(space, kind)
