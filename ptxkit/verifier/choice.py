"""Launches for a kernel of which nobody said how it is launched.

Blocks of `.reqntid`, or else of `.maxntid`, which is mostly what a kernel is launched with, or of 128 threads, or of
another size where all of these wait for ever and those do not; two CTAs, or one cluster; a buffer for each pointer;
small numbers for integers, several of them, so that loops go round 0, 1, 2 and more times; contents that serve as
numbers and as indices. A kernel may want more of its arguments than this can know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count
from math import prod
from typing import Any

import numpy

from ptxkit.emulate import POLICIES, TensorMap
from ptxkit.emulate.launching import Structure
from ptxkit.emulate.program import Program
from ptxkit.emulate.scopes import Symbol
from ptxkit.emulate.textures import Opaque
from ptxkit.emulate.windows import RESERVED_SHARED
from ptxkit.isa.functions import bits, kind
from ptxkit.records import dataclass
from ptxkit.syntax.extents import extents
from ptxkit.syntax.tree import Declaration, Function, Instruction, Integer, Unary
from ptxkit.verifier.evidence import Evidence
from ptxkit.verifier.given import filled
from ptxkit.verifier.guesses import Guesses
from ptxkit.verifier.request import Request, Shape

BLOCK, WARP, MOST = 128, 32, 1024
MOST_HINTS = 3
"""Numbers in a kernel that are taken for hints at the size of its blocks."""

BUFFER, _POINTER = 1 << 20, 8
"""Bytes of a buffer that stands for a pointer, and of a pointer in a structure."""

MOST_SHARED = 227 << 10
"""Bytes of shared memory that a CTA has at most: a kernel with launch-sized memory gets all that is left."""

SCHEDULES = ("late", "torn", "eager", "random")
CONTENTS = ("iota", "random", "zeros")
"""What takes turns from run to run. The numbers of them have no common divisor, so that all meet."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run. arguments: in the order of the parameters; told: in words. policy, seed: of the machine.

    contents: of memory that was chosen. number: which run. is_degenerate: a number that was chosen is 0 or 1, with
    which rows may lie on top of each other.
    """

    arguments: tuple[Any, ...]
    told: tuple[str, ...]
    policy: str
    seed: int
    contents: str = ""
    number: int = 0
    is_degenerate: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """How a kernel is run. is_given: the kernel, or the caller, says all of it that matters."""

    grid: Shape
    block: Shape
    cluster: Shape
    shared: int
    is_given: bool


def plans_of(
    entry: Function,
    program: Program,
    request: Request,
    instructions: Iterable[Instruction],
    evidence: Evidence = Evidence(),  # noqa: B008 (frozen)
) -> list[Plan]:
    """The geometry of the runs of a kernel, and others to try where nobody can go on with it.

    The grid has two CTAs, or clusters, along the first axis on which the kernel asks for its place.
    """
    required, most = _declared(entry, "reqntid"), _declared(entry, "maxntid")
    known = request.block or required or most
    blocks = [known] if known else [(BLOCK,), *_other_blocks(instructions)]
    cluster = request.cluster or _declared(entry, "reqnctapercluster") or (1,)
    grid = request.grid or (cluster if prod(cluster) > 1 and not evidence.has_several_ctas else _two(cluster, evidence))
    dynamic = MOST_SHARED + RESERVED_SHARED - program.shared.dynamic if _has_dynamic_shared(program) else 0
    shared = dynamic if request.shared is None else request.shared
    is_given = (required is not None or request.block is not None) and (not dynamic or request.shared is not None)
    return [Plan(grid, block, cluster, shared, is_given) for block in blocks]


def _two(cluster: Shape, evidence: Evidence) -> Shape:
    """Two clusters side by side."""
    axis = evidence.axes[0] if evidence.axes else 0
    whole = [*cluster, *(1 for _ in range(axis + 1 - len(cluster)))]
    whole[axis] *= 2
    return tuple(whole)


def _declared(entry: Function, directive: str) -> Shape | None:
    """What a directive says, up to the last number that is not one: what is printed is what people write."""
    shape: Shape | None = extents(entry, directive)
    while shape is not None and len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    return shape


def _other_blocks(instructions: Iterable[Instruction]) -> list[Shape]:
    """Sizes at which numbers in a kernel hint: counts of threads that meet, and where a part of the threads begins."""
    seen: Counter[int] = Counter()
    for each in instructions:
        plain = [operand.operand if isinstance(operand, Unary) else operand for operand in each.operands]
        seen.update({operand.value for operand in plain if isinstance(operand, Integer)})
    hints = [number for number, _ in seen.most_common() if number % WARP == 0 and WARP <= number < MOST]
    sizes = dict.fromkeys([*hints[:MOST_HINTS], *(each + WARP for each in hints[:MOST_HINTS]), 2 * BLOCK])
    return [(size,) for size in sizes if size != BLOCK]


def _has_dynamic_shared(program: Program) -> bool:
    """Whether the module declares shared memory whose size the launch gives."""
    return any(
        isinstance(item, Declaration) and item.space == "shared" and "extern" in item.linkage
        for item in program.module.items
    )


def trials(
    program: Program,
    pointers: Collection[tuple[str, int]],
    request: Request,
    maps: Mapping[str, tuple[TensorMap | Opaque | Structure, str]],
    guesses: Guesses,
) -> Iterator[Trial]:
    """Runs of a kernel, without end. maps: what to pass for tensor maps and images, and words for it."""
    for number in count():
        chance = numpy.random.default_rng((request.seed, number))
        arguments, told = [], []
        for place, (_, symbol) in enumerate(program.parameters):
            given = request.arguments.get(symbol.name) or request.arguments.get(f"#{place}")
            if given is not None:
                arguments.append(given.made(chance))
                told.append(f"{symbol.name}={given.text}")
                continue
            mapped = maps.get(symbol.name)
            value, text = mapped or _chosen(symbol, number, pointers, chance, guesses)
            if mapped and isinstance(value, Structure):
                other, more = _chosen(symbol, number, pointers, chance, guesses)
                value = Structure(value.octets, {**other.pointers, **value.pointers})
                text += more.removeprefix(f"{symbol.size} bytes of 0")
            arguments.append(value)
            told.append(f"{symbol.name}={text}")
        policy = SCHEDULES[number % len(SCHEDULES)]
        assert policy in POLICIES
        seed, degenerate = request.seed + number, guesses.is_degenerate(number)
        yield Trial(tuple(arguments), tuple(told), policy, seed, _contents(number), number, degenerate)


def contents_chosen(program: Program, request: Request) -> list[str]:
    """The parameters of which nobody said what to pass."""
    names = [symbol.name for _, symbol in program.parameters]
    known = request.arguments
    return [name for place, name in enumerate(names) if name not in known and f"#{place}" not in known]


def chooses_structures(program: Program, request: Request, known: Collection[str]) -> bool:
    """Whether anything is left to be chosen that has parts, and is none of the known: most of it is zeros then."""
    left = contents_chosen(program, request)
    return any(
        symbol.size > symbol.element and symbol.name in left and symbol.name not in known
        for _, symbol in program.parameters
    )


def _contents(number: int) -> str:
    """What is in memory, by the number of the run."""
    return CONTENTS[number // len(SCHEDULES) % len(CONTENTS)]


def chooses_values(program: Program, pointers: Collection[tuple[str, int]], request: Request) -> bool:
    """Whether anything but pointers is left to be chosen: then a kernel may be run as its host never would."""
    left = contents_chosen(program, request)
    return any(
        (symbol.name, 0) not in pointers or symbol.size > symbol.element
        for _, symbol in program.parameters
        if symbol.name in left
    )


def _chosen(
    symbol: Symbol,
    number: int,
    pointers: Collection[tuple[str, int]],
    chance: numpy.random.Generator,
    guesses: Guesses,
) -> tuple[Any, str]:
    contents = _contents(number)
    memory = f"{BUFFER >> 20} MiB {contents}"
    places = sorted(offset for name, offset in pointers if name == symbol.name)

    def buffer() -> Any:
        return filled("f32" if contents == "random" else "u32", (BUFFER // 4,), contents, chance)

    if symbol.size > symbol.element:
        inside = [offset for offset in places if offset + _POINTER <= symbol.size]
        told = "".join(f", {memory} at {offset}" for offset in inside)
        return Structure(bytes(symbol.size), {each: buffer() for each in inside}), f"{symbol.size} bytes of 0{told}"
    if 0 in places:
        return buffer(), memory
    if kind(symbol.type) == "f":
        return 1.0, "1.0"
    value = guesses.integer(number) & ((1 << bits(symbol.type)) - 1)
    return value, str(value)
