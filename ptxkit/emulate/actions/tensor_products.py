"""Multiplication by single threads, of tiles in shared and Tensor Memory, and commits that tell when it is done.

What the products are is computed when the instruction is issued; its operands in shared memory are in use until an
mbarrier tells of a commit behind it.
Source: PTX ISA, "TensorCore 5th Generation Instructions: tcgen05.mma", "tcgen05.mma.sp", "tcgen05.mma.ws",
"tcgen05.commit"; Data path layout organization; Block Scaling for tcgen05.mma; Sparse Matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.actions.tensor_memory import fault, number, pair_of, used
from ptxkit.emulate.actions.warpgroups import Reads
from ptxkit.emulate.faults import Fault, UnsupportedError
from ptxkit.emulate.groups import Group
from ptxkit.emulate.numbers.carriers import widen
from ptxkit.emulate.numbers.formats import DTYPES, FORMATS
from ptxkit.emulate.objects import one_by_one
from ptxkit.emulate.operations import TCGEN05
from ptxkit.emulate.registry import Function, action
from ptxkit.emulate.tensor.containers import from_units
from ptxkit.emulate.tensor.data_paths import DataPath, chunks, data_path, scale_factors
from ptxkit.emulate.tensor.fragments import unpacked
from ptxkit.emulate.tensor.instruction_descriptor import (
    InstructionDescriptor,
    Kind,
    decode,
    shifted_columns,
    zero_columns,
)
from ptxkit.emulate.tensor.products import floating, integral, values
from ptxkit.emulate.tensor.regions import Region, regions
from ptxkit.emulate.tensor.sparse import expanded
from ptxkit.emulate.tensor.tensor_memory import WARP, Misuse, TensorMemory, of_cta
from ptxkit.isa.functions import bits
from ptxkit.records import dataclass

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta

_BYTE = 8
_VECTORS = {"scale_vec::1X": 1, "scale_vec::2X": 2, "scale_vec::4X": 4, "block16": 4}


@dataclass(frozen=True, slots=True)
class _Operands:
    """One thread's. kept: a bit for each lane of D that stays; scale: of D; mask: of columns that count as zero."""

    d: int
    a: int
    b: int
    adds: bool
    kept: tuple[int, ...] = ()
    scale: float = 1.0
    meta: int = 0
    scales: tuple[int, int] = (0, 0)
    mask: int = 0


def _kind(
    name: str, ctas: str, *, held: bool = False, sparse: bool = False, vector: int = 0, stationary: bool = False
) -> Kind:
    made = Kind(name.removeprefix("kind::"), int(ctas[-1]), held, sparse, vector, stationary)
    if not made.is_known:
        raise UnsupportedError(f"the machine has no products of .{name}")
    return made


def _each(group: Group, kind: Kind, idesc: Any, given: Any) -> None:
    """Multiply for each thread. given: its operands, by its position."""
    pair = pair_of(group, f"cta_group::{kind.ctas}")
    for position in range(group.lanes.count):
        try:
            how = decode(number(idesc, position), kind)
        except ValueError as error:
            raise Fault("PTX206", f"tcgen05.mma: {error}", group.lanes.index[position : position + 1]) from error
        except NotImplementedError as error:
            raise UnsupportedError(f"tcgen05.mma: {error}") from error
        try:
            _Multiplication(group, position, pair, kind, how, given(position)).run()
        except Misuse as misuse:
            raise fault(group, misuse, position) from misuse


@action
def tmem_multiply(*, kind: str, ctas: str, held: bool = False) -> Function:
    """D = A * B + D in Tensor Memory, or A * B where a predicate is false. held: A is in Tensor Memory, too.

    lanes: a bit for each lane of D that stays as it is. shift: D counts so many powers of two less.
    """
    known = _kind(kind, ctas, held=held)

    def multiply(  # noqa: PLR0913, PLR0917 (the operands of one instruction)
        group: Group, d: Any, a: Any, b: Any, idesc: Any, enable: Any, lanes: Any = None, shift: Any = None
    ) -> None:
        _each(group, known, idesc, lambda at: _Operands(*_plain(d, a, b, enable, at), **_more(lanes, shift, at)))

    return multiply


@action
def tmem_multiply_sparse(*, kind: str, ctas: str, held: bool = False) -> Function:
    """The same with a sparse A: metadata in Tensor Memory say where its elements belong."""
    known = _kind(kind, ctas, held=held, sparse=True)

    def multiply(  # noqa: PLR0913, PLR0917
        group: Group, d: Any, a: Any, b: Any, meta: Any, idesc: Any, enable: Any, lanes: Any = None, shift: Any = None
    ) -> None:
        def given(at: int) -> _Operands:
            return _Operands(*_plain(d, a, b, enable, at), **_more(lanes, shift, at), meta=number(meta, at))

        _each(group, known, idesc, given)

    return multiply


