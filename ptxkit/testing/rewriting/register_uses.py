"""The registers whose value a rewrite can carry elsewhere, at the places where instructions read or assign them."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import Access, AsyncRegisters, Control, Value
from ptxkit.syntax.tree import Address, Guard, Instruction, Name, Operand
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis

PREDICATE_BITS = 1
_INTEGER_CLASSES = {
    **{f"{letter}{bits}": bits for letter in "bus" for bits in (32, 64)},
    "pred": PREDICATE_BITS,
}
_GUARD = -1


@dataclass(frozen=True, slots=True)
class RegisterUse:
    """An instruction that reads or assigns a register. bits: 32, 64, or 1 for a predicate. operand: the index of the
    operand that contains the register, or -1 for the guard; None if the instruction assigns the register.
    """

    step: Step
    register: str
    bits: int
    operand: int | None

    def substitute(self, register: str) -> Instruction:
        """Returns the instruction with another register at this place."""
        instruction = self.step.linear.instruction
        if self.operand is None:
            return instruction
        if self.operand == _GUARD:
            assert instruction.guard is not None
            return replace(instruction, guard=Guard(register, instruction.guard.negated))
        old = instruction.operands[self.operand]
        new: Operand = replace(old, base=Name(register)) if isinstance(old, Address) else Name(register)
        operands = instruction.operands
        return replace(instruction, operands=(*operands[: self.operand], new, *operands[self.operand + 1 :]))


def register_uses(function: FunctionAnalysis) -> Iterator[RegisterUse]:
    """Yields the uses at which the value of a register can pass through other instructions without a change.

    Before an instruction with effects these are its guard, the registers of its addresses, and its operands that are
    single registers, unless it reads these asynchronously. After an instruction that only computes or reads memory
    synchronously these are the registers that it assigns.
    """
    for step in function.steps:
        if step.match is None:
            continue
        if not all(isinstance(each, Value) for each in step.effects):
            yield from _uses_before(step)
        if _is_synchronous(step):
            yield from _assignments(step)


def _uses_before(step: Step) -> Iterator[RegisterUse]:
    instruction = step.linear.instruction
    if instruction.guard is not None:
        yield from _use(step, instruction.guard.predicate, _GUARD)
    assert step.match is not None
    results = {step.match.roles[role] for role in step.match.results if role in step.match.roles}
    has_async_registers = any(isinstance(each, AsyncRegisters) for each in step.effects)
    is_call = any(isinstance(each, Control) and each.kind == "call" for each in step.effects)
    for index, operand in enumerate(instruction.operands):
        match operand:
            case Address(base=Name(text)):
                yield from _use(step, text, index)
            case Name(text) if index not in results and not has_async_registers and not is_call:
                yield from _use(step, text, index)


def _assignments(step: Step) -> Iterator[RegisterUse]:
    guard = step.instruction.guard
    assert step.match is not None
    for role in step.match.results:
        operand = step.operand(role)
        if isinstance(operand, Name) and (guard is None or guard.predicate != operand.text):
            yield from _use(step, operand.text, None)


def _use(step: Step, name: str, operand: int | None) -> Iterator[RegisterUse]:
    binding = step.scope.find(name)
    bits = _INTEGER_CLASSES.get(binding.kind) if binding is not None else None
    if bits is not None:
        yield RegisterUse(step, name, bits, operand)


def _is_synchronous(step: Step) -> bool:
    """Returns whether the registers that an instruction assigns have their values when it is complete."""
    return all(
        isinstance(each, Value) or (isinstance(each, Access) and each.kind == "read" and each.completion is None)
        for each in step.effects
    )
