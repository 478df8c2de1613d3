"""A module prepared for execution: functions as lists of steps, variables with addresses.

A step is decoded when it is first executed, so that only executed instructions must be supported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.address_windows import windows_of
from ptxkit.emulator.core.dtypes import WIDE, unsigned_dtype, width_of
from ptxkit.emulator.core.findings import InvalidLaunchError, UnsupportedError
from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.emulator.engine.decoder import decode_step
from ptxkit.emulator.engine.syscalls import syscalls
from ptxkit.emulator.races.tcgen05_load_hazards import LoadedRegisterWatch, may_load_tensor_memory
from ptxkit.emulator.races.uninitialized_registers import InitializedRegisters, maybe_uninitialized
from ptxkit.emulator.races.wgmma_register_hazards import RegisterWatch, may_issue_register_op
from ptxkit.emulator.state.memory import LaunchMemory
from ptxkit.emulator.state.memory_layout import lay_out_shared, place_function_variables, place_variables
from ptxkit.emulator.state.symbols import BlockScope, FrameLayout, RegisterSlots, SlotInitializer
from ptxkit.emulator.state.textures import TextureHandles
from ptxkit.emulator.threads.thread_groups import (
    CARRY_SLOT,
    LOCAL_BASE_SLOT,
    STACK_POINTER_SLOT,
    ReturnSignal,
    Step,
    ThreadGroup,
)
from ptxkit.fast_dataclasses import replace
from ptxkit.semantics.layout import DeclaredVariable, lay_out_parameters, variable_of
from ptxkit.semantics.linear_code import LinearStep, linearize
from ptxkit.semantics.symbols import defined_functions
from ptxkit.syntax.tree import Declaration, Function, Instruction, Module

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import CtaState

_FUNCTION_ADDRESS_BASE = 0x10_0000
_FUNCTION_ADDRESS_STEP = 16
_CHANGING_SPECIALS = frozenset({"clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi"})


class DecodedFunction:
    """The steps of a function.

    `parameters` and `results` are registers, or variables of the frame. `instructions` and `offsets` have the
    instruction of each step and its offset in the text.
    """

    def __init__(self, function: Function, program: Executable) -> None:
        self.name, self.program, self.kind = function.name, program, function.kind
        self.frame = FrameLayout()
        for _, width in ((LOCAL_BASE_SLOT, 64), (STACK_POINTER_SLOT, 64), (CARRY_SLOT, 1)):
            self.frame.new_slot(width)
        self._instrumentations: list[RegisterWatch | LoadedRegisterWatch | InitializedRegisters] = []
        self._live_frames: list[tuple[list[Bits], CtaState]] = []
        self.reached_offsets: set[int] = set()
        """The offsets in the text of the instructions that were executed."""
        scope = BlockScope(program.scope)
        scope.frame = self.frame
        scope.enter_parameters(function)
        self.results = [self._declare_formal(each, scope) for each in function.results]
        is_entry = function.kind == "entry"
        self.parameters = [] if is_entry else [self._declare_formal(each, scope) for each in function.parameters]
        if is_entry:
            program.place_parameters(function, scope)
        assert function.body is not None
        code = linearize(function.body, scope)
        self._linear_steps = code.steps
        shared_offsets = iter(program.shared.local.get(function.name, ()))
        for declaration, where in code.variables:
            place_function_variables(declaration, where, program.memory, shared_offsets)
        self.steps: list[Step] = [*map(self._lazy_step, range(len(code.steps))), _implicit_return]
        self.instructions = [*(each.instruction for each in code.steps), Instruction("ret")]
        self.offsets = [*(each.start for each in code.steps), code.steps[-1].start if code.steps else 0]
        self._add_instrumentations(function)

    def _add_instrumentations(self, function: Function) -> None:
        """Selects the checks of registers that the function needs."""
        if any(may_issue_register_op(opcode) for opcode in self.opcodes):
            self._instrumentations.append(RegisterWatch(self._linear_steps))
        if any(may_load_tensor_memory(opcode) for opcode in self.opcodes):
            self._instrumentations.append(LoadedRegisterWatch(self._linear_steps))
        names = maybe_uninitialized(function, self._linear_steps)
        self._initialized = InitializedRegisters(self._linear_steps, names) if names else None
        if self._initialized is not None and self._initialized.slots:
            self._instrumentations.append(self._initialized)

    @property
    def opcodes(self) -> set[str]:
        """The opcodes in the function, without duplicates."""
        return {each.opcode for each in self.instructions}

    def branch_targets(self, pc: int) -> tuple[int, ...]:
        """Returns the steps that an instruction can branch to."""
        return self._linear_steps[pc].targets if pc < len(self._linear_steps) else ()

    def _declare_formal(self, declaration: Declaration, scope: BlockScope) -> RegisterSlots | DeclaredVariable:
        (declarator,) = declaration.declarators
        if declaration.space == "reg":
            made = RegisterSlots((self.frame.new_slot(width_of(declaration.type)),), declaration.type)
            scope.meanings[declarator.name] = made
            return made
        symbol = self.frame.place(replace(variable_of(declaration, declarator), space="param"))
        scope.meanings[declarator.name] = symbol
        return symbol

    def _lazy_step(self, pc: int) -> Step:
        """Returns a step that decodes its instruction on its first execution, and executes it."""

        def decode(group: ThreadGroup) -> Any:
            step = self.steps[pc] = self._decode(self._linear_steps[pc])
            self.reached_offsets.add(self.offsets[pc])
            for registers, cta in self._live_frames:
                self.extend_registers(registers, cta)
            return step(group)

        return decode

    def _decode(self, step: LinearStep[BlockScope]) -> Step:
        try:
            return decode_step(step, self.program, self._instrumentations)
        except UnsupportedError as error:
            raise UnsupportedError(f"`{step.instruction.opcode}`: {error}") from error

    def unsupported_reasons(self) -> list[str]:
        """Returns the reasons why steps cannot be executed, including those that were never executed."""
        found = []
        for step in self._linear_steps:
            try:
                self._decode(step)
            except UnsupportedError as error:
                found.append(str(error))
        return found

    def new_registers(self, cta: CtaState) -> list[Bits]:
        """Returns the initial values of the frame's slots for the threads of a CTA."""
        made: list[Bits] = []
        self._live_frames.append((made, cta))
        self.extend_registers(made, cta)
        perturbed = cta.machine.uninitialized_reads.perturbed
        for slot, name in self._initialized.slots.items() if perturbed and self._initialized is not None else ():
            if name in perturbed:
                made[slot] = cta.filled_register(self.frame.slots[slot].width)
        made[LOCAL_BASE_SLOT] = numpy.zeros(cta.threads, numpy.uint64)
        if self.kind == "entry":
            made[STACK_POINTER_SLOT] = numpy.full(cta.threads, self.frame.size, numpy.uint64)
        return made

    def drop_cta(self, cta: CtaState) -> None:
        """Discards the state of a CTA that has exited."""
        self._live_frames = [each for each in self._live_frames if each[1] is not cta]

    def extend_registers(self, registers: list[Bits], cta: CtaState) -> None:
        """Appends the slots that were added to the frame since then, when steps were decoded."""
        fills = self.frame.slots
        while len(registers) < len(fills):
            registers.append(_initial_slot_value(fills[len(registers)], cta))