@action
def tmem_multiply_scaled(*, kind: str, ctas: str, vector: str | None, held: bool = False) -> Function:
    """The same where stretches of the rows of A, and of the columns of B, have scale factors in Tensor Memory."""
    known = _kind(kind, ctas, held=held, vector=_vector(kind, vector))

    def multiply(  # noqa: PLR0913, PLR0917
        group: Group, d: Any, a: Any, b: Any, idesc: Any, scale_a: Any, scale_b: Any, enable: Any
    ) -> None:
        def given(at: int) -> _Operands:
            return _Operands(*_plain(d, a, b, enable, at), scales=(number(scale_a, at), number(scale_b, at)))

        _each(group, known, idesc, given)

    return multiply


@action
def tmem_multiply_scaled_sparse(*, kind: str, ctas: str, vector: str | None, held: bool = False) -> Function:
    """Both."""
    known = _kind(kind, ctas, held=held, sparse=True, vector=_vector(kind, vector))

    def multiply(  # noqa: PLR0913, PLR0917
        group: Group, d: Any, a: Any, b: Any, meta: Any, idesc: Any, scale_a: Any, scale_b: Any, enable: Any
    ) -> None:
        def given(at: int) -> _Operands:
            scales = number(scale_a, at), number(scale_b, at)
            return _Operands(*_plain(d, a, b, enable, at), meta=number(meta, at), scales=scales)

        _each(group, known, idesc, given)

    return multiply


@action
def tmem_multiply_stationary(*, kind: str, ctas: str, held: bool = False) -> Function:
    """Of `.ws`: fewer rows, more columns; a mask says which columns of B count as zero."""
    known = _kind(kind, ctas, held=held, stationary=True)

    def multiply(group: Group, d: Any, a: Any, b: Any, idesc: Any, enable: Any, mask: Any = None) -> None:
        def given(at: int) -> _Operands:
            return _Operands(*_plain(d, a, b, enable, at), mask=0 if mask is None else number(mask, at))

        _each(group, known, idesc, given)

    return multiply


@action
def tmem_multiply_stationary_sparse(*, kind: str, ctas: str, held: bool = False) -> Function:
    """The same with a sparse A."""
    known = _kind(kind, ctas, held=held, sparse=True, stationary=True)

    def multiply(  # noqa: PLR0913, PLR0917
        group: Group, d: Any, a: Any, b: Any, meta: Any, idesc: Any, enable: Any, mask: Any = None
    ) -> None:
        def given(at: int) -> _Operands:
            zero = 0 if mask is None else number(mask, at)
            return _Operands(*_plain(d, a, b, enable, at), meta=number(meta, at), mask=zero)

        _each(group, known, idesc, given)

    return multiply


def _vector(kind: str, word: str | None) -> int:
    """How many scale factors a row of A has."""
    return _VECTORS.get(word or "", 1 if kind == "kind::mxf8f6f4" else 2)


def _width(word: str) -> int:
    """The bits of an element where it is packed."""
    return FORMATS[word].width if word in FORMATS else bits(word)


def _plain(d: Any, a: Any, b: Any, enable: Any, at: int) -> tuple[int, int, int, bool]:
    return number(d, at), number(a, at), number(b, at), bool(number(enable, at))


def _more(lanes: Any, shift: Any, at: int) -> dict[str, Any]:
    kept = () if lanes is None else tuple(number(each, at) for each in lanes)
    return {"kept": kept, "scale": 2.0 ** -(0 if shift is None else number(shift, at))}


