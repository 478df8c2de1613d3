"""Calls: arguments are copied to the callee's parameters, and results are copied back when it returns.

Parameters in `.param` space are located in the frames of caller and callee and are copied between these. Those in
`.reg` space are registers.

Source: PTX ISA, "Function Declarations and Definitions", "Control Flow Instructions: call", "Abstracting the ABI".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.emulator.core.findings import ExecutionFault, UnsupportedError
from ptxkit.emulator.core.lane_set import LaneSet, with_lanes_written
from ptxkit.emulator.engine.operand_access import OperandAccess, OperandReader, register_writer
from ptxkit.emulator.state.symbols import RegisterSlots
from ptxkit.emulator.threads.thread_groups import (
    LOCAL_BASE_SLOT,
    STACK_POINTER_SLOT,
    Activation,
    CalledFunction,
    CallSignal,
    Step,
    ThreadGroup,
)
from ptxkit.fast_dataclasses import dataclass
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.syntax.tree import Arguments, Function, Name, Operand

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import FunctionCode

_FRAME_ALIGNMENT = 128


@dataclass(frozen=True, slots=True)
class PassedOperand:
    """An argument, or the destination of a result: a variable in the caller's frame (`symbol`), or else a `source`."""

    symbol: DeclaredVariable | None
    register: RegisterSlots | None
    source: Callable[[str], OperandReader]


@dataclass(frozen=True, slots=True)
class CallSite:
    """The arguments of a call and the destinations of its results."""

    arguments: tuple[PassedOperand, ...]
    results: tuple[PassedOperand, ...]


def call_step(operands: OperandAccess) -> Step:
    """Returns the step that executes a call."""
    match, instruction = operands.match, operands.instruction
    site = CallSite(
        tuple(_passed_operand(each, operands) for each in _operand_list(match.operand("parameters", instruction))),
        tuple(_passed_operand(each, operands) for each in _operand_list(match.operand("results", instruction))),
    )
    node = operands.node("f")
    name = _callee_name(node, operands)
    program = operands.program
    if name is not None:
        intrinsic = program.syscall(name)
        if intrinsic is not None:
            return lambda group: intrinsic(group, site)
        code = program.decode_function(name)
        return lambda _group: CallSignal((CalledFunction(code, site),))
    pointer = operands.value_reader(node, "b64" if program.address_size == 64 else "b32")

    def through_register(group: ThreadGroup) -> Any:
        addresses = pointer.read(group)
        parts = []
        for address in numpy.unique(addresses):
            chosen = program.function_at(int(address))
            some = group.lanes.index[addresses == address]
            if chosen is None:
                raise ExecutionFault(ptx2xx.NO_FUNCTION_AT_ADDRESS(address=int(address)), some)
            parts.append(CalledFunction(chosen, site, LaneSet(some, group.cta.threads)))
        return CallSignal(tuple(parts))

    return through_register


def _callee_name(node: Operand, operands: OperandAccess) -> str | None:
    """Returns the name of the called function, or None if a register holds its address."""
    if isinstance(node, Name):
        found = operands.scope.lookup(node.text)
        if isinstance(found, Function):
            return found.name
        if found is None:
            return node.text
    return None


def _operand_list(node: Operand | None) -> Sequence[Operand]:
    if node is None:
        return ()
    return node.elements if isinstance(node, Arguments) else (node,)


def _passed_operand(node: Operand, operands: OperandAccess) -> PassedOperand:
    symbol = operands.scope.lookup(node.text) if isinstance(node, Name) else None

    def source(type_: str) -> OperandReader:
        return operands.value_reader(node, type_)

    if isinstance(symbol, DeclaredVariable) and symbol.is_in_frame and symbol.space == "param":
        return PassedOperand(symbol, None, source)
    return PassedOperand(None, symbol if isinstance(symbol, RegisterSlots) else None, source)


def enter_call(group: ThreadGroup, code: FunctionCode, site: CallSite) -> Activation:
    """Passes the arguments to a callee's frame, for the threads of a group."""
    cta = group.cta
    caller = group.activation
    activation = caller.callee(code, cta, group.pc)
    where = group.lanes.selector
    pointer = caller.registers[STACK_POINTER_SLOT]
    top = pointer if where is None else pointer[where]
    base = (top + numpy.uint64(_FRAME_ALIGNMENT - 1)) & ~numpy.uint64(_FRAME_ALIGNMENT - 1)
    end = base + numpy.uint64(code.frame.size)
    cta.reserve_local(int(end.max()))
    registers = activation.registers
    registers[LOCAL_BASE_SLOT] = with_lanes_written(registers[LOCAL_BASE_SLOT], where, base)
    registers[STACK_POINTER_SLOT] = with_lanes_written(registers[STACK_POINTER_SLOT], where, end)
    if len(site.arguments) != len(code.parameters):
        raise UnsupportedError(
            f"{code.name} takes {len(code.parameters)} arguments, and the call has {len(site.arguments)}"
        )
    for passed, formal in zip(site.arguments, code.parameters, strict=True):
        _pass_argument(group, passed, formal, activation, base)
    return activation


def _pass_argument(
    group: ThreadGroup,
    passed: PassedOperand,
    formal: RegisterSlots | DeclaredVariable,
    activation: Activation,
    base: Any,
) -> None:
    cta, index = group.cta, group.lanes.index
    if isinstance(formal, RegisterSlots):
        value = passed.source(formal.type).read(group)
        place = formal.slots[0]
        activation.registers[place] = with_lanes_written(activation.registers[place], group.lanes.selector, value)
    elif passed.symbol is not None:
        here = group.registers[LOCAL_BASE_SLOT][index]
        cta.copy_local(
            index, here + numpy.uint64(passed.symbol.address), base + numpy.uint64(formal.address), formal.size
        )
    else:
        value = passed.source(formal.type).read(group)
        cta.store_local(index, base + numpy.uint64(formal.address), value)


def return_from_call(group: ThreadGroup, site: CallSite) -> None:
    """Copies the results of a callee to its caller, for the threads of a group that still executes the callee."""
    activation = group.activation
    caller, code, cta = activation.caller, activation.function, group.cta
    assert caller is not None
    index, where = group.lanes.index, group.lanes.selector
    base = activation.registers[LOCAL_BASE_SLOT][index]
    for passed, formal in zip(site.results, code.results, strict=False):
        if isinstance(formal, RegisterSlots):
            held = activation.registers[formal.slots[0]]
            value = held if where is None else held[where]
        elif passed.symbol is not None:
            there = caller.registers[LOCAL_BASE_SLOT][index] + numpy.uint64(passed.symbol.address)
            cta.copy_local(index, base + numpy.uint64(formal.address), there, passed.symbol.size)
            continue
        else:
            value = cta.load_local(index, base + numpy.uint64(formal.address), formal.size)
        if passed.register is not None:
            target = register_writer(passed.register.slots[0], passed.register.width, formal.type)
            kept, group.registers = group.registers, caller.registers
            target.write(group, value)
            group.registers = kept
        elif passed.symbol is not None:
            there = caller.registers[LOCAL_BASE_SLOT][index] + numpy.uint64(passed.symbol.address)
            cta.store_local(index, there, value)
