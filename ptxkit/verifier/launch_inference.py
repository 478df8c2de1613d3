"""Infers launches for a kernel whose launch is not specified.

The block is that of `.reqntid`, else of `.maxntid`, with which most kernels are launched, else 128 threads, 16 by 16
where the kernel reads positions along two axes and `.maxntid` allows as many, or another size where all of these
deadlock and that one does not. The grid has two CTAs, or one cluster. Blocks satisfy the kernel's contract as far as it
is known. A kernel may have further requirements, which cannot be inferred.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import prod

from ptxkit.analysis.contract.launch_evidence import LaunchEvidence
from ptxkit.analysis.ir.thread_axes import USUAL_BLOCKS
from ptxkit.emulator.core.address_windows import RESERVED_SHARED
from ptxkit.emulator.engine.executable import Executable
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.limits import MAX_CTA_THREADS, MAX_SHARED_BYTES
from ptxkit.model.launch_contract import BlockLimits, Requirement
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.launch_extents import launch_extents
from ptxkit.syntax.tree import Declaration, Function, Instruction, Integer, Unary
from ptxkit.verifier.limits import LARGE_GRID_PERIOD, MAX_SIZE_HINTS
from ptxkit.verifier.request import Shape, VerifyRequest

DEFAULT_BLOCK = 128

_ROW_LENGTHS = (16, 8, 32, 4)
"""The lengths along x of blocks of several axes that are tried where the usual ones are unsuitable."""


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
    axes = (*USUAL_BLOCKS[evidence.thread_axes], *_shapes_of(evidence.thread_axes)) if evidence.thread_axes > 1 else ()
    if limit:
        shapes = [block for block in axes if prod(block) <= limit[0]] if not known and len(limit) == 1 else []
        return [*shapes, limit]
    return [*axes, (DEFAULT_BLOCK,), *_other_blocks(instructions)]


def blocks_within(blocks: list[Shape], known: Iterable[Requirement]) -> list[Shape]:
    """Returns the blocks with which no error is known: first those that some requirements name, the usual ones of these
    before the others.
    """
    limits = [each for each in known if isinstance(each, BlockLimits)]
    failing = {
        _without_ones(shape) for each in limits for shape in (*each.failing_shapes, *((n,) for n in each.failing))
    }
    named = [
        _without_ones(shape) for each in limits for shape in (*each.shapes, *((n,) for n in reversed(each.possible)))
    ]
    possible = [shape for shape in dict.fromkeys(named) if shape not in failing]
    first = sorted(possible, key=lambda block: block not in blocks)
    return [*first, *(each for each in blocks if each not in (*failing, *first))] or blocks


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


def _shapes_of(axes: int) -> Iterator[Shape]:
    """Yields the other shapes of the usual number of threads along several axes, whose rows are powers of two."""
    for x in _ROW_LENGTHS:
        rows = DEFAULT_BLOCK // x
        yield from [(x, rows)] if axes == 2 else ((x, y, rows // y) for y in (1, 2, 4, 8) if rows >= 2 * y)


def _has_dynamic_shared(program: Executable) -> bool:
    """Returns whether the module declares shared memory whose size the launch determines."""
    return any(
        isinstance(item, Declaration) and item.space == "shared" and "extern" in item.linkage
        for item in program.module.items
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


def has_unspecified_values(program: Executable, pointers: Collection[tuple[str, int]], request: VerifyRequest) -> bool:
    """Returns whether anything except pointers is unspecified: a host may never launch the kernel in this way."""
    left = unspecified_parameters(program, request)
    return any(
        (symbol.name, 0) not in pointers or symbol.is_aggregate
        for _, symbol in program.parameters
        if symbol.name in left
    )