def _initial_slot_value(fill: SlotInitializer, cta: CtaState) -> Bits:
    shape = (cta.threads, 2) if fill.width == WIDE else (cta.threads,)
    if fill.value is not None:
        return numpy.broadcast_to(fill.value, shape)
    if fill.name:
        return cta.constant_special(fill.name, fill.width)
    if fill.offset is not None:
        return numpy.full(shape, fill.offset + cta.shared_start, unsigned_dtype(fill.width))
    return cta.initial_register(fill.width)


def _implicit_return(_group: ThreadGroup) -> Any:
    return ReturnSignal()


class Executable:
    """A module and one of its kernels, prepared for one launch, to which its memory belongs.

    least_alignment: as for `lay_out_shared`.
    """

    def __init__(self, module: Module, entry: str, dynamic_shared: int, least_alignment: int | None = None) -> None:
        self.module = module
        self.address_size = module.address_size
        self.windows = windows_of(self.address_size)
        self.memory = LaunchMemory(self.windows)
        self.texture_handles = TextureHandles()
        self.entry = _find_entry(module, entry)
        self.scope = BlockScope()
        self.parameters: list[tuple[Declaration, DeclaredVariable]] = []
        self._functions = defined_functions(module)
        self._decoded_functions: dict[str, DecodedFunction] = {}
        self._addresses: dict[str, int] = {}
        self._syscalls: Mapping[str, Callable[..., Any]] = syscalls()
        for function in module.functions():
            self._addresses.setdefault(
                function.name, _FUNCTION_ADDRESS_BASE + _FUNCTION_ADDRESS_STEP * len(self._addresses)
            )
        self.scope.addresses = self._addresses
        for item, start in module.with_offsets():
            self.scope.enter(item, start)
        self.shared = lay_out_shared(self.scope, self._functions, self.entry, dynamic_shared, least_alignment)
        place_variables(self.scope, self.memory, self.shared)

    def decode_function(self, name: str) -> DecodedFunction:
        """Returns the decoded function, which is created on its first call."""
        function = self._functions.get(name)
        if function is None:
            raise UnsupportedError(f"the module has no body of the function {name}")
        found = self._decoded_functions.get(function.name)
        if found is None:
            found = self._decoded_functions[function.name] = DecodedFunction(function, self)
        return found

    @property
    def decoded_functions(self) -> Iterable[DecodedFunction]:
        """The functions that were called so far."""
        return self._decoded_functions.values()

    def function_address(self, name: str) -> int:
        """Returns the address of a function."""
        return self._addresses.get(name, 0)

    def function_at(self, address: int) -> DecodedFunction | None:
        """Returns the function at an address, or None if none exists."""
        name = next((name for name, at in self._addresses.items() if at == address), None)
        return None if name is None or name not in self._functions else self.decode_function(name)

    def syscall(self, name: str) -> Callable[..., Any] | None:
        """Returns a function that the system provides, such as `vprintf`, unless the module defines it."""
        return None if name in self._functions else self._syscalls.get(name)

    def is_changing_special(self, name: str) -> bool:
        """Returns whether a special register may have another value at each read."""
        return name.lstrip("%") in _CHANGING_SPECIALS

    def place_parameters(self, function: Function, scope: BlockScope) -> None:
        """Assigns addresses to the kernel's parameters in one contiguous block, as a launch passes them."""
        offsets, size = lay_out_parameters(function.parameters)
        base = self.memory.allocate("param", max(size, 1), 256, "the parameters")
        for declaration, offset in zip(function.parameters, offsets, strict=True):
            variable = variable_of(declaration, declaration.declarators[0])
            symbol = replace(variable, space="param", address=base + offset)
            scope.meanings[symbol.name] = symbol
            self.parameters.append((declaration, symbol))


def _find_entry(module: Module, name: str) -> Function:
    kernels = [each for each in module.functions() if each.kind == "entry" and each.body is not None]
    found = next((each for each in kernels if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in kernels) or "none"
        raise InvalidLaunchError(f"the module has no kernel {name}; its kernels: {known}")
    return found
