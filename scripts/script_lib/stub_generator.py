"""Generates Python signatures from the instruction table, for `scripts/stubs`."""

from __future__ import annotations

import keyword
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from random import Random

from ptxkit.build.function_builder import FunctionBuilder
from ptxkit.build.instructions import describe_forms
from ptxkit.build.method_names import to_name_part
from ptxkit.build.operand_assignment import find_result_roles, list_input_roles
from ptxkit.build.operand_fitting import constant_value, type_word
from ptxkit.isa import table
from ptxkit.isa.binding import bind_form
from ptxkit.isa.constant_folding import fold, is_true
from ptxkit.isa.forms import Form, Match, Modifier, OperandForm
from ptxkit.kernel_model.scalar_types import SCALARS

#: The number of modifier choices of one form that are examined: they determine the types of its operands.
MAX_CHOICES = 400
#: The number of overloads of one method that are distinguished; beyond that, only the number of operands is.
MAX_OVERLOADS = 12

HEADING = '''"""Generated from the instruction table by scripts/stubs: not to be edited.

Operands are in the order of PTX, without results, which are returned. Keywords name the form's modifiers; `into` names
registers that receive results, `guard` and `unless` make the instruction conditional.
"""
# ruff: noqa
# mypy: ignore-errors

from collections.abc import Sequence
from typing import Any, Literal, overload

from ptxkit.build.addresses import Address, Const, Generic, Global, Local, Param, Shared, SharedCluster
from ptxkit.build.recorder import Label
from ptxkit.kernel_model.scalar_types import *
from ptxkit.build.registers import Register

Value = Register[Any] | int | float
Into = Register[Any] | Sequence[Register[Any]] | None
Guard = Register[pred] | None

class Methods:
'''

SPACES = {
    "shared": "Shared[Any]",
    "shared::cta": "Shared[Any]",
    "shared::cluster": "Shared[Any] | SharedCluster[Any]",
    "global": "Global[Any]",
    "local": "Local[Any]",
    "const": "Const[Any]",
    "param": "Param[Any]",
    "generic": "Generic[Any]",
}


@dataclass
class Shape:
    """One overload of a method: for each operand its possible types, and the types of the result."""

    operands: dict[str, set[str]]
    results: set[str] = field(default_factory=set)


def render_stub() -> str:
    """Returns the text of the stub file."""
    methods: dict[str, list[Form]] = defaultdict(list)
    for opcode in table().names:
        for form in table().forms(opcode):
            name = method_name(form)
            if not form.tolerated and not hasattr(FunctionBuilder, name):
                methods[name].append(form)
    return HEADING + "\n".join(_method(name, forms) for name, forms in sorted(methods.items())) + "\n"


def method_name(form: Form) -> str:
    """Returns the method of a form: its name and the words that all of its opcodes have at the beginning."""
    return "_".join([form.name, *(to_name_part(slot.name) for slot in form.modifiers if slot.stem)])


def _method(name: str, forms: Sequence[Form]) -> str:
    shapes: dict[tuple[str, ...], Shape] = {}
    for form in forms:
        for match in _matches(form):
            roles = find_result_roles(match)
            names = tuple(list_input_roles(match.operands, roles))
            shape = shapes.setdefault(names, Shape({each: set() for each in names}))
            by_role = {each.role: each for each in _flatten(match.operands)}
            for each in names:
                shape.operands[each].add(_type(by_role[each]) if each in by_role else "Value")
            shape.results.add(_result(match, roles))
    python = name + "_" * keyword.iskeyword(name)
    keywords = _keywords(forms)
    pages = textwrap.indent(describe_forms(dict.fromkeys(forms)).replace("\\", "\\\\"), " " * 8).strip()
    page = f'\n        """{pages}\n        """'
    if not shapes or len(shapes) > MAX_OVERLOADS:
        results = {result for shape in shapes.values() for result in shape.results}
        return _signature(python, "*operands: object", keywords, _single_result(results), page)
    found = []
    for shape in shapes.values():
        operands = ", ".join(f"{_escape_keyword(each)}: {_union(types)}" for each, types in shape.operands.items())
        if operands:
            operands += ", /"
        body = " ..." if found else page
        text = _signature(python, operands, keywords, _single_result(shape.results), body)
        found.append(("    @overload\n" if len(shapes) > 1 else "") + text)
    return "\n".join(found)


