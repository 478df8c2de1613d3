"""Multiplication by single threads, of tiles in shared and Tensor Memory, and commits that tell when it is done.

What the products are is computed when the instruction is issued; its operands in shared memory are in use until an
mbarrier tells of a commit behind it.
Source: PTX ISA, "TensorCore 5th Generation Instructions: tcgen05.mma", "tcgen05.commit"; Data path layout organization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.actions.tensor_memory import fault, number, pair_of, used
from ptxkit.emulate.actions.warpgroups import Reads
from ptxkit.emulate.faults import Fault
from ptxkit.emulate.groups import Group
from ptxkit.emulate.numbers.formats import DTYPES
from ptxkit.emulate.objects import one_by_one
from ptxkit.emulate.operations import TCGEN05
from ptxkit.emulate.registry import Function, action
from ptxkit.emulate.tensor.instruction_descriptor import InstructionDescriptor, decode
from ptxkit.emulate.tensor.products import floating, integral, values
from ptxkit.emulate.tensor.regions import Region, regions
from ptxkit.emulate.tensor.tensor_memory import LANES, WARP, Misuse, TensorMemory, of_cta, split
from ptxkit.isa.functions import bits

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta


@action
def tmem_multiply(*, kind: str, ctas: str, held: bool = False) -> Function:
    """D = A * B + D in Tensor Memory, or A * B where a predicate is false. held: A is in Tensor Memory, too.

    lanes: a bit for each lane of D that stays as it is. shift: D counts so many powers of two less.
    """
    name = kind.removeprefix("kind::")
    if name not in ("f16", "tf32", "f8f6f4", "i8"):
        raise NotImplementedError(f"the machine has no products of .{kind}")

    def multiply(  # noqa: PLR0913, PLR0917 (the operands of one instruction)
        group: Group, d: Any, a: Any, b: Any, idesc: Any, enable: Any, lanes: Any = None, shift: Any = None
    ) -> None:
        pair = pair_of(group, ctas)
        for position in range(group.lanes.count):
            try:
                how = decode(number(idesc, position), name, len(pair))
            except ValueError as error:
                raise Fault("PTX206", f"tcgen05.mma: {error}", group.lanes.index[position : position + 1]) from error
            kept = [] if lanes is None else [number(each, position) for each in lanes]
            scale = 2.0 ** -(0 if shift is None else number(shift, position))
            operands = [number(each, position) for each in (d, a, b)]
            try:
                _one(group, position, pair, how, held, operands, bool(number(enable, position)), kept, scale)
            except Misuse as misuse:
                raise fault(group, misuse, position) from misuse

    return multiply


def _one(  # noqa: PLR0913, PLR0917
    group: Group,
    position: int,
    pair: list[Cta],
    how: InstructionDescriptor,
    held: bool,
    operands: list[int],
    adds: bool,
    kept: list[int],
    scale: float,
) -> None:
    """Of a pair each CTA has half of the rows of A and of D, and half of the columns of B."""
    to, left, right = operands
    thread = group.lanes.index[position : position + 1]
    reads, share, rows_of_b = Reads(group, thread // WARP), how.m // len(pair), how.n // len(pair)
    parts = [reads.tile([right], rows_of_b, how.k, bits(how.right), how.turned[1], each.rank)[0] for each in pair]
    touched: list[Region] = []
    b = values(how.right, numpy.concatenate(parts).T) * how.signs[1]
    for number_, cta in enumerate(pair):
        memory = of_cta(cta)
        if held:
            x, at = _held(memory, left, how, share, len(pair) == 2)
            touched += regions(cta, *at, writes=False)
        else:
            x = reads.tile([left], share, how.k, bits(how.left), how.turned[0], cta.rank)[0]
        lanes, columns = _places(share, how.n, to, len(pair) == 2)
        touched += regions(cta, lanes, columns, writes=True)
        memory.check(numpy.unique(columns))
        before = memory.words[lanes, columns].astype(DTYPES[bits(how.result)])
        if not adds:
            before = numpy.zeros_like(before)
        a = values(how.left, x) * how.signs[0]
        if how.result == "s32":
            after = integral(a, b, before, satfinite=how.satfinite)
        else:
            after = floating(a, b, values(how.result, before) * scale, how.result).astype(numpy.uint32)
        if kept:
            own = numpy.array(kept[4 * number_ : 4 * number_ + 4], numpy.int64)
            stays = own[lanes // WARP] >> lanes % WARP & 1 != 0
            after = numpy.where(stays, memory.words[lanes, columns], after)
        memory.words[lanes, columns] = after
    reads.issue(TCGEN05, thread, used(group, thread, TCGEN05, touched))


def _rows(m: int, address: int, paired: bool) -> tuple[Any, int]:
    """The lanes of the rows of D, or of A, and the first column. 64 rows of one CTA are 16 lanes of each warp's."""
    lane, column = split(address)
    row = numpy.arange(m)
    lanes = row + lane if m == LANES or paired else row // 16 * WARP + row % 16 + lane
    if lanes.max() >= LANES or ((m == LANES or paired) and lane):
        raise Misuse("PTX701", f"{m} rows begin at lane {lane} of Tensor Memory, which has {LANES}")
    return lanes, column


def _places(m: int, n: int, address: int, paired: bool) -> tuple[Any, Any]:
    """The lane and the column of each element of D. 64 rows of a pair's CTA have their right half in lanes 64 on."""
    lanes, first = _rows(m, address, paired)
    column = numpy.arange(n)[None, :]
    if paired and m == LANES // 2:
        return lanes[:, None] + column // (n // 2) * m, first + column % (n // 2) + 0 * lanes[:, None]
    return lanes[:, None] + 0 * column, first + column + 0 * lanes[:, None]


def _held(
    memory: TensorMemory, address: int, how: InstructionDescriptor, m: int, paired: bool
) -> tuple[Any, tuple[Any, Any]]:
    """The codes of A, of which a column holds as many as it has bits for, and its lanes and columns."""
    rows, first = _rows(m, address, paired)
    width = bits(how.left)
    columns = first + numpy.arange(how.k * width // 32)
    memory.check(columns)
    words = numpy.ascontiguousarray(memory.words[rows[:, None], columns])
    return words.view(DTYPES[width]), (rows, columns)


@action
def tmem_commit(*, space: str, ctas: str) -> Function:
    """Arrives once at an mbarrier, or at those of several CTAs, when the thread's operations so far are done."""

    def commit(group: Group, address: Any, mask: Any = None) -> None:
        pair_of(group, ctas)
        flying = group.cta.machine.asynchrony
        flying.commit(group, TCGEN05)
        for barrier, chosen in one_by_one(group, space, address, mask):
            flying.arrive_later(group, numpy.atleast_1d(group.lanes.index[chosen]), barrier, TCGEN05)

    return commit
