"""Multiplication of tiles in shared and Tensor Memory by single threads, and commits that signal its completion.

The products are computed when the instruction is issued. Its operands in shared memory are in use until a later commit
signals an mbarrier.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.emulator.actions.tcgen05_memory import ctas_of, operand_number, record_use
from ptxkit.emulator.actions.wgmma import SharedReads
from ptxkit.emulator.core.findings import ExecutionFault, UnsupportedError
from ptxkit.emulator.core.numbers.float_codec import widen
from ptxkit.emulator.core.numbers.formats import DTYPES, FORMATS
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.engine.mbarrier_lookup import iter_mbarriers
from ptxkit.emulator.sync.async_operation import TCGEN05
from ptxkit.emulator.tensor.fragments import unpack_elements
from ptxkit.emulator.tensor.instruction_descriptor import (
    InstructionDescriptor,
    MmaKind,
    decode_instruction_descriptor,
    shifted_columns,
    zero_columns,
)
from ptxkit.emulator.tensor.matmul import element_values, multiply_float, multiply_integer
from ptxkit.emulator.tensor.padded_elements import decode_units
from ptxkit.emulator.tensor.sparse_metadata import expand_chunks
from ptxkit.emulator.tensor.tensor_memory import CtaTensorMemory
from ptxkit.emulator.tensor.tmem_data_paths import DataPath, data_path_of, read_scale_factors, read_sparse_chunks
from ptxkit.emulator.tensor.tmem_regions import TmemRegion, split_regions
from ptxkit.emulator.threads.thread_groups import ThreadGroup
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.functions import bits
from ptxkit.syntax.constants import WARP_SIZE

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import CtaState

_BYTE = 8
_VECTORS = {"scale_vec::1X": 1, "scale_vec::2X": 2, "scale_vec::4X": 4, "block16": 4}


@dataclass(frozen=True, slots=True)
class _MmaOperands:
    """The operands of one thread.

    `preserved_lanes` are words with a bit for each lane of D that does not change. `scale` is the scale of D, and
    `mask` has the columns that are treated as zero.
    """

    d: int
    a: int
    b: int
    adds: bool
    preserved_lanes: tuple[int, ...] = ()
    scale: float = 1.0
    meta: int = 0
    scales: tuple[int, int] = (0, 0)
    mask: int = 0


def _mma_kind(
    name: str, ctas: str, *, held: bool = False, sparse: bool = False, vector: int = 0, stationary: bool = False
) -> MmaKind:
    made = MmaKind(name.removeprefix("kind::"), int(ctas[-1]), held, sparse, vector, stationary)
    if not made.is_supported:
        raise UnsupportedError(f"the machine has no products of .{name}")
    return made


def _multiply_each_thread(group: ThreadGroup, kind: MmaKind, idesc: Any, operands_at: Any) -> None:
    """Multiplies for each thread. `operands_at` returns its operands, by its position."""
    pair = ctas_of(group, f"cta_group::{kind.ctas}")
    for position in range(group.lanes.count):
        try:
            how = decode_instruction_descriptor(operand_number(idesc, position), kind)
        except ValueError as error:
            raise ExecutionFault(
                ptx2xx.INVALID_MMA_DESCRIPTOR(error=error), group.lanes.index[position : position + 1]
            ) from error
        except NotImplementedError as error:
            raise UnsupportedError(f"tcgen05.mma: {error}") from error
        try:
            _TcgenMma(group, position, pair, kind, how, operands_at(position)).run()
        except ExecutionFault as fault:
            fault.assign_threads(group.lanes.index[position : position + 1])
            raise


@effect_semantics
def tmem_multiply(*, kind: str, ctas: str, held: bool = False) -> Function:
    """Computes D = A * B + D in Tensor Memory, or A * B if a predicate is false. With `held`, A is in Tensor Memory,
    too.

    The operand `lanes` has a bit for each lane of D that does not change. D is divided by 2 to the power of `shift`.
    """
    return _multiplication(_mma_kind(kind, ctas, held=held), "idesc", "enable", "lanes", "shift")


@effect_semantics
def tmem_multiply_sparse(*, kind: str, ctas: str, held: bool = False) -> Function:
    """Multiplies as `tmem_multiply` does, with a sparse A, whose metadata are in Tensor Memory."""
    return _multiplication(_mma_kind(kind, ctas, held=held, sparse=True), "meta", "idesc", "enable", "lanes", "shift")


@effect_semantics
def tmem_multiply_scaled(*, kind: str, ctas: str, vector: str | None, held: bool = False) -> Function:
    """Multiplies as `tmem_multiply` does, with scale factors in Tensor Memory for blocks of the rows of A and columns
    of B.
    """
    known = _mma_kind(kind, ctas, held=held, vector=_scale_vector_size(kind, vector))
    return _multiplication(known, "idesc", "scale_a", "scale_b", "enable")


@effect_semantics
def tmem_multiply_scaled_sparse(*, kind: str, ctas: str, vector: str | None, held: bool = False) -> Function:
    """Multiplies with scale factors and a sparse A."""
    known = _mma_kind(kind, ctas, held=held, sparse=True, vector=_scale_vector_size(kind, vector))
    return _multiplication(known, "meta", "idesc", "scale_a", "scale_b", "enable")


@effect_semantics
def tmem_multiply_stationary(*, kind: str, ctas: str, held: bool = False) -> Function:
    """Multiplies as `.ws` does: fewer rows, more columns, and a mask of the columns of B that are treated as zero."""
    return _multiplication(_mma_kind(kind, ctas, held=held, stationary=True), "idesc", "enable", "mask")


@effect_semantics
def tmem_multiply_stationary_sparse(*, kind: str, ctas: str, held: bool = False) -> Function:
    """Multiplies as `.ws` does, with a sparse A."""
    known = _mma_kind(kind, ctas, held=held, sparse=True, stationary=True)
    return _multiplication(known, "meta", "idesc", "enable", "mask")


def _multiplication(kind: MmaKind, *names: str) -> Function:
    """Returns the multiplication whose operands after D, A and B have these names; the last ones may be absent."""

    def multiply(group: ThreadGroup, d: Any, a: Any, b: Any, *others: Any) -> None:
        named = dict(zip(names, others, strict=False))

        def operands_at(at: int) -> _MmaOperands:
            def number(name: str) -> int:
                operand = named.get(name)
                return 0 if operand is None else operand_number(operand, at)

            return _MmaOperands(
                operand_number(d, at),
                operand_number(a, at),
                operand_number(b, at),
                bool(number("enable")),
                tuple(operand_number(each, at) for each in named.get("lanes") or ()),
                2.0 ** -number("shift"),
                number("meta"),
                (number("scale_a"), number("scale_b")),
                number("mask"),
            )

        _multiply_each_thread(group, kind, named["idesc"], operands_at)

    return multiply


def _scale_vector_size(kind: str, word: str | None) -> int:
    """Returns the number of scale factors of a row of A."""
    return _VECTORS.get(word or "", 1 if kind == "kind::mxf8f6f4" else 2)


def _packed_width(word: str) -> int:
    """Returns the number of bits of a packed element."""
    return FORMATS[word].width if word in FORMATS else bits(word)


class _TcgenMma:
    """The multiplication of one thread.

    Each CTA of a pair has half of the rows of A and of D, and half of the columns of B.
    """

    def __init__(
        self,
        group: ThreadGroup,
        at: int,
        pair: list[CtaState],
        kind: MmaKind,
        how: InstructionDescriptor,
        operands: _MmaOperands,
    ) -> None:
        self.group, self.pair, self.kind, self.descriptor, self.operands = group, pair, kind, how, operands
        self.thread = group.lanes.index[at : at + 1]
        self.reads = SharedReads(group, self.thread // WARP_SIZE)
        self.path: DataPath = data_path_of(how.m, kind)
        self.used_regions: list[TmemRegion] = []

    def run(self) -> None:
        """Computes the product, and issues the operation that uses the operands."""
        b = self._b_values()
        for number_, cta in enumerate(self.pair):
            self._multiply_in_cta(number_, cta, b)
        self.reads.issue(TCGEN05, self.thread, record_use(self.group, self.thread, TCGEN05, self.used_regions))

    def _multiply_in_cta(self, number_: int, cta: CtaState, b: Any) -> None:
        how, operands, memory = self.descriptor, self.operands, cta.tensor_memory
        a = self._a_values(cta, memory)
        if self.kind.scale_vector:
            rows, columns = self._scale_factors(cta, memory)
            times = how.k // self.kind.scale_vector
            a, b = a * numpy.repeat(rows, times, axis=1), b * numpy.repeat(columns, times, axis=1).T
        lanes, places = self.path.element_locations(operands.d, how.n)
        self.used_regions += split_regions(cta, lanes, places, writes=True)
        memory.check(numpy.unique(places))
        before = memory.words[lanes, places].astype(DTYPES[bits(how.result)])
        if not operands.adds:
            before = numpy.zeros_like(before)
        if how.result == "s32":
            after = multiply_integer(a, b, before, satfinite=how.satfinite)
        else:
            after = multiply_float(a, b, element_values(how.result, before) * operands.scale, how.result).astype(
                numpy.uint32
            )
        if operands.preserved_lanes:
            own = numpy.array(operands.preserved_lanes[4 * number_ : 4 * number_ + 4], numpy.int64)
            stays = own[lanes // WARP_SIZE] >> lanes % WARP_SIZE & 1 != 0
            after = numpy.where(stays, memory.words[lanes, places], after)
        memory.words[lanes, places] = after

    # ---------------------------------------------------------------------------------------------- multiplicands

    def _b_values(self) -> Any:
        """Returns the values of B, (k, n)."""
        how, mask = self.descriptor, self.operands.mask
        first = shifted_columns(mask)
        parts = [
            self._shared_codes(self.operands.b, how.n // len(self.pair) + first, how.k, 1, each) for each in self.pair
        ]
        found = element_values(how.right, numpy.concatenate([each[first:] for each in parts]).T) * how.signs[1]
        if mask:
            found[:, zero_columns(mask, how.m, how.n)] = 0.0
        return found

    def _a_values(self, cta: CtaState, memory: CtaTensorMemory) -> Any:
        """Returns the values of A, (rows of the CTA, k)."""
        how, sparse = self.descriptor, self.kind.sparse
        stored = how.k // 2 if sparse else how.k
        boxed = self.kind.a_in_tmem and self._is_byte_padded(how.left)
        if self.kind.a_in_tmem:
            codes = self._tmem_codes(cta, memory, stored)
        else:
            codes = self._shared_codes(self.operands.a, self.path.rows, stored, 0, cta)
        if sparse:
            width = _BYTE if self._is_byte_padded(how.left) else _packed_width(how.left)
            nibbles, at = read_sparse_chunks(memory, self.operands.meta, how, self.path, width)
            self.used_regions += split_regions(cta, *at, writes=False)
            codes = expand_chunks(codes, nibbles, width)
        return element_values(how.left, codes, boxed=boxed) * how.signs[0]

    def _is_byte_padded(self, word: str) -> bool:
        """Returns whether elements of a type take a byte each, although they have fewer bits."""
        return self.kind.name in ("f8f6f4", "mxf8f6f4") and _packed_width(word) < _BYTE

    def _shared_codes(self, descriptor: int, rows: int, columns: int, side: int, cta: CtaState) -> Any:
        """Returns the codes of A (side 0) or B (1) in the shared memory of a CTA, (rows, columns)."""
        how = self.descriptor
        word, turned = (how.left, how.right)[side], how.transposed[side]
        width = _BYTE if self._is_byte_padded(word) else _packed_width(word)
        found = self.reads.read_matrix([descriptor], rows, columns, width, turned, cta.rank)[0][:rows]
        if self._is_byte_padded(word):
            return decode_units(found, _packed_width(word), turned=turned)
        return found

    def _tmem_codes(self, cta: CtaState, memory: CtaTensorMemory, stored: int) -> Any:
        """Returns the codes of A in Tensor Memory; a column holds as many as fit in its bits."""
        lanes, first = self.path.row_lanes(self.operands.a, numpy.arange(self.path.rows))
        width = _BYTE if self._is_byte_padded(self.descriptor.left) else _packed_width(self.descriptor.left)
        columns = first + numpy.arange(stored * width // 32)
        self.used_regions += split_regions(cta, lanes, columns, writes=False)
        memory.check(columns)
        words = numpy.ascontiguousarray(memory.words[lanes[:, None], columns])
        if width < _BYTE:
            return unpack_elements(words, width).reshape(len(lanes), -1)
        return words.view(DTYPES[width])

    def _scale_factors(self, cta: CtaState, memory: CtaTensorMemory) -> tuple[Any, Any]:
        """Returns the scale factors of the rows of A, and of the columns of B."""
        how, vector, fmt = self.descriptor, self.kind.scale_vector, FORMATS[self.descriptor.scale]
        of_a, of_b = self.operands.scales
        rows, first = read_scale_factors(memory, of_a, self.path.rows, vector, how.ids[0])
        columns, second = read_scale_factors(memory, of_b, how.n, vector, how.ids[1], self.path.column_parts)
        self.used_regions += [*split_regions(cta, *first, writes=False), *split_regions(cta, *second, writes=False)]
        return widen(fmt, rows), widen(fmt, columns)


@effect_semantics
def tmem_commit(*, space: str, ctas: str) -> Function:
    """Arrives once at an mbarrier, or at those of several CTAs, when the thread's operations so far are complete."""

    def commit(group: ThreadGroup, address: Any, mask: Any = None) -> None:
        ctas_of(group, ctas)
        flying = group.cta.machine.async_engine
        flying.commit(group, TCGEN05)
        for barrier, chosen in iter_mbarriers(group, space, address, mask):
            flying.defer_arrive(group, numpy.atleast_1d(group.lanes.index[chosen]), barrier, TCGEN05)

    return commit
