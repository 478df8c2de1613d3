"""Computes registers that depend only on the position of a thread in its block, for all threads of a block at once.

Where the kernel declares no size of its blocks, a block is one row of threads, of the largest size that may be
launched. The lane that `elect.sync` elects is the same whenever the same mask is used, but unknown: each thread is
therefore represented twice, as a lane that is elected and as one that is not.

Source: PTX ISA, "Special Registers: %tid", "elect.sync", "shfl.sync", "Performance-Tuning Directives: .reqntid".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.value_graph import Assignment, Merge, ValueGraph, ValueNode, sole_value
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.sign_extension import sign_extension
from ptxkit.analysis.limits import MAX_VECTOR_DEPTH
from ptxkit.analysis.values.scenario import launch_config_of
from ptxkit.isa import table
from ptxkit.isa.effects import Barrier, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.functions import bits, is_declarable
from ptxkit.limits import MAX_CTA_THREADS
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS, bit_mask, to_signed
from ptxkit.syntax.constants import WARP_SIZE, evaluate
from ptxkit.syntax.tree import Integer, Name, Not, Operand, Unary

Vector: TypeAlias = "tuple[int, ...]"
"""The number that each represented thread has: first those that are not elected, then the same as elected lanes."""

_ALL_LANES = 0xFFFF_FFFF
_PRODUCTS = ("mul", "mul_wide", "mul_hi", "and")


class ThreadVectors:
    """The registers of one function that are the same in each execution of a thread, whatever the arguments are.

    coming_from: returns the represented threads that may come to a block from another one. is_row: whether the block is
    assumed to be one row of threads.
    """

    def __init__(self, program: Program, graph: ValueGraph, coming_from: Callable[[int, int], frozenset[int]]) -> None:
        self._program, self._graph, self._coming_from = program, graph, coming_from
        launch = launch_config_of(program)
        self.is_row = not launch.is_exact
        self._block = launch.block
        if self.is_row:
            self._block = (launch.threads if launch.is_limit else MAX_CTA_THREADS, 1, 1)
        self.threads = self._block[0] * self._block[1] * self._block[2]
        self._known: dict[ValueNode, Vector | None] = {}

    @cached_property
    def warps(self) -> tuple[int, ...]:
        """The warp of each represented thread."""
        return tuple(tid // WARP_SIZE for tid in range(self.threads)) * 2

    def predicate(self, step: Step, name: str) -> Vector | None:
        """Returns the value of a predicate where a step reads it; None if it is not known in each thread."""
        return self._register(step, name, 0)

    def operand(self, step: Step, operand: Operand | None) -> Vector | None:
        """Returns the value of an operand where a step reads it; None if it is not known in each thread."""
        return self._operand(step, operand, 0)

    def _register(self, step: Step, text: str, depth: int) -> Vector | None:
        return self._node(self._graph.before(step, step.scope.register_name(text)), depth + 1)

    def _node(self, node: ValueNode, depth: int) -> Vector | None:
        if node in self._known:
            return self._known[node]
        if depth > MAX_VECTOR_DEPTH:
            return None
        self._known[node] = None  # for a register that depends on itself
        found: Vector | None = None
        if isinstance(node, Assignment):
            found = self._assignment(node, depth)
        elif isinstance(node, Merge):
            found = self._merge(node, depth)
        self._known[node] = found
        return found

    def _merge(self, node: Merge, depth: int) -> Vector | None:
        """Returns the value that each thread has, whatever edge it comes from."""
        found: list[int | None] = [None] * (2 * self.threads)
        for block, source in self._graph.sources_of(node):
            value = self._node(source, depth + 1)
            for role in range(2 * self.threads) if block is None else self._coming_from(block, node.block):
                known = found[role]
                if value is None or known not in (None, value[role]):
                    return None
                found[role] = value[role]
        return tuple(each or 0 for each in found)

    def _assignment(self, node: Assignment, depth: int) -> Vector | None:
        step, guard = node.step, node.step.instruction.guard
        effect = sole_value(step, node.register)
        target = step.operand(effect.result) if effect is not None else None
        named = step.scope.find(target.text) if isinstance(target, Name) else None
        if effect is None or named is None or not (is_declarable(named.kind) or named.kind == "pred"):
            return None
        found = self._expression(step, effect.value, depth)
        if found is None:
            return None
        types = sign_extension(step, effect.result, node.register)
        kept = bit_mask(bits(named.kind) if named.kind != "pred" else 1)
        if types is not None:
            found = tuple(to_signed(each & bit_mask(bits(types[0])), bits(types[0])) & kept for each in found)
        else:
            found = tuple(each & kept for each in found)
        if guard is None:
            return found
        executes = self._register(step, guard.predicate, depth)
        before = self._node(self._graph.before(step, node.register), depth + 1)
        if executes is None or before is None:
            return None
        return tuple(
            new if bool(p) != guard.negated else old for p, new, old in zip(executes, found, before, strict=True)
        )

    def _expression(self, step: Step, expression: Expression, depth: int) -> Vector | None:
        match expression:
            case ConstantExpr(value=bool() | int() as number):
                return self._constant(int(number))
            case OperandRole(name=role):
                return self._operand(step, step.operand(role), depth)
            case CallExpr(function="elected"):
                return (0,) * self.threads + (1,) * self.threads if self._elects_one_lane else None
            case CallExpr(function="shuffle", arguments=(_, source, *_)):
                value = self._expression(step, source, depth)
                return value if value is not None and self._is_equal_in_warps(value) else None
            case CallExpr():
                return self._operation(step, expression, depth)
        return None

    def _operation(self, step: Step, call: CallExpr, depth: int) -> Vector | None:
        operation = INTEGER_OPERATIONS.get(call.function)
        if operation is None:
            return None
        columns: list[Sequence[object] | None] = []
        for at, each in enumerate(call.arguments):
            if at in operation.static:
                if not isinstance(each, ConstantExpr):
                    return None
                columns.append((each.value,) * (2 * self.threads))
                continue
            value = self._expression(step, each, depth)
            if value is not None and call.function in _PRODUCTS and not any(value):
                return value  # zero, whatever the other operands are
            columns.append(value)
        if None in columns:
            return None
        found = _compute(operation.compute, [each for each in columns if each is not None])
        return None if None in found else tuple(each for each in found if each is not None)

    def _operand(self, step: Step, operand: Operand | None, depth: int) -> Vector | None:
        match operand:
            case Integer() | Unary():
                number = evaluate(operand)
                return None if number is None else self._constant(number)
            case Not(operand=inner):
                value = self._operand(step, inner, depth)
                return None if value is None else tuple(1 - (each & 1) for each in value)
            case Name(text=text):
                if table().special(text) is not None and not step.scope.shadows_special_register(text):
                    return self._special(text)
                named = step.scope.find(text)
                is_register = named is not None and named.is_register and step.scope.variable(text) is None
                return self._register(step, text, depth) if is_register else None
        return None

    def _special(self, text: str) -> Vector | None:
        register, _, axis = text.partition(".")
        x, y, _ = self._block
        tids = range(self.threads)
        match register, axis:
            case "%tid", "x":
                found = tuple(tid % x for tid in tids)
            case "%tid", "y":
                found = tuple(tid // x % y for tid in tids)
            case "%tid", "z":
                found = tuple(tid // (x * y) for tid in tids)
            case "%laneid", "":
                found = tuple(tid % WARP_SIZE for tid in tids)
            case "%ntid", ("x" | "y" | "z") if axis != "x" or not self.is_row:
                found = (self._block["xyz".index(axis)],) * self.threads
            case "WARP_SZ", "":
                found = (WARP_SIZE,) * self.threads
            case _:
                return None
        return found * 2

    def _constant(self, number: int) -> Vector:
        return (number,) * (2 * self.threads)

    @cached_property
    def _elects_one_lane(self) -> bool:
        """Whether each election of the function is among all lanes of a warp, so that the same lane is elected."""
        masks = ThreadVectors(self._program, self._graph, self._coming_from)
        masks.__dict__["_elects_one_lane"] = False  # no mask may depend on an election
        return all(
            masks.is_full_mask(step, effect.number)
            for step in self._program.own_effectful_steps
            if any(isinstance(each, Value) and _elects(each.value) for each in step.effects)
            for effect in step.effects
            if isinstance(effect, Barrier)
        )

    def is_full_mask(self, step: Step, mask: Expression | None) -> bool:
        """Returns whether a mask has all lanes of a warp in each thread."""
        found = self._expression(step, mask, 0) if mask is not None else None
        return found is not None and {each & _ALL_LANES for each in found} == {_ALL_LANES}

    def _is_equal_in_warps(self, value: Vector) -> bool:
        found: dict[int, int] = {}
        return all(found.setdefault(warp, number) == number for warp, number in zip(self.warps, value, strict=True))


def _compute(compute: Callable[..., int | None], columns: Sequence[Sequence[object]]) -> list[int | None]:
    results: dict[tuple[object, ...], int | None] = {}
    found = []
    for row in zip(*columns, strict=True):
        if row not in results:
            results[row] = compute(*row)
        found.append(results[row])
    return found


def _elects(expression: Expression) -> bool:
    if not isinstance(expression, CallExpr):
        return False
    return expression.function == "elected" or any(map(_elects, expression.arguments))
