"""The table as data for other tools: what `ptxkit isa --json` prints.

A key is never removed or given another meaning while `version` is 1; readers ignore keys that they do not know.

    {"version": 1,
     "forms": [form...],                     in the order of the names, then of the manual
     "value_gates": {"shared::cluster": [gate...]},      what a modifier value needs in every form without a gate for it
     "special_registers": [{"name", "type", "types", "vector", "requirements": [requirement...],
                            "companions": [directive...]}],
     "tolerances": {name: why},              what assemblers take of any form beyond the manual
     "module": {"versions", "targets", "options", "directives", "pragmas", "types", "features"}}

    form         {"name": "cp", "syntax": "cp.async...", "section", "summary", "file", "line",
                  "tolerated": why only assemblers take it | "",
                  "modifiers": [{"name", "values": ["ca"...], "optional", "stem"}],
                  "operands": [operand...], "let": {name: expression}, "when": [text...], "need": [text...],
                  "rules": when and need together, "gates": [gate...],
                  "effects": [text...], "effect_parts": [{"name", "arguments": {field: expression}, "condition"}]}
    operand      {"role", "kind", "words": in English, "type", "count", "space", "alignment", "condition": expressions
                  or null, "immediates": {"low", "high", "step", "members"} | null, "object", "optional",
                  "group": numbers of the optional parts around it, "elements": [operand...],
                  "allowed": what else may be written there: "sink", "negatable", "symbol"...,
                  "allowed_if": {one of these: expression}}
    gate         {"subject", "alternatives": [requirement...], "condition": expression | null}; any alternative will do
    requirement  {"version": "8.0", "minimum": 90, "families": ["sm_90a"...], "before": "9.0" | null,
                  "below": 70 | null}: a PTX version, a number or families of targets, and where that ends

An expression is text in the notation of `grammars/isa.lark`. `module` contains `grammars/isa/directives.isa`,
with the fields of the classes of `ptxkit.isa.module_forms`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ptxkit.fast_dataclasses import fields
from ptxkit.isa import table
from ptxkit.isa.describe import forms_of
from ptxkit.isa.expression_text import expression_text
from ptxkit.isa.expressions import CallExpr, ConstantExpr, OperandRole
from ptxkit.isa.forms import EffectForm, Form, OperandForm, Requirement
from ptxkit.isa.wording import describe_operand

VERSION = 1


def describe_data(opcode: str | None = None) -> dict[str, object]:
    """Returns the forms that begin with `opcode`, or the whole table. Raises LookupError if there is no such opcode."""
    if opcode is not None:
        return {"version": VERSION, "forms": [_form(form) for form in forms_of(opcode)]}
    known = table()
    return {
        "version": VERSION,
        "forms": [_form(form) for name in known.names for form in known.forms(name)],
        "value_gates": {value: [_to_json(gate) for gate in gates] for value, gates in known.value_gates.items()},
        "special_registers": [_to_json(register) for register in known.specials],
        "tolerances": dict(known.tolerances),
        "module": _to_json(known.module),
    }


def describe_json(opcode: str | None = None) -> str:
    """Returns `describe_data` as JSON text."""
    return json.dumps(describe_data(opcode), indent=2) + "\n"


def _form(form: Form) -> dict[str, object]:
    return {
        "name": form.name,
        "syntax": form.syntax.removeprefix("form "),
        "section": form.section,
        "summary": form.summary,
        "tolerated": form.tolerated,
        "modifiers": [_to_json(slot) for slot in form.modifiers],
        "operands": [_operand(operand) for operand in form.operands],
        "let": {name: expression_text(value) for name, value in form.lets},
        "when": [rule.text for rule in form.rules],
        "need": [rule.text for rule in form.needs],
        "rules": [rule.text for rule in (*form.rules, *form.needs)],
        "gates": [_to_json(gate) for gate in form.gates],
        "effects": [effect.text for effect in form.effects],
        "effect_parts": [_to_json(effect) for effect in form.effects],
        "file": form.file,
        "line": form.line,
    }


_FLAGS = frozenset({"optional"})
"""Truth values of an operand that have separate keys."""


def _operand(operand: OperandForm) -> dict[str, object]:
    values = {each.name: getattr(operand, each.name) for each in fields(operand)}
    allowed = [name for name, value in values.items() if value is True and name not in _FLAGS]
    found = {name: _to_json(value) for name, value in values.items() if not isinstance(value, bool) or name in _FLAGS}
    return found | {
        "words": describe_operand(operand),
        "allowed": allowed,
        "allowed_if": _pairs_to_json(operand.allowed_if),
    }


def _pairs_to_json(pairs: tuple[tuple[str, Any], ...]) -> dict[str, object]:
    return {name: _to_json(value) for name, value in pairs}


def _to_json(value: Any) -> object:
    """Returns a part of the table as JSON data: an object by its fields, an expression as text."""
    match value:
        case ConstantExpr() | OperandRole() | CallExpr():
            return expression_text(value)
        case OperandForm():
            return _operand(value)
        case Requirement(version, minimum, families, before, below):
            bound = None if before is None else _version_text(before)
            return {
                "version": _version_text(version),
                "minimum": minimum,
                "families": list(families),
                "before": bound,
                "below": below,
            }
        case EffectForm(name, arguments, condition):
            return {"name": name, "arguments": _pairs_to_json(arguments), "condition": _to_json(condition)}
        case tuple() | list():
            return [_to_json(each) for each in value]
        case Mapping():
            return {name: _to_json(each) for name, each in value.items()}
        case None | bool() | int() | float() | str():
            return value
        case _:
            return {each.name: _to_json(getattr(value, each.name)) for each in fields(value)}


def _version_text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
