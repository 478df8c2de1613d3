"""Calls: arguments go to the callee's parameters, results come back when it returns.

Parameters in `.param` space lie in the frames of caller and callee; they are copied from one to the other. Those in
`.reg` space are registers.

Source: PTX ISA, "Function Declarations and Definitions", "Control Flow Instructions: call", "Abstracting the ABI".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.control import callee_name
from ptxkit.emulate.faults import Fault, UnsupportedError
from ptxkit.emulate.groups import LOCAL_BASE, STACK_POINTER, Activation, Enter, Group
from ptxkit.emulate.lanes import Lanes, written
from ptxkit.emulate.operands import Operands, Source, register_target
from ptxkit.emulate.scopes import Register, Symbol
from ptxkit.records import dataclass
from ptxkit.syntax.tree import Arguments, Name, Operand

if TYPE_CHECKING:
    from ptxkit.emulate.program import Code
    from ptxkit.emulate.steps import Step

_FRAME_ALIGNMENT = 128


@dataclass(frozen=True, slots=True)
class Passed:
    """An argument or a place for a result. symbol: a variable in the caller's frame; else `source` is read."""

    symbol: Symbol | None
    register: Register | None
    source: Callable[[str], Source]


@dataclass(frozen=True, slots=True)
class CallSite:
    """What a call passes, and where its results go."""

    arguments: tuple[Passed, ...]
    results: tuple[Passed, ...]


def call_step(operands: Operands) -> Step:
    """What executes a call."""
    match, instruction = operands.match, operands.instruction
    site = CallSite(
        tuple(_passed(each, operands) for each in _listed(match.operand("parameters", instruction))),
        tuple(_passed(each, operands) for each in _listed(match.operand("results", instruction))),
    )
    node = operands.node("f")
    name = callee_name(node, operands)
    program = operands.program
    if name is not None:
        intrinsic = program.system_call(name)
        if intrinsic is not None:
            return lambda group: intrinsic(group, site)
        code = program.code(name)
        return lambda _group: Enter(((code, site),))
    pointer = operands.value(node, "b64" if program.address_size == 64 else "b32")

    def through_register(group: Group) -> Any:
        addresses = pointer.read(group)
        parts = []
        for address in numpy.unique(addresses):
            chosen = program.code_at(int(address))
            some = group.lanes.index[addresses == address]
            if chosen is None:
                raise Fault("PTX207", f"there is no function at 0x{int(address):x}", some)
            parts.append((chosen, site, Lanes(some, group.cta.threads)))
        return Enter(tuple(parts))

    return through_register


def _listed(node: Operand | None) -> Sequence[Operand]:
    if node is None:
        return ()
    return node.elements if isinstance(node, Arguments) else (node,)


def _passed(node: Operand, operands: Operands) -> Passed:
    symbol = operands.scope.lookup(node.text) if isinstance(node, Name) else None

    def source(type_: str) -> Source:
        return operands.value(node, type_)

    if isinstance(symbol, Symbol) and symbol.framed and symbol.space == "param":
        return Passed(symbol, None, source)
    return Passed(None, symbol if isinstance(symbol, Register) else None, source)


def enter(group: Group, code: Code, site: CallSite) -> Activation:
    """Pass the arguments to a callee's frame, for the threads of a group."""
    cta = group.cta
    caller = group.activation
    activation = caller.called(code, cta, group.pc)
    where = group.lanes.where
    pointer = caller.registers[STACK_POINTER]
    top = pointer if where is None else pointer[where]
    base = (top + numpy.uint64(_FRAME_ALIGNMENT - 1)) & ~numpy.uint64(_FRAME_ALIGNMENT - 1)
    end = base + numpy.uint64(code.frame.size)
    cta.need_local(int(end.max()))
    registers = activation.registers
    registers[LOCAL_BASE] = written(registers[LOCAL_BASE], where, base)
    registers[STACK_POINTER] = written(registers[STACK_POINTER], where, end)
    if len(site.arguments) != len(code.parameters):
        raise UnsupportedError(
            f"{code.name} takes {len(code.parameters)} arguments, and the call has {len(site.arguments)}"
        )
    for passed, formal in zip(site.arguments, code.parameters, strict=True):
        _give(group, passed, formal, activation, base)
    return activation


def _give(group: Group, passed: Passed, formal: Register | Symbol, activation: Activation, base: Any) -> None:
    """One argument."""
    cta, index = group.cta, group.lanes.index
    if isinstance(formal, Register):
        value = passed.source(formal.type).read(group)
        place = formal.slots[0]
        activation.registers[place] = written(activation.registers[place], group.lanes.where, value)
    elif passed.symbol is not None:
        here = group.registers[LOCAL_BASE][index]
        cta.copy_local(
            index, here + numpy.uint64(passed.symbol.address), base + numpy.uint64(formal.address), formal.size
        )
    else:
        value = passed.source(formal.type).read(group)
        cta.put_local(index, base + numpy.uint64(formal.address), value)


def leave(group: Group, site: CallSite) -> None:
    """Bring the results of a callee back to its caller, for the threads of a group that is still the callee's."""
    activation = group.activation
    caller, code, cta = activation.caller, activation.code, group.cta
    assert caller is not None
    index, where = group.lanes.index, group.lanes.where
    base = activation.registers[LOCAL_BASE][index]
    for passed, formal in zip(site.results, code.results, strict=False):
        if isinstance(formal, Register):
            held = activation.registers[formal.slots[0]]
            value = held if where is None else held[where]
        elif passed.symbol is not None:
            there = caller.registers[LOCAL_BASE][index] + numpy.uint64(passed.symbol.address)
            cta.copy_local(index, base + numpy.uint64(formal.address), there, passed.symbol.size)
            continue
        else:
            value = cta.get_local(index, base + numpy.uint64(formal.address), formal.size)
        if passed.register is not None:
            target = register_target(passed.register.slots[0], passed.register.width, formal.type)
            kept, group.registers = group.registers, caller.registers
            target.write(group, value)
            group.registers = kept
        elif passed.symbol is not None:
            there = caller.registers[LOCAL_BASE][index] + numpy.uint64(passed.symbol.address)
            cta.put_local(index, there, value)
