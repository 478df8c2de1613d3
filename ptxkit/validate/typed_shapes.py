"""What is in an operand's place, with the types of its registers: the key under which answers are kept.

`("r", "b32")` is a name of that class, `("n", "pred")` a negated one, `("n", "special", "pred", ...)` a special
register that is negated, `("s", "u32", ...)` one with the types it may be read as, `("c", "i")` a constant with the
kind of its value (`validate.constants`), `("v", ...)` a vector, `("a", base, ...)` an address, `("e", base, index,
wrong)` an element of an array and what keeps it from being one, `("+", "b32")` a name with constants added to it and
`("+", "special", "u32", ...)` a special register so, `("p", ...)` a pair, `("m", ...)` what has a minus sign; a plain
word is anything else. The type of a register may be followed by the part that a selector or component names.

Source: PTX ISA, "Using Addresses, Arrays, and Vectors"; what can be an index is as ptxas has it.
"""

from __future__ import annotations

from typing import TypeAlias

from ptxkit.isa import table
from ptxkit.isa.functions import bits, is_type, kind
from ptxkit.semantics.symbols import is_code, is_symbol
from ptxkit.syntax.tree import (
    Address,
    Arguments,
    Binary,
    Declaration,
    Element,
    Name,
    Not,
    Operand,
    Pair,
    Unary,
    Vector,
    operand_names,
)
from ptxkit.validate.constants import INTEGER, INVALID, kind_of
from ptxkit.validate.typed_scope import SPECIAL, UNKNOWN, TypedScope

TypedShape: TypeAlias = str | tuple[object, ...]

ELEMENT = "element"
"""The class of a component of a vector where only a whole name is allowed."""


COMPONENT = "component"
"""After the types of a special register: it is one of the components of a larger one, such as `%tid.x`."""


MEMORY = "memory"
"""After the type of a variable, or of a component of one, whose name is in braces: a register to assemblers."""


ARRAY = "[]"
"""What follows the class of a base that is an array of opaque references."""

OPAQUE = frozenset({"&texref", "&surfref", "&samplerref"})
"""The classes of textures, samplers and surfaces."""


def typed_shape(operand: Operand, scope: TypedScope) -> TypedShape:
    """The operand's shape with the types of its registers; constants keep no value."""
    if isinstance(operand, Name):  # this is asked for nearly every operand of a module: the common kinds first
        return _name_shape(operand.text, scope)
    if isinstance(operand, Address):
        return ("a", _base_shape(operand, scope), *[typed_shape(part, scope) for part in operand.index])
    if isinstance(operand, Vector):
        return ("v", *[_element_shape(part, scope) for part in operand.elements])
    if isinstance(operand, Not):
        negated = _name_shape(operand.operand.text, scope)
        return ("n", SPECIAL, *negated[1:]) if negated[0] == "s" else ("n", scope.type_of(operand.operand.text))
    if isinstance(operand, Pair):
        return ("p", typed_shape(operand.first, scope), typed_shape(operand.second, scope))
    if isinstance(operand, Element):
        array, index = operand.base, operand.index
        return ("e", typed_shape(array, scope), typed_shape(index, scope), _wrong_element(array.text, index, scope))
    found = kind_of(operand)
    if found is not None:  # in parentheses it may be an argument, too
        return ("c", found, "()") if isinstance(operand, Arguments) else ("c", found)
    if isinstance(operand, Unary) and isinstance(operand.operand, Name):
        return ("m", typed_shape(operand.operand, scope))
    if isinstance(operand, Binary):
        return _sum_shape(operand, scope)
    kinds = {scope.type_of(name) for name in operand_names(operand)}
    return "other" if kinds.isdisjoint((SPECIAL, UNKNOWN)) else "strange"


def _element_shape(operand: Operand, scope: TypedScope) -> TypedShape:
    """The shape of an element of a vector: the name of a single variable is one of its type there."""
    found = typed_shape(operand, scope)
    if found[0] == "c":  # in parentheses or not
        return found[:2]
    if found[0] != "r" or not is_symbol(str(found[1])) or not isinstance(operand, Name):
        return found
    base, _, component = operand.text.partition(".")
    named = scope.find(base)
    if named is None or not isinstance(named.node, Declaration) or named.is_array(base):
        return found
    is_single = is_type(named.node.type) and (component != "" or named.node.vector is None)
    return ("r", named.node.type, MEMORY) if is_single else found


def _name_shape(name: str, scope: TypedScope) -> TypedShape:
    found = scope.type_of(name)
    if found != SPECIAL:
        return ("r", found, name.rpartition(".")[2]) if "." in name else ("r", found)
    register = table().special(name)
    if register is None:
        return "_" if name == "_" else ("c", INTEGER)
    whole = "v4." if register.vector and "." not in name else ""
    return ("s", *[f"{whole}{each}" for each in register.types], *((COMPONENT,) if "." in name else ()))


def _sum_shape(operand: Binary, scope: TypedScope) -> TypedShape:
    """A name with integers added to it; no assembler computes with names in any other way."""
    first: Operand = operand
    while isinstance(first, Binary) and first.operator == "+" and kind_of(first.right) == INTEGER:
        first = first.left
    if not isinstance(first, Name):
        return ("c", INVALID)
    found = _name_shape(first.text, scope)
    if not isinstance(found, tuple):  # the sink
        return ("c", INVALID)
    return ("+", SPECIAL, *[each for each in found[1:] if each != COMPONENT]) if found[0] == "s" else ("+", found[1])


def _base_shape(address: Address, scope: TypedScope) -> TypedShape:
    """The base of an address, which is a whole name: an element of a vector cannot be one. `+`: it has an offset, `[]`:
    it is an array of textures, samplers or surfaces."""
    base = address.base
    if isinstance(base, Name) and "." in base.text and scope.type_of(base.text) != UNKNOWN:
        return ("r", ELEMENT)
    found = typed_shape(base, scope)
    if isinstance(base, Name) and isinstance(found, tuple) and found[1] in OPAQUE:
        named = scope.find(base.text)
        found = (*found, ARRAY) if named is not None and named.is_array(base.text) else found
    return (*found, "+") if address.offset and isinstance(found, tuple) else found


def _wrong_element(array: str, index: Operand, scope: TypedScope) -> str | None:
    """What keeps `array[index]` from being an element of an array; None where nothing does, or a name is unknown."""
    if scope.type_of(array) == UNKNOWN:
        return None
    named = scope.find(array)
    if named is None or not named.is_array(array):
        return "is an element of what is no array"
    while isinstance(index, Binary):
        index = index.left
    found = scope.type_of(index.text) if isinstance(index, Name) else UNKNOWN
    if found in (UNKNOWN, SPECIAL) or (is_symbol(found) and not is_code(found)):
        return None
    may_count = is_type(found) and kind(found) in ("b", "u", "s") and bits(found) <= 64
    return None if may_count else "has an index that is neither an integer register nor a constant"


def has_unresolved_name(shapes: tuple[object, ...]) -> bool:
    """Whether a name in these shapes is one that nothing declares, or a special register."""
    for shape in shapes:
        if isinstance(shape, tuple):
            if shape[0] == "s":
                return True
            if shape[0] in ("r", "n", "c", "+"):
                if shape[1] in (SPECIAL, UNKNOWN):
                    return True
            elif has_unresolved_name(shape[1:]):
                return True
        elif shape == "strange":
            return True
    return False
