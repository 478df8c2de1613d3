"""Multiplication by single threads, of tiles in shared and Tensor Memory, and commits that tell when it is done.

What the products are is computed when the instruction is issued; its operands in shared memory are in use until an
mbarrier tells of a commit behind it.
Source: PTX ISA, "TensorCore 5th Generation Instructions: tcgen05.mma", "tcgen05.commit"; Data path layout organization.
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulate.actions.tensor_memory import fault, number, one_cta
from ptxkit.emulate.actions.warpgroups import Reads
from ptxkit.emulate.faults import Fault
from ptxkit.emulate.groups import Group
from ptxkit.emulate.numbers.formats import DTYPES
from ptxkit.emulate.objects import one_by_one
from ptxkit.emulate.operations import TCGEN05
from ptxkit.emulate.registry import Function, action
from ptxkit.emulate.tensor.instruction_descriptor import InstructionDescriptor, decode
from ptxkit.emulate.tensor.products import floating, integral, values
from ptxkit.emulate.tensor.tensor_memory import LANES, WARP, Misuse, TensorMemory, of_cta, split
from ptxkit.isa.functions import bits


@action
def tmem_multiply(*, kind: str, ctas: str, held: bool = False) -> Function:
    """D = A * B + D in Tensor Memory, or A * B where a predicate is false. held: A is in Tensor Memory, too.

    lanes: a bit for each lane of D that stays as it is. shift: D counts so many powers of two less.
    """
    one_cta(ctas)
    name = kind.removeprefix("kind::")
    if name not in ("f16", "tf32", "f8f6f4", "i8"):
        raise NotImplementedError(f"the machine has no products of .{kind}")

    def multiply(  # noqa: PLR0913, PLR0917 (the operands of one instruction)
        group: Group, d: Any, a: Any, b: Any, idesc: Any, enable: Any, lanes: Any = None, shift: Any = None
    ) -> None:
        for position in range(group.lanes.count):
            try:
                how = decode(number(idesc, position), name)
            except ValueError as error:
                raise Fault("PTX206", f"tcgen05.mma: {error}", group.lanes.index[position : position + 1]) from error
            kept = [] if lanes is None else [number(each, position) for each in lanes]
            scale = 2.0 ** -(0 if shift is None else number(shift, position))
            operands = [number(each, position) for each in (d, a, b)]
            try:
                _one(group, position, how, held, operands, bool(number(enable, position)), kept, scale)
            except Misuse as misuse:
                raise fault(group, misuse, position) from misuse

    return multiply


def _one(  # noqa: PLR0913, PLR0917
    group: Group,
    position: int,
    how: InstructionDescriptor,
    held: bool,
    operands: list[int],
    adds: bool,
    kept: list[int],
    scale: float,
) -> None:
    memory, (to, left, right) = of_cta(group.cta), operands
    thread = group.lanes.index[position : position + 1]
    reads = Reads(group, thread // WARP)
    y = reads.tile([right], how.n, how.k, bits(how.right), how.turned[1])[0].T
    x = _held(memory, left, how) if held else reads.tile([left], how.m, how.k, bits(how.left), how.turned[0])[0]
    rows, first = _rows(how.m, to)
    columns = first + numpy.arange(how.n)
    memory.check(columns)
    width = bits(how.result)
    before = memory.words[rows[:, None], columns].astype(DTYPES[width])
    if not adds:
        before = numpy.zeros_like(before)
    reads.issue(TCGEN05, thread)
    a, b = values(how.left, x) * how.signs[0], values(how.right, y) * how.signs[1]
    if how.result == "s32":
        after = integral(a, b, before, satfinite=how.satfinite)
    else:
        after = floating(a, b, values(how.result, before) * scale, how.result).astype(numpy.uint32)
    stays = numpy.array([kept[lane // WARP] >> lane % WARP & 1 if kept else 0 for lane in rows], bool)
    memory.words[rows[~stays, None], columns] = after[~stays]


def _rows(m: int, address: int) -> tuple[Any, int]:
    """The lanes of the rows of D, or of A, and the first column. 64 rows are 16 lanes of each warp's."""
    lane, column = split(address)
    row = numpy.arange(m)
    lanes = row + lane if m == LANES else row // 16 * WARP + row % 16 + lane
    if lanes.max() >= LANES or (m == LANES and lane):
        raise Misuse("PTX701", f"{m} rows begin at lane {lane} of Tensor Memory, which has {LANES}")
    return lanes, column


def _held(memory: TensorMemory, address: int, how: InstructionDescriptor) -> Any:
    """The codes of A, of which a column holds as many as it has bits for."""
    rows, first = _rows(how.m, address)
    width = bits(how.left)
    columns = first + numpy.arange(how.k * width // 32)
    memory.check(columns)
    words = numpy.ascontiguousarray(memory.words[rows[:, None], columns])
    return words.view(DTYPES[width])


@action
def tmem_commit(*, space: str, ctas: str) -> Function:
    """Arrives once at an mbarrier, or at those of several CTAs, when the thread's operations so far are done."""
    one_cta(ctas)

    def commit(group: Group, address: Any, mask: Any = None) -> None:
        flying = group.cta.machine.asynchrony
        flying.commit(group, TCGEN05)
        for barrier, chosen in one_by_one(group, space, address, mask):
            flying.arrive_later(group, numpy.atleast_1d(group.lanes.index[chosen]), barrier, TCGEN05)

    return commit
