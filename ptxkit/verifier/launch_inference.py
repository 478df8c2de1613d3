"""Infers launches for a kernel whose launch is not specified.

The block is that of `.reqntid`, else of `.maxntid`, with which most kernels are launched, else 128 threads, 16 by 16
where the kernel reads positions along two axes and `.maxntid` allows as many, or another size where all of these
deadlock and that one does not. The grid has two CTAs, or one cluster. Each pointer points to a buffer. Integers are
small numbers, several of them, so that loops execute 0, 1, 2 and more iterations. Blocks, integers and the boxes of
tensor maps satisfy the kernel's contract as far as it is known. The contents of memory are usable as numbers and as
indices. A kernel may have further requirements, which cannot be inferred.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from math import prod
from typing import Any

import numpy

from ptxkit.analysis.contract.launch_evidence import LaunchEvidence
from ptxkit.analysis.ir.thread_axes import USUAL_BLOCKS
from ptxkit.emulator import POLICIES, TensorMapArgument
from ptxkit.emulator.core.address_windows import RESERVED_SHARED
from ptxkit.emulator.engine.executable import Executable
from ptxkit.emulator.engine.launch_args import StructArgument
from ptxkit.emulator.state.textures import OpaqueObject
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.functions import bits, kind
from ptxkit.limits import MAX_CTA_THREADS, MAX_SHARED_BYTES
from ptxkit.model.launch_contract import BlockLimits, LaunchContract, ParameterMultiple, Requirement
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.launch_extents import launch_extents
from ptxkit.syntax.tree import Declaration, Function, Instruction, Integer, Unary
from ptxkit.verifier.argument_parser import make_filled_array
from ptxkit.verifier.integer_guesses import IntegerGuesses
from ptxkit.verifier.limits import LARGE_GRID_PERIOD, MAX_SIZE_HINTS
from ptxkit.verifier.request import Shape, VerifyRequest

DEFAULT_BLOCK = 128
NO_CONTRACT = LaunchContract("")
"""The contract of a kernel that imposes no conditions."""


BUFFER_BYTES, _POINTER_BYTES = 1 << 20, 8
"""The size in bytes of the buffer of a pointer, and of a pointer in a structure."""


SCHEDULES = ("late", "torn", "eager", "random")
CONTENTS = ("iota", "random", "zeros")
"""The contents of memory, which alternate from run to run.

The numbers of all alternatives have no common divisor, so that all combinations occur.
"""


@dataclass(frozen=True, slots=True)
class VerifierRun:
    """One run.

    arguments: in the order of the parameters. assumptions: the choices, in words. policy, seed: those of the machine.
    contents: the kind of contents of memory that was chosen. number: the number of the run. is_degenerate: whether a
    chosen number is 0 or 1, for which rows may overlap. integer: the number that is chosen for integers.
    """

    arguments: tuple[Any, ...]
    assumptions: tuple[str, ...]
    policy: str
    seed: int
    contents: str = ""
    number: int = 0
    is_degenerate: bool = False
    integer: int = 0


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """The geometry with which a kernel is run.

    is_specified: whether the kernel, or the caller, specifies all relevant parts. other_grid: the grid of all runs
    except each `LARGE_GRID_PERIOD`-th; None where all have the same grid.
    """

    grid: Shape
    block: Shape
    cluster: Shape
    shared: int
    is_specified: bool
    other_grid: Shape | None = None

    def of_run(self, number: int) -> LaunchPlan:
        """Returns the geometry of a run, given its number."""
        if self.other_grid is None:
            return self
        grid = self.other_grid if number % LARGE_GRID_PERIOD else self.grid
        return replace(self, grid=grid, other_grid=None)


def infer_plans(
    entry: Function,
    program: Executable,
    request: VerifyRequest,
    blocks: Sequence[Shape],
    evidence: LaunchEvidence = LaunchEvidence(),  # noqa: B008 (frozen)
) -> list[LaunchPlan]:
    """Returns the geometry of a kernel's runs, and alternatives to try where it leads to a deadlock.

    The grid has two CTAs, or clusters, or four, along the first axis on which the kernel reads its position.
    """
    required = find_declared_extents(entry, "reqntid")
    cluster = request.cluster or find_declared_extents(entry, "reqnctapercluster") or (1,)
    grid = request.grid or (
        cluster if prod(cluster) > 1 and not evidence.has_several_ctas else _adjacent_clusters(cluster, evidence)
    )
    dynamic = MAX_SHARED_BYTES + RESERVED_SHARED - program.shared.dynamic if _has_dynamic_shared(program) else 0
    shared = dynamic if request.shared is None else request.shared
    is_given = (required is not None or request.block is not None) and (not dynamic or request.shared is not None)
    return [LaunchPlan(grid, block, cluster, shared, is_given) for block in blocks]


def candidate_blocks(
    entry: Function, request: VerifyRequest, instructions: Iterable[Instruction], evidence: LaunchEvidence
) -> list[Shape]:
    """Returns the block of a kernel's launch, or where it is unknown the blocks to try, the most likely ones first."""
    known = request.block or find_declared_extents(entry, "reqntid")
    limit = known or find_declared_extents(entry, "maxntid")
    axes = USUAL_BLOCKS[evidence.thread_axes] if evidence.thread_axes > 1 else ()
    if limit:
        shapes = [block for block in axes if prod(block) <= limit[0]] if not known and len(limit) == 1 else []
        return [*shapes, limit]
    return [*axes, (DEFAULT_BLOCK,), *_other_blocks(instructions)]


