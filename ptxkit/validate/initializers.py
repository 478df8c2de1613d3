"""Checks initial values: their number and nesting, their types, and the symbols whose addresses they contain.

Integers of any size are accepted: an assembler truncates them to the width of the variable. Addresses are valid for
.u32 and .u64 variables only; eight bits of one, selected by a mask, for .u8 as well.

Source: PTX ISA, "Initializers", "Constant Expressions"; if they differ, the rules are those of ptxas.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import declaration_helps, ptx1xx
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.module_forms import DataType
from ptxkit.isa.wording import clip_text
from ptxkit.semantics.symbols import ENTRY, FUNCTION
from ptxkit.syntax.constants import evaluate, parse_integer
from ptxkit.syntax.tree import (
    Apply,
    Arguments,
    Binary,
    Conditional,
    Declaration,
    Float,
    Integer,
    Name,
    Not,
    Operand,
    Unary,
    Vector,
)
from ptxkit.validate.gate_checker import GateChecker
from ptxkit.validate.problem import Problem, WordLocation
from ptxkit.validate.typed_scope import UNKNOWN, TypedScope
from ptxkit.validate.variables import data_types

_SECTION = "Initializers"
_INITIALIZED = ("const", "global")
_LANES = {"v2": 2, "v4": 4}
_MASKS = frozenset(0xFF << shift for shift in range(0, 64, 8))
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})
_ADDRESSED = frozenset({"&global", "&const", "&texref", "&surfref", "&samplerref"})


@dataclass(frozen=True, slots=True)
class _InitialisedVariable:
    """An initialized variable: one declared name."""

    name: str
    data_type: DataType
    start: int
    gates: GateChecker
    scope: TypedScope

    def problem(self, message: Message, help_: Message | None = None, word: str | None = None) -> Problem:
        nth = 1 if word == self.name else 0
        return Problem(
            message,
            WordLocation(self.start, word or self.name, nth),
            help=help_,
            section=_SECTION,
        )


def initializer_problems(
    declaration: Declaration, start: int, scope: TypedScope, gates: GateChecker
) -> Iterator[Problem]:
    """Yields the errors in the initial values of a declaration's variables. scope: the names declared so far."""
    data_type = data_types().get(declaration.type)
    for declarator in declaration.declarators:
        if declarator.initialiser is None or data_type is None:
            continue
        target = _InitialisedVariable(declarator.name, data_type, start, gates, scope)
        name = clip_text(declarator.name)
        if declaration.space not in _INITIALIZED:
            message = ptx1xx.NO_INITIAL_VALUE_IN_SPACE(name=name, space=declaration.space)
            yield target.problem(message, declaration_helps.STORE_IN_CODE())
        elif "extern" in declaration.linkage:
            message = ptx1xx.EXTERN_WITH_INITIAL_VALUE(name=name)
            yield target.problem(message, declaration_helps.REMOVE_EXTERN_OR_VALUE())
        else:
            lanes = _LANES.get(declaration.vector or "", 1)
            yield from _check_dimensions(target, declarator.initialiser, declarator.dimensions, lanes)


def _check_dimensions(
    target: _InitialisedVariable, value: Operand, lengths: tuple[int | None, ...], lanes: int
) -> Iterator[Problem]:
    """Checks a value of that many dimensions, the last of them a vector or struct if the type has one."""
    elements = value.elements if isinstance(value, Vector) else None
    if lengths and elements is None:
        yield target.problem(
            ptx1xx.ARRAY_VALUES_WITHOUT_BRACES(name=clip_text(target.name)), declaration_helps.WRITE_BRACES()
        )
    elif lengths and elements is not None:
        yield from _check_elements(target, elements, lengths, lanes)
    elif target.data_type.fields:
        yield from _check_fields(target, value)
    elif lanes > 1 and (elements is None or len(elements) != lanes):
        yield target.problem(ptx1xx.VECTOR_VALUE_WITHOUT_BRACES(name=clip_text(target.name), lanes=lanes))
    elif lanes > 1:
        yield from _check_scalars(target, elements or ())
    elif elements is not None:
        yield target.problem(
            ptx1xx.VALUE_WITH_BRACES(name=clip_text(target.name)), declaration_helps.REMOVE_OUTER_BRACES()
        )
    else:
        yield from _check_scalar(target, value)