def _signature(name: str, operands: str, keywords: str, result: str, body: str) -> str:
    star = "" if operands.startswith("*") else ", *"
    given = f"self{', ' if operands else ''}{operands}{star}"
    return f"    def {name}({given}{keywords}) -> {result}:{body}"


def _keywords(forms: Sequence[Form]) -> str:
    """Returns the modifiers of all forms, and the keywords of every method."""
    slots: dict[str, dict[str, None]] = defaultdict(dict)
    for form in forms:
        for slot in form.modifiers:
            is_parameter = len(slot.values) > 1 or slot.optional
            if is_parameter and not slot.stem and slot.name.isidentifier() and not keyword.iskeyword(slot.name):
                slots[slot.name].update(dict.fromkeys(slot.values))
    words = "".join(f", {name}: {_literal(values)} | bool = ..." for name, values in sorted(slots.items()))
    return f", into: Into = ..., guard: Guard = ..., unless: Guard = ...{words}"


def _literal(values: dict[str, None]) -> str:
    return f"Literal[{', '.join(repr(value) for value in values)}]" if len(values) <= 40 else "str"


def _matches(form: Form) -> Iterator[Match]:
    """Yields the form with all choices of modifiers, or a limited number of random ones, the same each time."""
    values = [_values(slot) for slot in form.modifiers]
    choices = product(*values)
    if prod(map(len, values)) > MAX_CHOICES:
        random = Random(form.syntax)
        choices = iter([tuple(random.choice(each) for each in values) for _ in range(MAX_CHOICES)])
    for chosen in choices:
        modifiers = dict(zip((slot.name for slot in form.modifiers), chosen, strict=True))
        if all(is_true(fold(rule.condition, form, modifiers)) for rule in form.rules):
            yield from bind_form(form, modifiers, table().value_gates)


def _values(slot: Modifier) -> tuple[str | None, ...]:
    return (*slot.values, None) if slot.optional else slot.values


def _flatten(forms: Sequence[OperandForm]) -> Iterator[OperandForm]:
    for form in forms:
        yield form
        if form.kind in ("pair", "vector"):
            yield from _flatten(form.elements)


def _type(form: OperandForm) -> str:
    if form.kind == "address":
        space = constant_value(form.space) if form.space is not None else "generic"
        plain = SPACES.get(space if isinstance(space, str) else "", "Address[Any]")
        return "tuple[object, ...]" if form.elements else plain
    if form.kind == "immediate":
        return "int"
    if form.kind == "label":
        return "Label"
    if form.kind in ("vector", "pair"):
        return "Sequence[Value]"
    return "Register[pred]" if type_word(form) == "pred" and form.immediates is None else "Value"


def _result(match: Match, roles: frozenset[str]) -> str:
    found = []
    for form in match.operands:
        if form.kind in ("pair", "vector") and form.elements:
            found += [_register(each) for each in form.elements if each.role in roles]
        elif form.role in roles and form.kind == "vector":
            found.append(f"tuple[{_register(form)}, ...]")
        elif form.role in roles and form.kind == "register":
            found.append(_register(form))
    return "None" if not found else found[0] if len(found) == 1 else f"tuple[{', '.join(found)}]"


def _register(form: OperandForm) -> str:
    word = type_word(form) or ""
    return f"Register[{word}]" if word in SCALARS and not word.startswith("b") else "Register[Any]"


def _union(types: set[str]) -> str:
    parts = sorted({part for each in types for part in each.split(" | ")}) or ["None"]
    if len(parts) > 6 or "object" in parts:
        return "Any"
    return " | ".join(parts)


def _single_result(results: set[str]) -> str:
    """Returns the result of a method, if it always has one kind."""
    return results.pop() if len(results) == 1 else "Any"


def _escape_keyword(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name