def blocks_within(blocks: list[Shape], known: Iterable[Requirement]) -> list[Shape]:
    """Returns the blocks with which no error is known, or those that some requirements name if each of them has one.

    The blocks that they name come first.
    """
    limits = [each for each in known if isinstance(each, BlockLimits)]
    failing = {
        _without_ones(shape) for each in limits for shape in (*each.failing_shapes, *((n,) for n in each.failing))
    }
    named = [
        _without_ones(shape) for each in limits for shape in (*each.shapes, *((n,) for n in reversed(each.possible)))
    ]
    possible = [shape for shape in dict.fromkeys(named) if shape not in failing]
    first = [block for block in possible if block in blocks]
    return [*first, *(each for each in blocks if each not in (*failing, *first))] or possible or blocks


def _adjacent_clusters(cluster: Shape, evidence: LaunchEvidence) -> Shape:
    """Returns a grid of two adjacent clusters, or of four where CTAs share words of global memory.

    A CTA may then pass on what it has from a second one to a third one, as in scans. The four are in two axes where the
    kernel reads two.
    """
    axes = list(evidence.axes[: 2 if evidence.shares_global_memory else 1]) or [0]
    whole = [*cluster, *(1 for _ in range(axes[-1] + 1 - len(cluster)))]
    for axis in axes:
        whole[axis] *= 4 if evidence.shares_global_memory and len(axes) == 1 else 2
    return tuple(whole)


def find_declared_extents(entry: Function, directive: str) -> Shape | None:
    """Returns the extents that a directive declares, without trailing extents of 1."""
    shape: Shape | None = launch_extents(entry, directive)
    return None if shape is None else _without_ones(shape)


def _without_ones(shape: Shape) -> Shape:
    """Returns the extents without trailing extents of 1; there is at least one extent."""
    while len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    return shape


def _other_blocks(instructions: Iterable[Instruction]) -> list[Shape]:
    """Returns the block sizes that numbers in a kernel suggest: thread counts of barriers, and thread bounds."""
    seen: Counter[int] = Counter()
    for each in instructions:
        plain = [operand.operand if isinstance(operand, Unary) else operand for operand in each.operands]
        seen.update({operand.value for operand in plain if isinstance(operand, Integer)})
    hints = [
        number for number, _ in seen.most_common() if number % WARP_SIZE == 0 and WARP_SIZE <= number < MAX_CTA_THREADS
    ]
    sizes = dict.fromkeys(
        [*hints[:MAX_SIZE_HINTS], *(each + WARP_SIZE for each in hints[:MAX_SIZE_HINTS]), 2 * DEFAULT_BLOCK]
    )
    return [(size,) for size in sizes if size != DEFAULT_BLOCK]


def _has_dynamic_shared(program: Executable) -> bool:
    """Returns whether the module declares shared memory whose size the launch determines."""
    return any(
        isinstance(item, Declaration) and item.space == "shared" and "extern" in item.linkage
        for item in program.module.items
    )


