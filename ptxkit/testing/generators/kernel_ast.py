"""Whole kernels that are free of undefined behavior by construction, as trees of statements.

A kernel reads rows of its input, one 64-bit element for each thread, and writes rows of its output. Threads synchronize
only where all of them execute the same code: at the top level, and in loops with the same number of iterations in all
threads. Instructions of whole warps and barriers occur only there. A register is read only after its first write on
every path; an atomic operation has its own word of memory.

Every bit that a kernel writes is compared. Which NaN an instruction returns is not always specified (`step_catalog`):
if `one_nan` is true, a NaN in a floating-point result is replaced by the canonical NaN of its format before it is used,
so that results are compared modulo the bits of a NaN; otherwise only steps with a specified NaN occur.

The text can be generated with a store after each result (`probes`), so that the first row that differs identifies the
instruction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from ptxkit.emulator.core.dtypes import width_of
from ptxkit.emulator.core.numbers.formats import FORMATS, Format
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.testing.generators.bit_patterns import PATTERNS_PER_BATCH, operand_patterns
from ptxkit.testing.generators.step_catalog import StepTemplate, Version

Words = np.ndarray[Any, np.dtype[np.uint64]]


@dataclass(frozen=True, slots=True)
class LoadStatement:
    """Loads an element of a row of the input to a register. opcode: the load, if it is not the simplest."""

    register: str
    row: int
    opcode: str = ""


@dataclass(frozen=True, slots=True)
class StepStatement:
    """A step. guard: the prefix `@%pred_1 `, or empty."""

    step: StepTemplate
    results: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str = ""


@dataclass(frozen=True, slots=True)
class UpdateStatement:
    """An atomic operation on a separate word of the output or of shared memory."""

    step: StepTemplate
    operand: str
    slot: int


@dataclass(frozen=True, slots=True)
class ExchangeStatement:
    """Each thread receives the value of the thread `distance` further in the CTA through shared memory.

    meets: the barriers after the store and after the load.
    """

    result: str
    operand: str
    distance: int
    barrier: str = "bar.sync 0;"


@dataclass(frozen=True, slots=True)
class IfStatement:
    """A branch with two arms. predicate: a register."""

    predicate: str
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class LoopStatement:
    """A loop. turns: the largest number of iterations, at least one. In a divergent loop, it depends on the thread's
    number.
    """

    counter: str
    trip_count: int
    divergent: bool
    body: tuple[Statement, ...]


Statement: TypeAlias = LoadStatement | StepStatement | UpdateStatement | ExchangeStatement | IfStatement | LoopStatement


@dataclass(frozen=True, slots=True)
class GeneratedKernel:
    """A kernel and its launch. rows: the type of each row of the input; kept: the registers that it writes at its end.

    one_nan: whether each NaN that a step returns is replaced by the canonical one of its format.

    It has two arguments: the rows of the input, uint64 of shape (rows, threads), and those of the output, initially
    zero.
    """

    version: Version
    target: str
    grid: int
    block: int
    rows: tuple[str, ...]
    statements: tuple[Statement, ...]
    result_registers: tuple[str, ...]
    seed: int = 0
    probes: bool = False
    name: str = "kernel"
    canonical_nan: bool = False

    @property
    def threads(self) -> int:
        return self.grid * self.block

    def inputs(self) -> Words:
        """Returns the rows of the input: patterns of their types, including edge values."""
        rows = [_row_patterns(word, place, self.seed, self.threads) for place, word in enumerate(self.rows)]
        return np.stack(rows) if rows else np.zeros((1, self.threads), np.uint64)

    def outputs(self) -> Words:
        """Returns the rows of the output before the launch."""
        return np.zeros((len(self.sources()) + UPDATE_ROWS, self.threads), np.uint64)

    def steps(self) -> Iterator[StepStatement | UpdateStatement]:
        """Yields the steps in the order of the text."""
        yield from (each for each in _flatten(self.statements) if isinstance(each, (StepStatement, UpdateStatement)))

    def sources(self) -> list[str]:
        """Returns the source of each row of the output after those of the updates: an instruction, or `kept`."""
        found = []
        if self.probes:
            for each in _flatten(self.statements):
                found += [_describe(each)] * len(_result_registers(each))
        return found + [f"kept {register}" for register in self.result_registers]

    def module(self) -> str:
        """Returns a module with this kernel."""
        return f"{self.head()}{self.text()}"

    def head(self) -> str:
        major, minor = self.version
        return f".version {major}.{minor}\n.target {self.target}\n.address_size 64\n"

    def text(self) -> str:
        """Returns the text of the kernel."""
        return "\n".join(_KernelWriter(self).lines()) + "\n"


UPDATE_SLOTS = 8
"""The number of 64-bit words for updates in the output, and also in shared memory."""

UPDATE_ROWS = 2
"""The number of rows before the output: updates of the output, and the final shared memory of each CTA."""


def _row_patterns(word: str, place: int, seed: int, threads: int) -> Words:
    """Returns a part of the patterns; predicates are random bits."""
    start = (seed * 7919 + place * 104729) % (PATTERNS_PER_BATCH - threads)
    return operand_patterns("b32" if word == "pred" else word, 1 + place % 3, 0, seed % 64)[start : start + threads]


def _flatten(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    for each in statements:
        if isinstance(each, IfStatement):
            yield from _flatten(each.then)
            yield from _flatten(each.otherwise)
        elif isinstance(each, LoopStatement):
            yield from _flatten(each.body)
        else:
            yield each


def _result_registers(statement: Statement) -> tuple[str, ...]:
    match statement:
        case StepStatement(results=results):
            return results
        case ExchangeStatement(result=result):
            return (result,)
    return ()


def _describe(statement: Statement) -> str:
    match statement:
        case StepStatement(step, results, operands, guard):
            return guard + step.text(results, operands)
        case ExchangeStatement(result, operand, distance):
            return f"exchange {result} <- {operand} of {distance} further"
    return ""


def register_bits(register: str) -> int:
    """Returns the number of bits of a register, which its name states: `%pred_3` (1), `%b32_7`."""
    kind = register[1:].partition("_")[0]
    return 1 if kind == "pred" else width_of(kind)


def _canonicalize_nan(register: str, fmt: Format) -> list[str]:
    """Returns integer instructions that canonicalize a NaN: a pattern above that of infinity, ignoring the sign, is a
    NaN.
    """
    assert fmt.infinity is not None
    assert fmt.nan is not None
    bits, size = fmt.width, f"%size{fmt.width}"
    return [
        f"and.b{bits} {size}, {register}, {fmt.sign - 1:#x};",
        f"setp.gt.u{bits} %is, {size}, {fmt.infinity:#x};",
        f"selp.b{bits} {register}, {fmt.nan:#x}, {register}, %is;",
    ]


@dataclass(slots=True)
class _KernelWriter:
    """Writes the text of one kernel."""

    kernel: GeneratedKernel
    labels: int = 0
    row: int = UPDATE_ROWS
    registers: dict[str, int] = field(default_factory=dict)

    def lines(self) -> list[str]:
        kernel = self.kernel
        body = self.block(kernel.statements)
        for register in kernel.result_registers:
            body += self.store(register)
        for statement in _flatten(kernel.statements):
            loads = (statement.register,) if isinstance(statement, LoadStatement) else _result_registers(statement)
            for register in loads:
                self.declare(register)
        declared = [f".reg .{kind} %{kind}_<{count}>;" for kind, count in self.registers.items()]
        return [
            f".visible .entry {kernel.name}(.param .u64 in_, .param .u64 out_)",
            f".reqntid {kernel.block}",
            "{",
            ".reg .b64 %in, %out, %updates, %at; .reg .pred %is;",
            ".reg .b32 %thread, %tid_, %cta, %own, %other, %word;",
            ".reg .b16 %size16, %low16, %high16; .reg .b32 %size32; .reg .b64 %size64;",
            *declared,
            *self.prologue(),
            *body,
            *self.store_updates(),
            "ret;",
            "}",
        ]

    def prologue(self) -> list[str]:
        """Returns the addresses that the thread reads and writes, and the shared memory, as far as the kernel needs
        them.
        """
        kernel = self.kernel
        flat = list(_flatten(kernel.statements))
        found = []
        if any(isinstance(each, ExchangeStatement) for each in flat):
            found.append(f".shared .align 8 .b8 exchanged[{kernel.block * 8}];")
        if self.has_shared_updates():
            found.append(f".shared .align 8 .b8 updated[{kernel.block * 8}];")
        found += ["ld.param.u64 %in, [in_]; ld.param.u64 %updates, [out_];", "mov.u32 %tid_, %tid.x;"]
        thread = "%tid_"
        if kernel.grid > 1:
            found.append(f"mov.u32 %cta, %ctaid.x; mad.lo.u32 %thread, %cta, {kernel.block}, %tid_;")
            thread = "%thread"
        if kernel.rows:
            found.append(f"mad.wide.u32 %in, {thread}, 8, %in;")
        if self.row > UPDATE_ROWS or self.has_shared_updates():
            found.append(f"mad.wide.u32 %out, {thread}, 8, %updates;")
        return found + self.initialize_updates()

    def declare(self, register: str) -> None:
        kind, _, number = register[1:].partition("_")
        self.registers[kind] = max(self.registers.get(kind, 0), int(number) + 1)

    def initialize_updates(self) -> list[str]:
        if not self.has_shared_updates():
            return []
        return [
            "mov.u32 %word, updated; mad.lo.u32 %word, %tid_, 8, %word;",
            "st.shared.b64 [%word], 0;",
            "bar.sync 0;",
        ]

    def store_updates(self) -> list[str]:
        if not self.has_shared_updates():
            return []
        return [
            "bar.sync 0;",
            "ld.shared.b64 %at, [%word];",
            f"st.global.b64 [%out+{self.kernel.threads * 8}], %at;",
        ]

    def has_shared_updates(self) -> bool:
        found = (each for each in self.kernel.steps() if isinstance(each, UpdateStatement))
        return any(each.step.space == "shared" for each in found)

    def block(self, statements: tuple[Statement, ...]) -> list[str]:
        return [line for each in statements for line in self.statement(each)]

    def statement(self, statement: Statement) -> list[str]:
        match statement:
            case LoadStatement():
                return self.load(statement)
            case StepStatement(step, results, operands, guard):
                text = guard + step.text(results, operands)
                return [text, *self.canonicalize_results(statement), *self.probe(results)]
            case UpdateStatement(step, operand, slot):
                base = "updated" if step.space == "shared" else "%updates"
                return [step.text((), (operand,), f"{base}+{slot * 8}")]
            case ExchangeStatement():
                return [*self.exchange(statement), *self.probe((statement.result,))]
            case IfStatement():
                return self.branch(statement)
            case LoopStatement():
                return self.loop(statement)

    def canonicalize_results(self, statement: StepStatement) -> list[str]:
        """Returns instructions that canonicalize the NaNs of a step, in the threads that executed it."""
        if not self.kernel.canonical_nan or statement.step.fixes_nans:
            return []
        guard = "" if statement.guard[1:].strip() in statement.results else statement.guard
        found = []
        for register, word in zip(statement.results, statement.step.results, strict=True):
            one, _, packed = word.partition("x")
            if packed and one in FORMATS:
                found.append(f"mov.b32 {{%low16, %high16}}, {register};")
                found += _canonicalize_nan("%low16", FORMATS[one]) + _canonicalize_nan("%high16", FORMATS[one])
                found.append(f"mov.b32 {register}, {{%low16, %high16}};")
            elif word in FORMATS:
                found += _canonicalize_nan(register, FORMATS[word])
        return [guard + line for line in found]

    def load(self, statement: LoadStatement) -> list[str]:
        register = statement.register
        place = f"[%in+{statement.row * self.kernel.threads * 8}]"
        if register_bits(register) == 1:
            return [f"ld.global.b32 %own, {place}; and.b32 %own, %own, 1; setp.ne.u32 {register}, %own, 0;"]
        return [f"{statement.opcode or f'ld.global.b{register_bits(register)}'} {register}, {place};"]

    def probe(self, registers: tuple[str, ...]) -> list[str]:
        return [line for each in registers for line in self.store(each)] if self.kernel.probes else []

    def store(self, register: str) -> list[str]:
        place = f"[%out+{self.row * self.kernel.threads * 8}]"
        self.row += 1
        if register_bits(register) == 1:
            return [f"selp.u32 %own, 1, 0, {register}; st.global.b32 {place}, %own;"]
        return [f"st.global.b{register_bits(register)} {place}, {register};"]

    def exchange(self, statement: ExchangeStatement) -> list[str]:
        bits, size = register_bits(statement.operand), register_bits(statement.operand) // 8
        return [
            f"mov.u32 %other, exchanged; mad.lo.u32 %own, %tid_, {size}, %other;",
            f"st.shared.b{bits} [%own], {statement.operand};",
            f"add.u32 %own, %tid_, {statement.distance}; and.b32 %own, %own, {self.kernel.block - 1};",
            f"mad.lo.u32 %own, %own, {size}, %other;",
            statement.barrier,
            f"ld.shared.b{bits} {statement.result}, [%own];",
            statement.barrier,
        ]

    def branch(self, statement: IfStatement) -> list[str]:
        self.labels += 1
        number = self.labels
        return [
            f"@!{statement.predicate} bra ELSE_{number};",
            *self.block(statement.then),
            f"bra END_{number};",
            f"ELSE_{number}:",
            *self.block(statement.otherwise),
            f"END_{number}:",
        ]

    def loop(self, statement: LoopStatement) -> list[str]:
        self.labels += 1
        number, counter = self.labels, statement.counter
        self.declare(counter)
        first = [f"mov.u32 {counter}, {statement.trip_count};"]
        if statement.divergent:
            first = [f"rem.u32 {counter}, %tid_, {statement.trip_count}; add.u32 {counter}, {counter}, 1;"]
        return [
            *first,
            f"LOOP_{number}:",
            *self.block(statement.body),
            f"sub.u32 {counter}, {counter}, 1; setp.ne.u32 %is, {counter}, 0; @%is bra LOOP_{number};",
        ]
