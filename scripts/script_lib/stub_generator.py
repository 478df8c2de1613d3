"""Renders the signatures of the builder's instruction methods, for `scripts/stubs`."""

from __future__ import annotations

import keyword
from collections.abc import Sequence

from ptxkit.build.function_builder import FunctionBuilder
from ptxkit.build.instruction_docs import describe_method, summarize_method
from script_lib.stub_names import list_method_names
from script_lib.stub_signatures import Overload, TypeVariables, list_keywords, list_overloads

MAX_LISTED_VALUES = 40
"""The number of values of a modifier that its type lists; one with more is any text."""

HEADING = '''"""Generated from the instruction table by scripts/stubs: not to be edited.

Operands are in the order of PTX, without results, which are returned. Keywords name the form's modifiers; `into` names
registers that receive results, `guard` and `unless` make the instruction conditional.
"""
# ruff: noqa
# mypy: ignore-errors

from collections.abc import Sequence
from typing import Any, Literal, TypeVar, overload

from ptxkit.build.addresses import Address, Const, Generic, Global, Local, Param, Shared, SharedCluster
from ptxkit.build.recorder import Label
from ptxkit.kernel_model.scalar_types import *
from ptxkit.build.registers import Register

Value = Register[Any] | int | float
Into = Register[Any] | Sequence[Register[Any]] | None
Guard = Register[pred] | None

{variables}

class Methods:
'''

COMMON_KEYWORDS = "into: Into = ..., guard: Guard = ..., unless: Guard = ..."


def render_stub() -> str:
    """Returns the text of the stub file."""
    names, variables = list_method_names(), TypeVariables()
    known = sorted(name for name in names.plain | names.others if not hasattr(FunctionBuilder, name))
    methods = [_method(name, variables, is_plain=name in names.plain) for name in known]
    return HEADING.format(variables="\n".join(variables.definitions())) + "\n".join(methods) + "\n"


def _method(name: str, variables: TypeVariables, *, is_plain: bool) -> str:
    """Returns a method: a plain one with its modifiers as keywords and the whole documentation, a longer one with a
    summary.
    """
    words = list_keywords(name) if is_plain else {}
    page = describe_method(name).replace("\n", "\n        ") + "\n        " if is_plain else summarize_method(name)
    body = f'\n        """{page}"""'.replace("\\", "\\\\")
    overloads = list_overloads(name)
    if not overloads:
        return _signature(name, ["*operands: object"], _keywords(words, None, is_plain=is_plain), "Any") + body
    several = "    @overload\n" if len(overloads) > 1 else ""
    texts = []
    for number, each in enumerate(overloads):
        text = _signature(
            name,
            _operands(each, variables),
            _keywords(words, each, is_plain=is_plain),
            variables.resolve(each, each.result),
        )
        texts.append(several + text + (body if number == 0 else " ..."))
    return "\n".join(texts)


def _signature(name: str, operands: Sequence[str], keywords: str, result: str) -> str:
    star = "*, " if not operands or not operands[-1].startswith("*") else ""
    given = ", ".join(["self", *operands, f"{star}{keywords}"])
    return f"    def {name}{'_' * keyword.iskeyword(name)}({given}) -> {result}:"


def _operands(each: Overload, variables: TypeVariables) -> list[str]:
    texts = [
        f"{_unique_role(each, at)}: {variables.resolve(each, ' | '.join(operand.kinds))}{' = ...' * operand.optional}"
        for at, operand in enumerate(each.operands)
    ]
    return [*texts, "/"] if texts else []


def _unique_role(each: Overload, at: int) -> str:
    """Returns the name of an operand, with a number if another one before it has the same name."""
    role = each.operands[at].role
    before = sum(other.role == role for other in each.operands[:at])
    return f"{role}{before + 1}" if before else role


def _keywords(words: dict[str, dict[str, None]], each: Overload | None, *, is_plain: bool) -> str:
    """Returns the keyword parameters. Where the result is a vector, its modifier must be given."""
    vector = None if each is None or each.vector is None else each.vector[0]
    texts = [
        f"{slot}: {_literal(values)}{'' if slot == vector else ' | bool = ...'}"
        for slot, values in sorted(words.items())
        if slot == vector or not (each is not None and vector is None and _chooses_vector(slot, values, each))
    ]
    return ", ".join([COMMON_KEYWORDS, *texts, *([] if is_plain else ["**modifiers: str | bool"])])


def _chooses_vector(slot: str, values: dict[str, None], each: Overload) -> bool:
    """Returns whether a modifier would make the result a vector, which another signature has."""
    return slot == "vec" and "v2" in values and each.result.startswith("Register")


def _literal(values: dict[str, None]) -> str:
    return f"Literal[{', '.join(map(repr, values))}]" if len(values) <= MAX_LISTED_VALUES else "str"