def generate_runs(
    program: Executable,
    pointers: Collection[tuple[str, int]],
    request: VerifyRequest,
    maps: Mapping[str, tuple[TensorMapArgument | OpaqueObject | StructArgument, str]],
    guesses: IntegerGuesses,
    contract: LaunchContract = NO_CONTRACT,
    flags: Collection[tuple[str, int]] = (),
) -> Iterator[VerifierRun]:
    """Yields runs of a kernel, without end.

    maps: the arguments for tensor maps and images, with their descriptions. contract: the conditions that chosen
    numbers satisfy. flags: the pointers to memory of zeros, whatever the contents of the other memory are.
    """
    multiples = {
        each.requirement.parameter.symbol: each.requirement
        for each in contract.conditions
        if isinstance(each.requirement, ParameterMultiple) and not each.requirement.parameter.offset
    }
    for number in count():
        chance = numpy.random.default_rng((request.seed, number))
        arguments, texts = [], []
        positions = count()

        def choose(run: int = number, positions: Iterator[int] = positions) -> int:
            return guesses.integer(run, next(positions))

        for _, symbol in program.parameters:
            given = request.arguments.get(symbol.name)
            if given is not None:
                arguments.append(given.make_value(chance))
                texts.append(f"{symbol.name}={given.text}")
                continue
            mapped = maps.get(symbol.name)
            multiple = multiples.get(symbol.name)
            value, text = mapped or _infer_argument(symbol, number, pointers, flags, chance, choose, multiple)
            if mapped and isinstance(value, StructArgument):
                other, more = _infer_argument(symbol, number, pointers, flags, chance, choose)
                value = StructArgument(value.data, {**other.pointers, **value.pointers})
                text += more.removeprefix(f"{symbol.size} bytes of 0")
            arguments.append(value)
            texts.append(f"{symbol.name}={text}")
        policy = SCHEDULES[number % len(SCHEDULES)]
        assert policy in POLICIES
        seed, degenerate = request.seed + number, guesses.is_degenerate(number)
        yield VerifierRun(
            tuple(arguments),
            tuple(texts),
            policy,
            seed,
            _contents_of_run(number),
            number,
            degenerate,
            guesses.number_of_run(number),
        )


def unspecified_parameters(program: Executable, request: VerifyRequest) -> list[str]:
    """Returns the parameters whose arguments are not specified."""
    return [symbol.name for _, symbol in program.parameters if symbol.name not in request.arguments]


def has_unspecified_structures(program: Executable, request: VerifyRequest, known: Collection[str]) -> bool:
    """Returns whether an unspecified parameter, except the known ones, is a structure, most of which is zeros."""
    left = unspecified_parameters(program, request)
    return any(
        symbol.is_aggregate and symbol.name in left and symbol.name not in known for _, symbol in program.parameters
    )


def _contents_of_run(number: int) -> str:
    """Returns the contents of memory in a run, given its number."""
    return CONTENTS[number // len(SCHEDULES) % len(CONTENTS)]


def has_unspecified_values(program: Executable, pointers: Collection[tuple[str, int]], request: VerifyRequest) -> bool:
    """Returns whether anything except pointers is unspecified: a host may never launch the kernel in this way."""
    left = unspecified_parameters(program, request)
    return any(
        (symbol.name, 0) not in pointers or symbol.is_aggregate
        for _, symbol in program.parameters
        if symbol.name in left
    )


def _infer_argument(
    symbol: DeclaredVariable,
    number: int,
    pointers: Collection[tuple[str, int]],
    flags: Collection[tuple[str, int]],
    chance: numpy.random.Generator,
    choose: Callable[[], int],
    multiple: ParameterMultiple | None = None,
) -> tuple[Any, str]:
    """Returns the argument for a parameter, and its description. choose: returns the number for an integer."""
    contents = _contents_of_run(number) if (symbol.name, 0) not in flags else "zeros"
    memory = f"{BUFFER_BYTES >> 20} MiB {contents}"
    places = sorted(offset for name, offset in pointers if name == symbol.name)

    def buffer() -> Any:
        return make_filled_array("f32" if contents == "random" else "u32", (BUFFER_BYTES // 4,), contents, chance)

    if symbol.is_aggregate:
        inside = [offset for offset in places if offset + _POINTER_BYTES <= symbol.size]
        texts = "".join(f", {memory} at {offset}" for offset in inside)
        return StructArgument(
            bytes(symbol.size), {each: buffer() for each in inside}
        ), f"{symbol.size} bytes of 0{texts}"
    if 0 in places:
        return buffer(), memory
    if kind(symbol.type) == "f":
        return 1.0, "1.0"
    value = choose()
    if multiple is not None:
        value += (multiple.remainder - value) % multiple.divisor
    value &= (1 << bits(symbol.type)) - 1
    return value, str(value)
