"""A module made ready to run: functions as lists of steps, variables with addresses.

A step is decoded when it is first executed, so that only what runs must have a meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import LaunchError, UnsupportedError
from ptxkit.emulate.groups import CARRY, LOCAL_BASE, STACK_POINTER, Group
from ptxkit.emulate.layout import SharedLayout, place_inner, place_variables, shared_layout
from ptxkit.emulate.loaded_registers import LoadedRegisters, is_load
from ptxkit.emulate.memory import Memory
from ptxkit.emulate.register_flight import Watch, is_issue
from ptxkit.emulate.registry import Bits
from ptxkit.emulate.scopes import Fill, Frame, Label, Register, Scope, Symbol, alignment_of, bytes_of, element_bytes
from ptxkit.emulate.steps import Step, step_of
from ptxkit.emulate.system import system_calls
from ptxkit.emulate.textures import Objects
from ptxkit.emulate.unwritten_reads import WrittenRegisters, doubtful
from ptxkit.emulate.widths import WIDE, unsigned, width_of
from ptxkit.emulate.windows import windows_of
from ptxkit.syntax.tree import (
    Block,
    Body,
    Declaration,
    Directive,
    Function,
    Instruction,
    LabelStatement,
    Module,
    Name,
    Prototype,
)

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta

_CODE_BASE = 0x10_0000
_CODE_STEP = 16
_CHANGING = frozenset({"clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi"})


class Code:
    """The steps of a function. parameters, results: where they are: registers, or variables of the frame.

    instructions, offsets: beside each step what it was made from, and where that stands in the text.
    """

    def __init__(self, function: Function, program: Program) -> None:
        self.name, self.program, self.kind = function.name, program, function.kind
        self.frame = Frame()
        for _, width in ((LOCAL_BASE, 64), (STACK_POINTER, 64), (CARRY, 1)):
            self.frame.place(width)
        self.ops: list[Step] = []
        self.instructions: list[Instruction] = []
        self.offsets: list[int] = []
        self._decoders: list[Callable[[], Step]] = []
        self._body: list[tuple[Instruction, Scope]] = []
        self._watches: list[Watch | LoadedRegisters | WrittenRegisters] = []
        self._live: list[tuple[list[Bits], Cta]] = []
        self.reached: set[int] = set()
        """Where in the text those instructions stand that were executed."""
        scope = Scope(program.scope)
        scope.frame = self.frame
        self.results = [self._formal(each, scope) for each in function.results]
        is_entry = function.kind == "entry"
        self.parameters = [] if is_entry else [self._formal(each, scope) for each in function.parameters]
        if is_entry:
            program.place_parameters(function, scope)
        assert function.body is not None
        self._flatten(function.body, Scope(scope))
        if any(is_issue(opcode) for opcode in self.opcodes):
            self._watches.append(Watch(self._body))
        if any(is_load(opcode) for opcode in self.opcodes):
            self._watches.append(LoadedRegisters(self._body))
        names = doubtful(function, self._body, self.goes_to)
        self._written = WrittenRegisters(self._body, names) if names else None
        if self._written is not None and self._written.slots:
            self._watches.append(self._written)
        self.ops.append(_return)
        self.instructions.append(Instruction("ret"))
        self.offsets.append(self.offsets[-1] if self.offsets else 0)

    @property
    def opcodes(self) -> set[str]:
        """What it executes, each once."""
        return {each.opcode for each in self.instructions}

    def goes_to(self, pc: int) -> list[int]:
        """The steps that an instruction names by their labels, or by a list of labels."""
        if pc >= len(self._body):
            return []
        instruction, scope = self._body[pc]
        names = [each.text for each in instruction.operands if isinstance(each, Name)]
        lists = [found for name in names if isinstance(found := scope.lookup(name), Directive)]
        names += [word for each in lists for word in each.words]
        return [found.place for name in names if isinstance(found := scope.lookup(name), Label)]

    def _formal(self, declaration: Declaration, scope: Scope) -> Register | Symbol:
        (declarator,) = declaration.declarators
        if declaration.space == "reg":
            made = Register((self.frame.place(width_of(declaration.type)),), declaration.type)
            scope.names[declarator.name] = made
            return made
        size, alignment = bytes_of(declaration, declarator), max(alignment_of(declaration), 1)
        symbol = Symbol(
            declarator.name,
            "param",
            self.frame.room(size, alignment),
            size,
            alignment,
            declaration.type,
            element_bytes(declaration),
            framed=True,
        )
        scope.names[declarator.name] = symbol
        return symbol

    def _flatten(self, body: Body, scope: Scope) -> None:
        """Enter the steps of a body and of the blocks in it."""
        program = self.program
        for statement, offset in body.located():
            match statement:
                case Instruction():
                    self.ops.append(self._undecoded(len(self.ops), statement, scope))
                    self.instructions.append(statement)
                    self._body.append((statement, scope))
                    self.offsets.append(offset)
                case LabelStatement(name):
                    scope.names[name] = Label(name, len(self.ops))
                case Declaration(space="reg"):
                    scope.declare_registers(statement)
                case Declaration():
                    place_inner(statement, scope, program.memory, program.shared)
                case Directive(label=str(label)) | Prototype(label=label):
                    scope.names[label] = statement
                case Block(inner):
                    self._flatten(inner, Scope(scope))
                case Function():
                    scope.names.setdefault(statement.name, statement)
                case _:
                    pass

    def _undecoded(self, place: int, instruction: Instruction, scope: Scope) -> Step:
        """What decodes a step when it is first executed, and executes it."""

        def decoded() -> Step:
            try:
                return step_of(instruction, scope, self.program, self._watches)
            except UnsupportedError as error:
                raise UnsupportedError(f"`{instruction.opcode}`: {error}") from error

        self._decoders.append(decoded)

        def decode(group: Group) -> Any:
            step = self.ops[place] = decoded()
            self.reached.add(self.offsets[place])
            for registers, cta in self._live:
                self.extend(registers, cta)
            return step(group)

        return decode

    def unsupported(self) -> list[str]:
        """Why steps cannot be executed, those that never were executed included."""
        found = []
        for decoded in self._decoders:
            try:
                decoded()
            except UnsupportedError as error:
                found.append(str(error))
        return found

    def registers(self, cta: Cta) -> list[Bits]:
        """What the places of the frame hold at first, for the threads of a CTA."""
        made: list[Bits] = []
        self._live.append((made, cta))
        self.extend(made, cta)
        perturbed = cta.machine.unwritten_reads.perturbed
        for slot, name in self._written.slots.items() if perturbed and self._written is not None else ():
            if name in perturbed:
                made[slot] = cta.unwritten(self.frame.fills[slot].width)
        made[LOCAL_BASE] = numpy.zeros(cta.threads, numpy.uint64)
        if self.kind == "entry":
            made[STACK_POINTER] = numpy.full(cta.threads, self.frame.size, numpy.uint64)
        return made

    def forget(self, cta: Cta) -> None:
        """A CTA has ended."""
        self._live = [each for each in self._live if each[1] is not cta]

    def extend(self, registers: list[Bits], cta: Cta) -> None:
        """Add what the frame has got since, as steps were decoded."""
        fills = self.frame.fills
        while len(registers) < len(fills):
            registers.append(_filled(fills[len(registers)], cta))


def _filled(fill: Fill, cta: Cta) -> Bits:
    shape = (cta.threads, 2) if fill.width == WIDE else (cta.threads,)
    if fill.value is not None:
        return numpy.broadcast_to(fill.value, shape)
    if fill.name:
        return cta.special(fill.name, fill.width)
    if fill.offset is not None:
        return numpy.full(shape, fill.offset + cta.shared_start, unsigned(fill.width))
    return cta.zeros(fill.width)


def _return(_group: Group) -> Any:
    from ptxkit.emulate.groups import Leave

    return Leave()


class Program:
    """A module and one of its kernels, ready to be launched once: its memory is the launch's."""

    def __init__(self, module: Module, entry: str, dynamic_shared: int) -> None:
        self.module = module
        self.address_size = module.address_size
        self.windows = windows_of(self.address_size)
        self.memory = Memory(self.windows)
        self.objects = Objects()
        self.entry = _entry_of(module, entry)
        self.shared: SharedLayout = shared_layout(module, self.entry, dynamic_shared)
        self.scope = Scope()
        self.parameters: list[tuple[Declaration, Symbol]] = []
        self._functions = {each.name: each for each in module.functions() if each.body is not None}
        self._codes: dict[str, Code] = {}
        self._addresses: dict[str, int] = {}
        self._system: Mapping[str, Callable[..., Any]] = system_calls()
        for function in module.functions():
            self.scope.names.setdefault(function.name, function)
            self._addresses.setdefault(function.name, _CODE_BASE + _CODE_STEP * len(self._addresses))
        self.scope.addresses = self._addresses
        place_variables(module, self.scope, self.memory, self.shared)

    def code(self, name: str) -> Code:
        """The steps of a function, made when it is first called."""
        found = self._codes.get(name)
        if found is None:
            function = self._functions.get(name)
            if function is None:
                raise UnsupportedError(f"the module has no body of the function {name}")
            found = self._codes[name] = Code(function, self)
        return found

    @property
    def codes(self) -> Iterable[Code]:
        """The functions that were called so far."""
        return self._codes.values()

    def code_address(self, name: str) -> int:
        """The address of a function."""
        return self._addresses.get(name, 0)

    def code_at(self, address: int) -> Code | None:
        """The function at an address; None where there is none."""
        name = next((name for name, at in self._addresses.items() if at == address), None)
        return None if name is None or name not in self._functions else self.code(name)

    def system_call(self, name: str) -> Callable[..., Any] | None:
        """A function that the system provides, such as `vprintf`, unless the module has one of its own."""
        return None if name in self._functions else self._system.get(name)

    def changes(self, name: str) -> bool:
        """Whether a special register may differ each time it is read."""
        return name.lstrip("%") in _CHANGING

    def place_parameters(self, function: Function, scope: Scope) -> None:
        """Give the kernel's parameters their addresses, in one piece, as a launch passes them."""
        sizes = []
        size = 0
        for declaration in function.parameters:
            for declarator in declaration.declarators:
                alignment = max(alignment_of(declaration), 1)
                at = -(-size // alignment) * alignment
                size = at + bytes_of(declaration, declarator)
                sizes.append((declaration, declarator, at, alignment))
        base = self.memory.allocate("param", max(size, 1), 256, "the parameters")
        for declaration, declarator, at, alignment in sizes:
            symbol = Symbol(
                declarator.name,
                "param",
                base + at,
                bytes_of(declaration, declarator),
                alignment,
                declaration.type,
                element_bytes(declaration),
            )
            scope.names[declarator.name] = symbol
            self.parameters.append((declaration, symbol))


def _entry_of(module: Module, name: str) -> Function:
    kernels = [each for each in module.functions() if each.kind == "entry" and each.body is not None]
    found = next((each for each in kernels if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in kernels) or "none"
        raise LaunchError(f"the module has no kernel {name}; its kernels: {known}")
    return found
