"""ptxas folds operations on constants to the results of the shared table of integer operations.

For each instruction there are two kernels that store its results: one executes it, the other contains the numbers.
Where ptxas folds the instruction, it generates the same code for both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from ptxkit.device.ptxas_program import assemble_cubin, find_ptxas, query_ptxas
from ptxkit.elf import ElfFile
from ptxkit.emulator.core.dtypes import is_signed, width_of
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS, bit_mask, interpret
from ptxkit.testing.generators.form_variants import FormVariant, RegisterOperand, variants

EDGES = (0, 1, 5, 31, 32, 33, 64, 255, 256, 0x7FFF, 0x8000, 1 << 31, bit_mask(32), 1 << 63, bit_mask(64))
VERSION, TARGET = (8, 0), "sm_90"
VARIANTS_OF_EACH_FORM = 3
TRIES_OF_EACH_VARIANT = 6
NEVER_ZERO = 0x5A17_9B3C_6D28_E4F1
"""Results are stored with these bits inverted, so that those of zero are not another register."""
FOLDED_AT_LEAST = 400
"""ptxas leaves some to the GPU: divisions of 64 bits, `mul.hi`, `sad`, most of `prmt`."""


@dataclass(frozen=True, slots=True)
class Folding:
    """An instruction with the numbers in its registers, and the results of the table."""

    variant: FormVariant
    operands: Mapping[str, int]
    results: Mapping[str, int]


def evaluate(expression: Expression, operands: Mapping[str, int]) -> Any:
    """Returns the value of an expression.

    Raises LookupError for an operation that is not in the table, or is left open.
    """
    match expression:
        case ConstantExpr(value=value):
            return value
        case OperandRole(name=name):
            return operands[name]
    assert isinstance(expression, CallExpr)
    arguments = [evaluate(each, operands) for each in expression.arguments]
    found = INTEGER_OPERATIONS[expression.function].compute(*arguments)
    if found is None:
        raise LookupError(expression.function)
    return found


def foldings() -> Iterator[Folding]:
    random = Random(3)
    for variant in variants(VERSION, TARGET, VARIANTS_OF_EACH_FORM, 1):
        values = [each for each in variant.match.effects if isinstance(each, Value)]
        if len(values) < len(variant.outputs):
            continue
        for _ in range(TRIES_OF_EACH_VARIANT):
            operands = {
                cell.role: random.choice((random.choice(EDGES), random.getrandbits(64))) % (1 << held_width(cell))
                for cell in variant.inputs
            }
            try:
                results = {each.result: evaluate(each.value, operands | dict(variant.constants)) for each in values}
            except LookupError:
                continue
            yield Folding(variant, operands, results)


def kernel(name: str, folding: Folding, *, executes: bool) -> str:
    """Returns a kernel that stores the results. executes: by the instruction, from registers with constants."""
    variant = folding.variant
    cells = (*variant.inputs, *variant.outputs)
    lines = [f".reg .{'b16' if cell.declared.endswith('8') else cell.declared} {cell.name};" for cell in cells]
    if executes:
        lines += [assign(cell, folding.operands[cell.role]) for cell in variant.inputs]
        lines.append(variant.text)
    else:
        lines += [assign(cell, held_number(cell, folding.results[cell.role])) for cell in variant.outputs]
    for place, cell in enumerate(variant.outputs):
        stored = f"[%to+{8 * place}]"
        width = held_width(cell)
        if width == 1:
            lines.append(f"selp.u32 %truth, 3, 2, {cell.name}; st.global.u32 {stored}, %truth;")
        else:
            lines.append(f"xor.b{width} {cell.name}, {cell.name}, {NEVER_ZERO & bit_mask(width)};")
            lines.append(f"st.global.b{width} {stored}, {cell.name};")
    body = "\n".join(lines)
    return f""".visible .entry {name}(.param .u64 to)
{{ .reg .b64 %to; .reg .b32 %truth; ld.param.u64 %to, [to];
{body}
ret; }}
"""


def held_width(cell: RegisterOperand) -> int:
    """Returns the bits of a register; no instruction moves constants to one of 8 bits, which is therefore one of 16."""
    return 16 if cell.declared.endswith("8") else width_of(cell.declared)


def held_number(cell: RegisterOperand, number: int) -> int:
    """Returns the contents of a register after a number was written to it with the type of the instruction."""
    return interpret(number, width_of(cell.type), is_signed(cell.type)) & bit_mask(held_width(cell))


def assign(cell: RegisterOperand, number: int) -> str:
    if held_width(cell) == 1:
        return f"setp.ne.u32 {cell.name}, {number}, 0;"
    return f"mov.b{held_width(cell)} {cell.name}, {number};"


def machine_code(kernels: Sequence[str]) -> dict[str, bytes]:
    """Returns the code of each kernel that ptxas generates."""
    path = find_ptxas()
    assert path is not None
    head = ".version {}.{}\n.target {}\n.address_size 64\n".format(*VERSION, TARGET)
    cubin, message = assemble_cubin(head + "".join(kernels), TARGET, (), query_ptxas(path))
    assert cubin is not None, message
    elf = ElfFile(cubin)
    return {
        section.name.removeprefix(".text."): elf.contents(section)
        for section in elf.sections()
        if section.name.startswith(".text.")
    }


def without_immediates(code: bytes) -> bytes:
    """Returns instructions of 16 bytes without bytes 4 to 7, which contain an immediate operand."""
    return bytes(0 if 4 <= place % 16 < 8 else byte for place, byte in enumerate(code))


def test_ptxas_folds_constants_to_the_results_of_the_table() -> None:
    cases = list(foldings())
    kernels = [
        kernel(f"{'executes' if executes else 'stores'}_{number}", each, executes=executes)
        for number, each in enumerate(cases)
        for executes in (True, False)
    ]
    code = machine_code(kernels)
    assert len(code) == 2 * len(cases)
    folded, otherwise = [], []
    for number, each in enumerate(cases):
        executed, stored = code[f"executes_{number}"], code[f"stores_{number}"]
        if executed == stored:
            folded.append(each.variant.text)
        elif without_immediates(executed) == without_immediates(stored):
            otherwise.append((each.variant.text, each.operands, each.results))
    assert otherwise == []
    assert len(folded) >= FOLDED_AT_LEAST, len(cases)