class _Multiplication:
    """One thread's. Of a pair each CTA has half of the rows of A and of D, and half of the columns of B."""

    def __init__(
        self, group: Group, at: int, pair: list[Cta], kind: Kind, how: InstructionDescriptor, operands: _Operands
    ) -> None:
        self.group, self.pair, self.kind, self.how, self.operands = group, pair, kind, how, operands
        self.thread = group.lanes.index[at : at + 1]
        self.reads = Reads(group, self.thread // WARP)
        self.path: DataPath = data_path(how.m, kind)
        self.touched: list[Region] = []

    def run(self) -> None:
        """Compute, and let those know who mind what is in use."""
        b = self._right()
        for number_, cta in enumerate(self.pair):
            self._of_cta(number_, cta, b)
        self.reads.issue(TCGEN05, self.thread, used(self.group, self.thread, TCGEN05, self.touched))

    def _of_cta(self, number_: int, cta: Cta, b: Any) -> None:
        how, operands, memory = self.how, self.operands, of_cta(cta)
        a = self._left(cta, memory)
        if self.kind.vector:
            rows, columns = self._factors(cta, memory)
            times = how.k // self.kind.vector
            a, b = a * numpy.repeat(rows, times, axis=1), b * numpy.repeat(columns, times, axis=1).T
        lanes, places = self.path.places(operands.d, how.n)
        self.touched += regions(cta, lanes, places, writes=True)
        memory.check(numpy.unique(places))
        before = memory.words[lanes, places].astype(DTYPES[bits(how.result)])
        if not operands.adds:
            before = numpy.zeros_like(before)
        if how.result == "s32":
            after = integral(a, b, before, satfinite=how.satfinite)
        else:
            after = floating(a, b, values(how.result, before) * operands.scale, how.result).astype(numpy.uint32)
        if operands.kept:
            own = numpy.array(operands.kept[4 * number_ : 4 * number_ + 4], numpy.int64)
            stays = own[lanes // WARP] >> lanes % WARP & 1 != 0
            after = numpy.where(stays, memory.words[lanes, places], after)
        memory.words[lanes, places] = after

    # ---------------------------------------------------------------------------------------------- multiplicands

    def _right(self) -> Any:
        """B's values, (k, n)."""
        how, mask = self.how, self.operands.mask
        first = shifted_columns(mask)
        parts = [self._tile(self.operands.b, how.n // len(self.pair) + first, how.k, 1, each) for each in self.pair]
        found = values(how.right, numpy.concatenate([each[first:] for each in parts]).T) * how.signs[1]
        if mask:
            found[:, zero_columns(mask, how.m, how.n)] = 0.0
        return found

    def _left(self, cta: Cta, memory: TensorMemory) -> Any:
        """A's values, (rows of the CTA, k)."""
        how, sparse = self.how, self.kind.sparse
        stored = how.k // 2 if sparse else how.k
        boxed = self.kind.held and self._is_contained(how.left)
        if self.kind.held:
            codes = self._held(cta, memory, stored)
        else:
            codes = self._tile(self.operands.a, self.path.rows, stored, 0, cta)
        if sparse:
            width = _BYTE if self._is_contained(how.left) else _width(how.left)
            nibbles, at = chunks(memory, self.operands.meta, how, self.path, width)
            self.touched += regions(cta, *at, writes=False)
            codes = expanded(codes, nibbles, width)
        return values(how.left, codes, boxed=boxed) * how.signs[0]

    def _is_contained(self, word: str) -> bool:
        """Whether elements of a type take a byte each, though they have fewer bits."""
        return self.kind.name in ("f8f6f4", "mxf8f6f4") and _width(word) < _BYTE

    def _tile(self, descriptor: int, rows: int, columns: int, side: int, cta: Cta) -> Any:
        """The codes of A (side 0) or B (1) in the shared memory of a CTA, (rows, columns)."""
        how = self.how
        word, turned = (how.left, how.right)[side], how.turned[side]
        width = _BYTE if self._is_contained(word) else _width(word)
        found = self.reads.tile([descriptor], rows, columns, width, turned, cta.rank)[0][:rows]
        if self._is_contained(word):
            return from_units(found, _width(word), turned=turned)
        return found

    def _held(self, cta: Cta, memory: TensorMemory, stored: int) -> Any:
        """The codes of A in Tensor Memory, of which a column holds as many as it has bits for."""
        lanes, first = self.path.lanes(self.operands.a, numpy.arange(self.path.rows))
        width = _BYTE if self._is_contained(self.how.left) else _width(self.how.left)
        columns = first + numpy.arange(stored * width // 32)
        self.touched += regions(cta, lanes, columns, writes=False)
        memory.check(columns)
        words = numpy.ascontiguousarray(memory.words[lanes[:, None], columns])
        if width < _BYTE:
            return unpacked(words, width).reshape(len(lanes), -1)
        return words.view(DTYPES[width])

    def _factors(self, cta: Cta, memory: TensorMemory) -> tuple[Any, Any]:
        """The scale factors of the rows of A, and of the columns of B."""
        how, vector, fmt = self.how, self.kind.vector, FORMATS[self.how.scale]
        of_a, of_b = self.operands.scales
        rows, first = scale_factors(memory, of_a, self.path.rows, vector, how.ids[0])
        columns, second = scale_factors(memory, of_b, how.n, vector, how.ids[1], self.path.parts)
        self.touched += [*regions(cta, *first, writes=False), *regions(cta, *second, writes=False)]
        return widen(fmt, rows), widen(fmt, columns)


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
