"""Chooses the arguments of a kernel that are not specified, for one run after the other.

Each pointer points to a buffer, or to a table of buffers where the kernel loads addresses from it. Integers, also those
in structures that are passed by value, are small numbers, so that loops execute 0, 1, 2 and more iterations. The
contents of memory are usable as numbers and as indices.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import count, cycle, islice
from typing import Any, TypeAlias

import numpy

from ptxkit.analysis.dataflow.parameter_fields import ParameterField, find_parameter_fields
from ptxkit.analysis.dataflow.pointer_params import pointer_arrays, pointer_parameters, pointer_tables
from ptxkit.analysis.ir.program import Program
from ptxkit.analysis.memory.flag_accesses import find_flag_pointers
from ptxkit.analysis.values.scenario import ParameterKey
from ptxkit.emulator import POLICIES, TensorMapArgument
from ptxkit.emulator.engine.executable import Executable
from ptxkit.emulator.engine.launch_args import StructArgument
from ptxkit.emulator.state.textures import OpaqueObject
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.functions import bits, kind
from ptxkit.model.launch_contract import LaunchContract, ParameterMultiple
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.verifier.argument_parser import make_filled_array
from ptxkit.verifier.descriptor_parameters import find_descriptor_parameters
from ptxkit.verifier.integer_guesses import LEAST_USUAL, IntegerGuesses
from ptxkit.verifier.limits import TABLE_BUFFERS, TABLE_ENTRIES, USUAL_SIZE
from ptxkit.verifier.request import VerifyRequest
from ptxkit.verifier.run_agreement import Numbers

NO_CONTRACT = LaunchContract("")
"""The contract of a kernel that imposes no conditions."""

_POINTER_BYTES = 8
"""The size in bytes of a pointer in a structure."""

SCHEDULES = ("late", "torn", "eager", "random")
CONTENTS = ("iota", "random", "zeros", "sizes")
"""The contents of memory, which change after each run with every schedule. `sizes`: `USUAL_SIZE` in each word, for
kernels that load sizes and strides, such as those of groups of matrices.
"""

_FLOATS = {2: numpy.float16, 4: numpy.float32, 8: numpy.float64}
"""The formats of floating-point numbers, by their size in bytes."""

GivenArguments: TypeAlias = "Mapping[str, tuple[TensorMapArgument | OpaqueObject | StructArgument, str]]"
"""The arguments for tensor maps and images, with their descriptions, by parameter."""


@dataclass(frozen=True, slots=True)
class VerifierRun:
    """One run.

    arguments: in the order of the parameters. assumptions: the choices, in words. policy, seed: those of the machine.
    contents: the kind of contents of memory that was chosen. number: the number of the run. integers: the numbers that
    are chosen for integers.
    """

    arguments: tuple[Any, ...]
    assumptions: tuple[str, ...]
    policy: str
    seed: int
    contents: str = ""
    number: int = 0
    integers: Numbers = ()

    @property
    def is_degenerate(self) -> bool:
        """Whether a chosen number is 0 or 1, for which rows may overlap."""
        return any(value < LEAST_USUAL for _, value in self.integers)


@dataclass(frozen=True, slots=True)
class ParameterUses:
    """What a kernel does with its parameters: (parameter, byte in it).

    pointers: the addresses. flags: those of memory that is zeros, whatever the contents of the other memory are.
    tables: those of memory that contains addresses. descriptors: the instruction descriptors of matrix multiplications,
    with numbers that are valid for these. fields: all that is loaded.
    """

    pointers: frozenset[tuple[str, int]] = frozenset()
    flags: frozenset[tuple[str, int]] = frozenset()
    tables: frozenset[tuple[str, int]] = frozenset()
    descriptors: Mapping[ParameterKey, Sequence[int]] = field(default_factory=dict)
    fields: tuple[ParameterField, ...] = ()

    @property
    def buffers(self) -> int:
        """The number of buffers to which the addresses lead."""
        return len(self.pointers) + (TABLE_BUFFERS - 1) * len(self.tables)

    def count_integers(self, known: Container[str]) -> int:
        """Returns the number of integers that are loaded from parameters, without those in known ones."""
        return sum(
            kind(each.type) != "f" and (each.symbol, each.offset) not in self.pointers and each.symbol not in known
            for each in self.fields
        )


def find_parameter_uses(flat: Program, program: Executable, images: Mapping[str, object]) -> ParameterUses:
    """Returns the uses of the parameters of a kernel. images: the parameters that are textures or surfaces."""
    sizes = {symbol.name: symbol.size for _, symbol in program.parameters}
    pointers = {
        (name, offset)
        for name, offset in pointer_parameters(flat)
        if name not in images and offset + program.address_size // 8 <= sizes[name]  # the others are offsets
    }
    fields = tuple(each for each in find_parameter_fields(flat) if each.offset + each.size <= sizes[each.symbol])
    pointers |= _array_elements(pointer_arrays(flat), {*pointers, *((f.symbol, f.offset) for f in fields)}, sizes)
    flags, tables = frozenset(find_flag_pointers(flat)), pointer_tables(flat)
    return ParameterUses(frozenset(pointers), flags, tables, find_descriptor_parameters(flat), fields)


def _array_elements(
    arrays: Iterable[tuple[str, int]], known: Iterable[tuple[str, int]], sizes: Mapping[str, int]
) -> set[tuple[str, int]]:
    """Returns the places of all elements of arrays of pointers, each of which ends where something else begins."""
    found: set[tuple[str, int]] = set()
    for name, start in arrays:
        stop = min((offset for other, offset in known if other == name and offset > start), default=sizes[name])
        found.update((name, offset) for offset in range(start, stop - _POINTER_BYTES + 1, _POINTER_BYTES))
    return found


def contents_of_run(number: int) -> str:
    """Returns the contents of memory in a run, given its number."""
    return CONTENTS[number // len(SCHEDULES) % len(CONTENTS)]


def generate_runs(
    program: Executable,
    uses: ParameterUses,
    request: VerifyRequest,
    given: GivenArguments,
    guesses: IntegerGuesses,
    contract: LaunchContract = NO_CONTRACT,
    *,
    first: int = 0,
) -> Iterator[VerifierRun]:
    """Yields runs of a kernel, without end. contract: the conditions that chosen numbers satisfy. first: the number of
    the first run.
    """
    multiples = {
        (each.requirement.parameter.symbol, each.requirement.parameter.offset): each.requirement
        for each in contract.conditions
        if isinstance(each.requirement, ParameterMultiple)
    }
    for number in count(first):
        choice = _ArgumentChoice(number, uses, guesses, multiples, numpy.random.default_rng((request.seed, number)))
        arguments, texts = [], []
        for _, symbol in program.parameters:
            specified = request.arguments.get(symbol.name)
            if specified is not None:
                value, text = specified.make_value(choice.chance), specified.text
            else:
                value, text = choice.argument(symbol, given.get(symbol.name))
            arguments.append(value)
            texts.append(f"{symbol.name}={text}")
        policy = SCHEDULES[number % len(SCHEDULES)]
        assert policy in POLICIES
        yield VerifierRun(
            tuple(arguments),
            tuple(texts),
            policy,
            request.seed + number,
            contents_of_run(number),
            number,
            tuple(sorted(choice.integers.items())),
        )


class _ArgumentChoice:
    """The choice of the arguments of one run. chance: for random contents. integers: the numbers chosen so far."""

    def __init__(
        self,
        number: int,
        uses: ParameterUses,
        guesses: IntegerGuesses,
        multiples: Mapping[tuple[str, int], ParameterMultiple],
        chance: numpy.random.Generator,
    ) -> None:
        self._number, self._uses, self._multiples, self.chance = number, uses, multiples, chance
        self._guesses, self._positions, self._real_positions = guesses, count(), count()
        self.integers: dict[ParameterKey, int] = {}

    def argument(
        self, symbol: DeclaredVariable, given: tuple[TensorMapArgument | OpaqueObject | StructArgument, str] | None
    ) -> tuple[Any, str]:
        """Returns the argument for a parameter, and its description. given: what is known of it."""
        if given is not None and not isinstance(given[0], StructArgument):
            return given
        if symbol.is_aggregate:
            return self._structure(symbol, given)
        if (symbol.name, 0) in self._uses.pointers:
            return self._pointer(symbol.name)
        if kind(symbol.type) == "f":
            real = self._real()
            return real, str(real)
        value = self._integer(symbol.name, 0, bits(symbol.type))
        return value, str(value)

    def _structure(
        self, symbol: DeclaredVariable, given: tuple[StructArgument | Any, str] | None
    ) -> tuple[StructArgument, str]:
        """Returns a structure: its pointers point to buffers, its other fields that are loaded are numbers."""
        maps = dict(given[0].pointers) if given is not None else {}
        pointers: dict[int, Any] = {}
        texts = [given[1] if given is not None else f"{symbol.size} bytes of 0"]
        for name, offset in sorted(self._uses.pointers):
            if name == symbol.name and offset + _POINTER_BYTES <= symbol.size and offset not in maps:
                pointers[offset], text = self._buffer(name, offset), self._memory_words(name, offset)
                texts.append(f"{text} at {offset}")
        data = bytearray(symbol.size)
        taken = [range(start, start + _POINTER_BYTES) for start in pointers]
        numbers: dict[str, list[int]] = {}
        for each in self._uses.fields:
            place = range(each.offset, each.offset + each.size)
            if each.symbol != symbol.name or any(
                place.start < other.stop and other.start < place.stop for other in taken
            ):
                continue
            taken.append(place)
            value, text = self._field(each)
            data[place.start : place.stop] = value
            numbers.setdefault(text, []).append(each.offset)
        texts += [f"{text} at {', '.join(map(str, offsets))}" for text, offsets in numbers.items()]
        return StructArgument(bytes(data), {**pointers, **maps}), ", ".join(texts)

    def _field(self, place: ParameterField) -> tuple[bytes, str]:
        if kind(place.type) == "f":
            real = self._real()
            known = _FLOATS.get(place.size)
            return (bytes(place.size) if known is None else numpy.full(1, real, known).tobytes()), str(real)
        value = self._integer(place.symbol, place.offset, place.size * 8)
        return value.to_bytes(place.size, "little"), str(value)

    def _real(self) -> float:
        return self._guesses.real(self._number, next(self._real_positions))

    def _integer(self, symbol: str, offset: int, width: int) -> int:
        valid = self._uses.descriptors.get((symbol, offset))
        if valid:
            return valid[self._number % len(valid)]
        value = self._guesses.integer(self._number, (symbol, offset), next(self._positions))
        multiple = self._multiples.get((symbol, offset))
        if multiple is not None:
            value += (multiple.remainder - value) % multiple.divisor
        self.integers[symbol, offset] = value & (1 << width) - 1
        return self.integers[symbol, offset]

    def _pointer(self, name: str) -> tuple[Any, str]:
        if (name, 0) not in self._uses.tables:
            return self._buffer(name), self._memory_words(name)
        buffers = [self._buffer() for _ in range(TABLE_BUFFERS)]
        words = f"{TABLE_ENTRIES} addresses of {TABLE_BUFFERS} arrays of {self._memory_words(name)}"
        return list(islice(cycle(buffers), TABLE_ENTRIES)), words

    def _contents(self, name: str, offset: int = 0) -> str:
        return "zeros" if (name, offset) in self._uses.flags else contents_of_run(self._number)

    def _memory_words(self, name: str, offset: int = 0) -> str:
        contents = self._contents(name, offset)
        return f"{self._guesses.buffer_bytes >> 20} MiB {f'of {USUAL_SIZE}' if contents == 'sizes' else contents}"

    def _buffer(self, name: str = "", offset: int = 0) -> Any:
        contents, words = self._contents(name, offset), self._guesses.buffer_bytes // 4
        if contents == "sizes":
            return numpy.full(words, USUAL_SIZE, numpy.uint32)
        return make_filled_array("f32" if contents == "random" else "u32", (words,), contents, self.chance)
