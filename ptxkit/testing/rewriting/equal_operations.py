"""Other instructions with the same result, as other compilers choose them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import ClassVar

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr
from ptxkit.syntax.tree import Instruction, Integer, Name, Operand
from ptxkit.syntax.tree_edit import TreeEdit, parse_statements
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.rewriting.kernel_rewrite import RewritePlace

_SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
_TRUTH_TABLES = {"and": 0xC0, "or": 0xFC, "xor": 0x3C}
_WIDTHS = (32, 64)


class EqualOperation:
    """Replaces an integer operation by others with the same result.

    Sums, differences and products are equal modulo 2^32 and 2^64: a shift is a multiplication by a power of two, and a
    difference is the sum with the negative number. `lop3` computes any function of two bits. A comparison is that of
    the operands in the other order, and the negation of the opposite one. A selection is one of two guarded moves.
    """

    name: ClassVar[str] = "equal-operation"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        for step in function.steps:
            if step.match is not None and len(step.effects) == 1 and step.instruction.guard is None:
                texts = _equal_texts(step, step.effects[0])
                if texts:
                    yield partial(self._edit, step.start, texts)

    @staticmethod
    def _edit(start: int, texts: list[str], chance: Random) -> TreeEdit:
        made = parse_statements(chance.choice(texts).replace("%new", f"%rw{start}_"))
        instructions = tuple(each for each in made if isinstance(each, Instruction))
        declarations = tuple(each for each in made if not isinstance(each, Instruction))
        return TreeEdit({start: tuple(map(replace, instructions))}, declarations)


def _equal_texts(step: Step, effect: object) -> list[str]:
    """Returns the texts of instructions with the result of an operation; `%new` begins the names of new registers."""
    operands = [each for each in map(_text_of, [step] * 5, step.instruction.operands) if each is not None]
    if len(operands) != len(step.instruction.operands) or not isinstance(effect, Value):
        return []
    match effect.value:
        case CallExpr("compare", (ConstantExpr(str(test)), ConstantExpr(str(kind)), *_)) if test in _SWAPPED:
            return _comparisons(test, kind, operands) if kind[0] in "us" else []
        case CallExpr("select", (ConstantExpr(bits), *_)) if bits in _WIDTHS:
            target, first, second, test = operands
            return [f"@{test} mov.b{bits} {target}, {first}; @!{test} mov.b{bits} {target}, {second};"]
        case CallExpr("mul_wide", (ConstantExpr(32), ConstantExpr(is_signed), *_)):
            kind = "s" if is_signed else "u"
            target, first, second = operands
            wide = f".reg .b64 %newa, %newb; cvt.{kind}64.{kind}32 %newa, {first};"
            other = f"mov.b32 %newc, {second}; cvt.{kind}64.{kind}32 %newb, %newc;"
            return [f".reg .b32 %newc; {wide} {other} mul.lo.{kind}64 {target}, %newa, %newb;"]
        case CallExpr(str(function), (ConstantExpr(int(bits)), *_)) if bits in _WIDTHS and len(operands) == 3:
            if step.instruction.opcode.count(".") == 1 + (function == "mul"):
                return _arithmetic(function, bits, operands, step.instruction.operands[2])
    return []


def _comparisons(test: str, kind: str, operands: list[str]) -> list[str]:
    target, first, second = operands
    return [
        f"setp.{_SWAPPED[test]}.{kind} {target}, {second}, {first};",
        f"setp.{_NEGATED[test]}.{kind} {target}, {first}, {second}; not.pred {target}, {target};",
    ]


def _arithmetic(function: str, bits: int, operands: list[str], last: Operand) -> list[str]:
    target, first, second = operands
    number = last.value if isinstance(last, Integer) else None
    match function:
        case "add":
            negative = [f"sub.s{bits} {target}, {first}, {-number};"] if number is not None else []
            return [*negative, f"mad.lo.s{bits} {target}, {first}, 1, {second};"]
        case "sub":
            return [f".reg .b{bits} %newn; neg.s{bits} %newn, {second}; add.s{bits} {target}, {first}, %newn;"]
        case "shl" if number is not None and 0 <= number < bits - 1:
            return [f"mul.lo.s{bits} {target}, {first}, {1 << number};"]
        case "mul" if number is not None and number > 0 and number & number - 1 == 0:
            return [f"shl.b{bits} {target}, {first}, {number.bit_length() - 1};"]
        case "and" | "or" | "xor" if bits == _WIDTHS[0]:
            return [f"lop3.b32 {target}, {first}, {second}, 0, {_TRUTH_TABLES[function]};"]
    return []


def _text_of(step: Step, operand: Operand) -> str | None:
    """Returns the text of a register or of an integer; None for other operands."""
    if isinstance(operand, Integer):
        return str(operand.value)
    binding = step.scope.find(operand.text) if isinstance(operand, Name) else None
    is_register = binding is not None and binding.is_register
    return operand.text if isinstance(operand, Name) and is_register else None
