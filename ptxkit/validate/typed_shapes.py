"""Computes the classes of operands in a scope (`validate.typed_operands`).

Source: PTX ISA, "Using Addresses, Arrays, and Vectors"; the valid indices are those of ptxas.
"""

from __future__ import annotations

from functools import lru_cache

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import operand_reasons
from ptxkit.isa import table
from ptxkit.isa.functions import bits, is_type, kind
from ptxkit.semantics.symbols import OPAQUE_TYPES, is_code, is_symbol
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
from ptxkit.validate.limits import MAX_CACHED_CLASSES
from ptxkit.validate.typed_operands import (
    ELEMENT,
    MEMORY,
    TypedAddress,
    TypedConstant,
    TypedElement,
    TypedMinus,
    TypedName,
    TypedNot,
    TypedOperand,
    TypedPair,
    TypedSpecial,
    TypedSum,
    TypedVector,
    UntypedOperand,
)
from ptxkit.validate.typed_scope import SPECIAL, UNKNOWN, TypedScope

OPAQUE = frozenset(f"&{each}" for each in OPAQUE_TYPES)
"""The classes of textures, samplers and surfaces."""


def typed_shape(operand: Operand, scope: TypedScope) -> TypedOperand:
    """Returns the operand's class with the types of its registers; constants have no value."""
    match operand:  # computed for nearly every operand of a module: the common kinds first
        case Name(text):
            return _name_shape(text, scope)
        case Address():
            return _address_shape(operand, scope)
        case Vector(elements):
            return TypedVector(tuple([_element_shape(part, scope) for part in elements]))
        case Not(Name(text)):
            return TypedNot(_whole_name_shape(text, scope))
        case Pair(first, second):
            return TypedPair(typed_shape(first, scope), typed_shape(second, scope))
        case Element(array, index):
            wrong = _wrong_element(array.text, index, scope)
            return TypedElement(typed_shape(array, scope), typed_shape(index, scope), wrong)
    found = kind_of(operand)
    if found is not None:
        return TypedConstant(found, isinstance(operand, Arguments))
    match operand:
        case Unary(operand=Name() as name):
            return TypedMinus(typed_shape(name, scope))
        case Binary():
            return _sum_shape(operand, scope)
    kinds = {scope.type_of(name) for name in operand_names(operand)}
    return UntypedOperand.OTHER if kinds.isdisjoint((SPECIAL, UNKNOWN)) else UntypedOperand.UNRESOLVED


def _element_shape(operand: Operand, scope: TypedScope) -> TypedOperand:
    """Returns the class of an element of a vector: the name of a single variable is an element of its type."""
    found = typed_shape(operand, scope)
    if isinstance(found, TypedConstant):  # in parentheses or not
        return TypedConstant(found.kind)
    if not isinstance(found, TypedName) or not is_symbol(found.type) or not isinstance(operand, Name):
        return found
    base, _, component = operand.text.partition(".")
    named = scope.find(base)
    if named is None or not isinstance(named.node, Declaration) or named.is_array(base):
        return found
    is_single = is_type(named.node.type) and (component != "" or named.node.vector is None)
    return TypedName(named.node.type, MEMORY) if is_single else found


def _name_shape(name: str, scope: TypedScope) -> TypedName | TypedSpecial | TypedConstant | UntypedOperand:
    found = scope.type_of(name)
    if found != SPECIAL:
        return _typed_name(found, name.rpartition(".")[2] if "." in name else "")
    register = table().special(name)
    if register is None:
        return UntypedOperand.SINK if name == "_" else TypedConstant(INTEGER)
    whole = "v4." if register.vector and "." not in name else ""
    return TypedSpecial(tuple([f"{whole}{each}" for each in register.types]), "." in name)


@lru_cache(maxsize=MAX_CACHED_CLASSES)
def _typed_name(type_: str, part: str) -> TypedName:
    return TypedName(type_, part)


def _whole_name_shape(name: str, scope: TypedScope) -> TypedName | TypedSpecial | UntypedOperand:
    """Returns the class of a name without its part."""
    match _name_shape(name, scope):
        case TypedName(found):
            return _typed_name(found, "")
        case TypedSpecial(types):
            return TypedSpecial(types)
        case TypedConstant():
            return UntypedOperand.OTHER
        case UntypedOperand() as sink:
            return sink


def _sum_shape(operand: Binary, scope: TypedScope) -> TypedOperand:
    """Returns the class of a name plus integers; assemblers accept no other arithmetic with names."""
    first: Operand = operand
    while isinstance(first, Binary) and first.operator == "+" and kind_of(first.right) == INTEGER:
        first = first.left
    whole = _whole_name_shape(first.text, scope) if isinstance(first, Name) else UntypedOperand.OTHER
    return TypedConstant(INVALID) if isinstance(whole, UntypedOperand) else TypedSum(whole)


def _address_shape(address: Address, scope: TypedScope) -> TypedAddress:
    """Returns the class of an address, whose base is a whole name: a component of a vector cannot be one."""
    base, index = address.base, tuple([typed_shape(part, scope) for part in address.index])
    if isinstance(base, Name) and "." in base.text and scope.type_of(base.text) != UNKNOWN:
        return TypedAddress(TypedName(ELEMENT), index)
    found = typed_shape(base, scope)
    is_array = False
    if isinstance(base, Name) and isinstance(found, TypedName) and found.type in OPAQUE:
        named = scope.find(base.text)
        is_array = named is not None and named.is_array(base.text)
    return TypedAddress(found, index, address.offset != 0, is_array)


def _wrong_element(array: str, index: Operand, scope: TypedScope) -> Message | None:
    """Returns why `array[index]` is not a valid element of an array, or None if it is, or a name is unknown."""
    if scope.type_of(array) == UNKNOWN:
        return None
    named = scope.find(array)
    if named is None or not named.is_array(array):
        return operand_reasons.ELEMENT_OF_NO_ARRAY()
    while isinstance(index, Binary):
        index = index.left
    found = scope.type_of(index.text) if isinstance(index, Name) else UNKNOWN
    if found in (UNKNOWN, SPECIAL) or (is_symbol(found) and not is_code(found)):
        return None
    may_count = is_type(found) and kind(found) in ("b", "u", "s") and bits(found) <= 64
    return None if may_count else operand_reasons.INDEX_OF_WRONG_TYPE()


def has_unresolved_name(shape: TypedOperand) -> bool:
    """Returns whether a name in an operand is undeclared, or a special register."""
    match shape:
        case TypedName(found):
            return found == UNKNOWN
        case TypedConstant():
            return False
        case TypedAddress(base, index):
            return has_unresolved_name(base) or any(map(has_unresolved_name, index))
        case TypedVector(elements):
            return any(map(has_unresolved_name, elements))
        case TypedNot(inner) | TypedMinus(inner) | TypedSum(inner):
            return has_unresolved_name(inner)
        case TypedPair(first, second) | TypedElement(first, second):
            return has_unresolved_name(first) or has_unresolved_name(second)
        case TypedSpecial():
            return True
        case UntypedOperand():
            return shape is UntypedOperand.UNRESOLVED
