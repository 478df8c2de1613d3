"""Finds words of global memory that both atomics and bulk reductions update, by the parameter that points to them.

An atomic is atomic only with respect to other operations of its proxy: a bulk reduction uses the async proxy, `atom`
and `red` use the generic one. An address that is a parameter plus a number is the same for all CTAs, which nothing
orders.

Source: PTX ISA, "Conflict and Data-races", "Morally strong operations", "cp.reduce.async.bulk".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_DEFINITION_CHAIN
from ptxkit.analysis.symexec.access_ranges import MIN_ACCESS_BYTES
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Effect, Value
from ptxkit.isa.expressions import CallExpr, OperandRole, roles_in
from ptxkit.syntax.constants import evaluate
from ptxkit.syntax.tree import Address, Name, Operand

_MOVE_FUNCTIONS = ("copy", "to_generic", "from_generic")

ParameterWord: TypeAlias = tuple[str, int, int]
"""The parameter that holds the pointer, the pointer's offset in it, and the offset from its target in bytes."""


@dataclass(frozen=True, slots=True)
class MixedProxyUpdate:
    """An atomic of the generic proxy, and a bulk reduction of the same word."""

    atomic: Step
    reduction: Step


def find_mixed_proxy_updates(program: Program) -> Iterator[MixedProxyUpdate]:
    """Yields the updates of one word through both proxies."""
    updates = [
        (step, e)
        for step in program.own_effectful_steps
        for e in step.effects
        if isinstance(e, Access) and _is_update(e)
    ]
    if {effect.proxy for _, effect in updates} != {"generic", "async"}:
        return
    words = ParameterAddresses(program)
    atomics = [(step, words.resolve(step, effect)) for step, effect in updates if effect.proxy == "generic"]
    for reduction, effect in updates:
        place = words.resolve(reduction, effect) if effect.proxy == "async" else None
        for atomic, word in atomics if place is not None else ():
            if _is_within(word, place, _updated_bytes(reduction, effect)):
                yield MixedProxyUpdate(atomic, reduction)


def _is_within(word: ParameterWord | None, place: ParameterWord | None, size: int) -> bool:
    if word is None or place is None:
        return False
    return word[:2] == place[:2] and 0 <= word[2] - place[2] < size


def _is_update(effect: Access) -> bool:
    return effect.kind == "update" and effect.via == "address" and effect.space in ("global", "generic")


def _updated_bytes(step: Step, effect: Access) -> int:
    """Returns the number of bytes that a reduction certainly updates."""
    operand = step.operand(effect.size.name) if isinstance(effect.size, OperandRole) else None
    value = None if operand is None else evaluate(operand)
    return MIN_ACCESS_BYTES if value is None else value


class ParameterAddresses:
    """Traces addresses to parameters."""

    def __init__(self, program: Program) -> None:
        self._definitions = program.analysis(ReachingDefinitions)

    def resolve(self, step: Step, effect: Access) -> ParameterWord | None:
        """Returns the word at which an access begins; None where its address is not a parameter plus a number."""
        target = step.operand(effect.address)
        if not isinstance(target, Address) or not isinstance(target.base, Name):
            return None
        moved, name = target.offset, target.base.text
        for _ in range(MAX_DEFINITION_CHAIN):
            sources = self._definitions.definitions_reaching(step, step.scope.register_name(name))
            if len(sources) != 1:
                return None
            [step] = sources
            if step.instruction.guard is not None:
                return None
            found = self._source_of(step)
            if found is None:
                return None
            operand, more = found
            moved += more
            if isinstance(operand, Address):
                base = operand.base.text if isinstance(operand.base, Name) else ""
                return (base, operand.offset, moved) if step.scope.parameter(base) else None
            if not isinstance(operand, Name):
                return None
            name = operand.text
        return None

    def _source_of(self, step: Step) -> tuple[Operand, int] | None:
        """Returns the operand that an assignment copies, and the number of bytes that it adds.

        The result is None for any other computation.
        """
        values = [effect.value for effect in step.effects if isinstance(effect, Value)]
        if len(values) != 1 or not isinstance(values[0], CallExpr):
            return None
        operands = [step.operand(name) for name in roles_in(values[0])]
        if values[0].function == "load" and any(_reads_parameter(effect) for effect in step.effects):
            [address] = operands
            return None if address is None else (address, 0)
        numbers = [evaluate(operand) for operand in operands if operand is not None]
        others = [operand for operand, number in zip(operands, numbers, strict=False) if number is None]
        if values[0].function not in (*_MOVE_FUNCTIONS, "add") or len(others) != 1 or others[0] is None:
            return None
        return others[0], sum(number for number in numbers if number is not None)


def _reads_parameter(effect: Effect) -> bool:
    return isinstance(effect, Access) and effect.kind == "read" and effect.space.startswith("param")