def _check_elements(
    target: _InitialisedVariable, elements: tuple[Operand, ...], lengths: tuple[int | None, ...], lanes: int
) -> Iterator[Problem]:
    """Checks the values of an array: their number, and the first invalid one among them."""
    if lengths[0] and len(elements) > lengths[0]:
        message = ptx1xx.TOO_MANY_VALUES(name=clip_text(target.name), given=len(elements), length=lengths[0])
        yield target.problem(message, declaration_helps.REMOVE_VALUES())
    elif len(lengths) == 1 and lanes == 1 and not target.data_type.fields:
        yield from _check_scalars(target, elements)
    else:
        for element in elements:
            found = next(_check_dimensions(target, element, lengths[1:], lanes), None)
            if found is not None:
                yield found
                return


def _check_scalars(target: _InitialisedVariable, elements: tuple[Operand, ...]) -> Iterator[Problem]:
    """Checks many values of one type; a table of plain integers, which may be long, is checked at once."""
    kinds = set(map(type, elements))
    if kinds == {Integer} and "integer" in target.data_type.initial:
        return
    if kinds == {Float} and "float" in target.data_type.initial:
        return
    for element in elements:
        if isinstance(element, Vector):
            message = ptx1xx.VALUES_NEST_TOO_DEEP(name=clip_text(target.name))
            yield target.problem(message, declaration_helps.REMOVE_BRACES())
            return
        if isinstance(element, Binary) and element.operator == "=":
            continue  # a named field, which an assembler treats as its value
        found = next(_check_scalar(target, element), None)
        if found is not None:
            yield found
            return


def _check_scalar(target: _InitialisedVariable, value: Operand) -> Iterator[Problem]:
    kind = _class_of(value)
    name = clip_text(target.name)
    if kind is None:
        message = ptx1xx.NO_INITIAL_VALUE(name=name)
        yield target.problem(message, declaration_helps.WRITE_ADDRESS_EXPRESSION())
    elif kind == "undefined":
        yield target.problem(ptx1xx.INITIAL_VALUE_UNDEFINED(name=name), declaration_helps.KEEP_TYPES())
    elif kind not in target.data_type.initial:
        taken = " or ".join(str(_KIND_WORDS[each]) for each in target.data_type.initial)
        message = ptx1xx.INITIAL_VALUE_OF_OTHER_KIND(type=target.data_type.name, name=name, kind=_KIND_WORDS[kind])
        yield target.problem(
            message, declaration_helps.TAKES_VALUE(values=taken) if taken else declaration_helps.TAKES_NO_VALUE()
        )
    elif kind in ("address", "mask"):
        yield from _check_address(target, value)


_KIND_WORDS = {
    "integer": declaration_helps.AN_INTEGER(),
    "float": declaration_helps.A_FLOAT(),
    "address": declaration_helps.AN_ADDRESS(),
    "mask": declaration_helps.EIGHT_BITS_OF_ADDRESS(),
    "fields": declaration_helps.NAMED_FIELDS(),
}


def _class_of(value: Operand) -> str | None:
    """Returns `integer`, `float`, `address`, `mask`, `undefined` if a constant has no value, or None if it is not a
    value.
    """
    match value:
        case Integer() | Name("WARP_SZ"):
            return "integer"
        case Float():
            return "float"
        case Arguments((only,)):
            inner = _class_of(only)
            return inner if inner in ("integer", "float", "undefined") else None
        case Name():
            return "address"
        case Apply("generic", Name()):
            return "address"
        case Apply(function, argument) if function[:1].isdigit():
            inner = _class_of(argument)
            return {"integer": "integer", "address": "mask"}.get(inner or "")
        case Binary() if _symbol_of(value) is not None:
            return "address"
        case Unary() | Binary() | Conditional():
            return _class_of_expression(value)
        case _:
            return None


def _class_of_expression(value: Operand) -> str | None:
    if evaluate(value) is not None:
        return "integer"
    leaves = list(_scalars_of(value))
    floats = [leaf for leaf in leaves if isinstance(leaf, Float)]
    if any(not isinstance(leaf, Float | Integer) for leaf in leaves):
        return None
    if len(floats) < len(leaves):
        return "undefined"
    if any(leaf.text[:2].lower() in ("0f", "0d") for leaf in floats):  # those must not be part of an expression
        return None
    return "integer" if isinstance(value, Binary) and value.operator in _COMPARISONS else "float"


def _scalars_of(value: Operand) -> Iterator[Operand]:
    match value:
        case Unary(operand=inner):
            yield from _scalars_of(inner)
        case Binary(left=left, right=right):
            yield from _scalars_of(left)
            yield from _scalars_of(right)
        case Conditional(test, then, otherwise):
            for part in (test, then, otherwise):
                yield from _scalars_of(part)
        case Arguments((only,)):
            yield from _scalars_of(only)
        case _:
            yield value


