"""The integer registers of a built kernel in each thread of a warp, computed here."""

from __future__ import annotations

import re
from collections.abc import Callable

from ptxkit.syntax import tree
from ptxkit.syntax.tree import Address, Instruction, Integer, Module, Name
from tests.build.support import instructions

_SPECIAL: dict[str, Callable[[int], int]] = {"%tid.x": lambda tid: tid, "%laneid": lambda tid: tid % 32}
_OPERATIONS: dict[str, Callable[..., int]] = {
    "mov": lambda a: a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "mad": lambda a, b, c: a * b + c,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shr": lambda a, b: a >> b,
    "shl": lambda a, b: a << b,
}


def addresses(module: Module, opcode: str, tid: int, variables: dict[str, int]) -> list[int]:
    """Returns the address of each instruction of that name in one thread, with the variables at these places.

    The kernel is straight; instructions that compute no integer leave their results unchanged.
    """
    registers = dict(variables)
    found = []
    for instruction in instructions(module):
        if instruction.opcode.startswith(opcode):
            (address,) = [each for each in instruction.operands if isinstance(each, Address)]
            found.append(_value(address, registers, tid))
        elif instruction.name in _OPERATIONS and re.search(r"\.[usb](32|64)$", instruction.opcode):
            _compute(instruction, registers, tid)
    return found


def _compute(instruction: Instruction, registers: dict[str, int], tid: int) -> None:
    target, *sources = instruction.operands
    assert isinstance(target, Name)
    values = [_value(each, registers, tid) for each in sources]
    registers[target.text] = _OPERATIONS[instruction.name](*values) & 0xFFFFFFFF


def _value(operand: tree.Operand, registers: dict[str, int], tid: int) -> int:
    match operand:
        case Integer(value=value):
            return value
        case Name(text=text):
            return _SPECIAL[text](tid) if text in _SPECIAL else registers[text]
        case Address(base=base, offset=offset):
            return _value(base, registers, tid) + offset
    raise AssertionError(operand)