def _symbol_of(value: Operand) -> Name | Apply | None:
    """Returns the symbol in `symbol`, `generic(symbol)`, and those plus an offset: `symbol+4`."""
    if isinstance(value, Name):
        return value if value.text != "WARP_SZ" else None
    if isinstance(value, Apply):
        return value if value.function == "generic" and isinstance(value.argument, Name) else None
    if not isinstance(value, Binary) or evaluate(value.right) is None:
        return None
    if isinstance(value.left, Name | Apply) and value.operator != "+":
        return None
    return _symbol_of(value.left)


def _check_address(target: _InitialisedVariable, value: Operand) -> Iterator[Problem]:
    if isinstance(value, Apply) and value.function != "generic":
        yield from target.gates.check_feature("initial_mask", target.start, value.function)
        mask = evaluate(parse_integer(value.function))
        if mask not in _MASKS:
            message = ptx1xx.ADDRESS_MASK_INVALID(mask=clip_text(value.function))
            yield target.problem(message, declaration_helps.ONE_MASK_EACH(), value.function)
        value = value.argument
    symbol = _symbol_of(value)
    assert symbol is not None
    is_generic = isinstance(symbol, Apply)
    name = symbol.argument.text if isinstance(symbol, Apply) else symbol.text  # type: ignore[union-attr]
    if is_generic:
        yield from target.gates.check_feature("initial_generic", target.start, "generic")
    kind = target.scope.type_of(name)
    if kind in (FUNCTION, ENTRY):
        feature = "initial_kernel" if kind == ENTRY else "initial_function"
        yield from target.gates.check_feature(feature, target.start, name)
        if is_generic or not isinstance(value, Name):
            message = ptx1xx.FUNCTION_ADDRESS_IN_EXPRESSION(name=clip_text(name))
            yield target.problem(message, declaration_helps.WRITE_NAME(name=clip_text(name)), name)
        return
    if kind == UNKNOWN:
        near = get_close_matches(name[:80], list(dict.fromkeys(target.scope.visible_names())), 1)
        help_ = declaration_helps.DID_YOU_MEAN(name=clip_text(near[0])) if near else declaration_helps.DECLARE_ABOVE()
        yield target.problem(ptx1xx.INITIAL_SYMBOL_NOT_DECLARED(name=clip_text(name)), help_, name)
    elif kind not in _ADDRESSED:
        message = ptx1xx.ADDRESS_NOT_CONSTANT(name=clip_text(name))
        yield target.problem(message, declaration_helps.STORE_ADDRESS_IN_CODE(), name)
    else:
        yield from target.gates.check_feature("initial_address", target.start, name)


def _check_fields(target: _InitialisedVariable, value: Operand) -> Iterator[Problem]:
    """Checks the named fields of a texture, sampler or surface."""
    name = clip_text(target.name)
    known = target.data_type.fields
    if not isinstance(value, Vector):
        yield target.problem(ptx1xx.OBJECT_VALUE_NOT_FIELDS(name=name), declaration_helps.WRITE_FIELDS(field=known[0]))
        return
    if len(value.elements) > len(known):
        yield target.problem(
            ptx1xx.TOO_MANY_FIELDS(name=name, fields=len(known), given=len(value.elements)),
            declaration_helps.REMOVE_SOME(),
        )
        return
    for element in value.elements:
        match element:
            case Binary("=", Name(field), constant):
                yield from _check_field(target, field, constant)
            case _:
                yield target.problem(
                    ptx1xx.FIELD_VALUE_WITHOUT_NAME(name=name), declaration_helps.WRITE_FIELD(field=known[0])
                )
                return


def _check_field(target: _InitialisedVariable, field: str, constant: Operand) -> Iterator[Problem]:
    known = target.data_type.fields
    if field not in known:
        near = get_close_matches(field[:80], known, 1)
        help_ = (
            declaration_helps.DID_YOU_MEAN(name=near[0])
            if near
            else declaration_helps.KNOWN_FIELDS(fields=", ".join(known))
        )
        yield target.problem(ptx1xx.NO_SUCH_FIELD(type=target.data_type.name, field=clip_text(field)), help_, field)
    elif isinstance(constant, Name) and constant.text != "WARP_SZ":
        symbols = target.data_type.symbols
        if constant.text not in symbols:
            near = get_close_matches(constant.text[:80], symbols, 1)
            help_ = (
                declaration_helps.DID_YOU_MEAN(name=near[0])
                if near
                else declaration_helps.KNOWN_SYMBOLS(symbols=", ".join(symbols))
            )
            yield target.problem(ptx1xx.NO_FIELD_VALUE(text=clip_text(constant.text)), help_, constant.text)
    elif isinstance(constant, Not | Vector) or _class_of(constant) not in ("integer", "float"):
        yield target.problem(ptx1xx.FIELD_TAKES_CONSTANT(field=field), None, field)
