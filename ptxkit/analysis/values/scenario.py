"""The assumptions of an execution: the launch, the integer arguments, and the side of each undecidable branch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from math import prod
from typing import TypeAlias

from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.thread_axes import usual_blocks
from ptxkit.analysis.limits import MAX_CLUSTER_CTAS
from ptxkit.analysis.values.input_data import InputData
from ptxkit.analysis.values.predicate_implications import Implications
from ptxkit.analysis.values.symbolic_values import SymbolicValue
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.limits import MAX_CTA_THREADS
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.launch_extents import BLOCK_DIRECTIVES, launch_extents

#: The number of threads in a block where the kernel declares none.
DEFAULT_THREADS = 128
#: The values of integer parameters, one exploration each: a multiple of the tile, and a size that leaves a remainder.
SAMPLES = (512, 19)
#: A size for few iterations, which is tried where no execution of a cluster's CTA together with another one terminates.
SMALL_SIZE = 5
#: A size of 63 tiles of 64, or 126 of 32: a loop over tiles that is unrolled leaves as many of them as possible.
ODD_TILES = 4032
#: A size of 9 tiles of 16: the same for a loop over small tiles.
ODD_SMALL_TILES = 144
#: A size of 7 tiles of 128, or 14 of 64, for kernels whose execution with many tiles is cut short.
FEW_TILES = 896
#: Further sizes, tried where sizes decide whether unreached code is executed: first one for few iterations, then some
#: with other remainders.
MORE_SAMPLES = (SMALL_SIZE, ODD_SMALL_TILES, ODD_TILES, 22, 99, 1, 4096)
#: The numbers of a CTA along each axis of the grid that are tried where they decide whether unreached code is executed,
#: each with the length of the axis and the size of the problem. The first ones are at the end of the grid, the last one
#: is inside. The tile of a triangle with such a number has as many tiles before it.
POSITIONS = ((2, 3, SAMPLES[0]), (7, 8, max(MORE_SAMPLES)), (2, 5, SMALL_SIZE))
#: The numbers of the first words of buffers that the host fills: a few, and more than a ring has stages.
INPUT_SCALES = (8, 9)
#: The sizes that consist of whole tiles: a kernel for whole tiles only supports them.
WHOLE_TILES = (SAMPLES[0], max(MORE_SAMPLES))


@dataclass(frozen=True, slots=True)
class LaunchConfig:
    """The geometry of a launch.

    block, cluster: the extents (x, y, z); the grid has two clusters in x. is_exact: whether the kernel declares the
    size of its blocks. is_limit: whether it declares their maximum size.
    """

    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    is_exact: bool
    is_limit: bool = False

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    def with_other_size(self) -> LaunchConfig:
        """Returns a launch with twice or half the threads, which is valid if the kernel declares no block size."""
        x, y, z = self.block
        return LaunchConfig((max(x // 2, 1) if self.is_limit else 2 * x, y, z), self.cluster, is_exact=False)

    @property
    def cluster_size(self) -> int:
        return self.cluster[0] * self.cluster[1] * self.cluster[2]


ParameterKey: TypeAlias = "tuple[str, int]"
"""The name of a parameter, and the byte in it."""

Arguments: TypeAlias = tuple[int, tuple[tuple[ParameterKey, int], ...]]
"""The value of most integer parameters, and those of parameters and positions that have another one."""


@dataclass(slots=True)
class Scenario:
    """One exploration: `sample` for integer parameters, `rank` of the CTA in its cluster, decisions by condition.

    overrides: the integer parameters, by name and offset, that have other values than the sample; `%ctaid.x` with
    offset 0 is the number of the CTA. cluster_index: which of the two clusters of the grid.

    flippable_conditions: the unknown conditions both of whose sides should be explored, as they guard a fence, a wait,
    a commit or an arrival, or represent the votes of other lanes; a dict to keep the order.

    reads_sample: whether some execution has read an integer parameter. sample_count: the number of samples that this
    scenario represents, where no execution has.

    is_flipped: whether it takes the other side of a guess that decides an order. It may refute what other scenarios
    show, and proves nothing by itself.

    omits_order: whether each guess takes a side on which a fence, a wait, a barrier or an arrival is left out, if only
    such instructions are. It is flipped, too.

    branch_of_condition: by condition, the first step that depends on it. implications: what the decisions imply for
    other conditions. data: what the host has prepared in memory; None where conditions on loaded data are guessed.
    """

    launch: LaunchConfig
    sample: int
    rank: int = 0
    decisions: dict[SymbolicValue, bool] = field(default_factory=dict)
    flippable_conditions: dict[SymbolicValue, None] = field(default_factory=dict)
    reads_sample: bool = False
    sample_count: int = 1
    is_flipped: bool = False
    branch_of_condition: dict[SymbolicValue, Step] = field(default_factory=dict)
    implications: Implications = field(default_factory=Implications)
    overrides: tuple[tuple[ParameterKey, int], ...] = ()
    omits_order: bool = False
    repeats_loops: bool = False
    cluster_index: int = 0
    data: InputData | None = None

    @property
    def arguments(self) -> Arguments:
        """The values of all integer parameters; they are equal in two scenarios if this is."""
        return self.sample, self.overrides

    @property
    def conditions(self) -> Hashable:
        """Everything that decides what a kernel executes in this scenario, which has not begun.

        The result is None where data of the host decide it, too.
        """
        launch, flags = self.launch, (self.is_flipped, self.omits_order, self.repeats_loops)
        place = (launch.block, launch.cluster, self.rank, self.cluster_index)
        return (place, self.arguments, flags, tuple(self.decisions.items())) if self.data is None else None

    @property
    def is_input_trial(self) -> bool:
        """Whether inputs are chosen such that something is not ordered."""
        return self.is_flipped and bool(self.overrides)

    @property
    def is_elsewhere(self) -> bool:
        """Whether the CTA has another place in the grid than the first one."""
        return not self.is_flipped and any(name.startswith("%ctaid") for (name, _), _ in self.overrides)

    @property
    def sides_of_branches(self) -> dict[Step, bool]:
        """The sides that were decided at the branches whose unknown conditions all had the same one."""
        known: dict[Step, set[bool]] = defaultdict(set)
        for condition, step in self.branch_of_condition.items():
            if condition in self.decisions:
                known[step].add(self.decisions[condition])
        return {step: True in sides for step, sides in known.items() if len(sides) == 1}

    @property
    def has_whole_tiles(self) -> bool:
        """Whether kernels that support only whole tiles support the arguments."""
        return self.sample in WHOLE_TILES and not self.overrides

    def value_of(self, parameter: ParameterKey) -> int:
        """Returns the value of an integer parameter."""
        return dict(self.overrides).get(parameter, self.sample)

    def with_decisions(self, decisions: Mapping[SymbolicValue, bool], *, is_flipped: bool = False) -> Scenario:
        """Returns a scenario with the same launch and arguments that is not executed yet."""
        return Scenario(
            self.launch,
            self.sample,
            0,
            dict(decisions),
            is_flipped=is_flipped,
            overrides=self.overrides,
            data=self.data,
        )

    def of_rank(self, rank: int) -> Scenario:
        """Returns the scenario of another CTA of the cluster, which takes the same sides."""
        return Scenario(
            self.launch,
            self.sample,
            rank,
            dict(self.decisions),
            is_flipped=self.is_flipped,
            overrides=self.overrides,
            omits_order=self.omits_order,
            repeats_loops=self.repeats_loops,
            cluster_index=self.cluster_index,
            data=self.data,
        )

    def reset_decisions(self, decisions: dict[SymbolicValue, bool]) -> None:
        """Discards the decisions of executions, except for the given ones."""
        self.decisions = dict(decisions)
        self.flippable_conditions, self.branch_of_condition, self.implications = {}, {}, Implications()


def launch_config_of(program: Program) -> LaunchConfig:
    """Returns the geometry that the kernel's directives declare.

    The block has a usual shape where they declare none, or one that no GPU launches. The cluster has one CTA where the
    declared cluster cannot be launched.
    """
    return program.analysis(_find_launch_config)


def _find_launch_config(program: Program) -> LaunchConfig:
    function = program.function
    block, ctas = declared_extents(program), launch_extents(function, "reqnctapercluster") or (1, 1, 1)
    has_block = launch_extents(function, *BLOCK_DIRECTIVES) == block
    is_exact = has_block and function.directive("reqntid") is not None
    if not 0 < prod(ctas) <= MAX_CLUSTER_CTAS:  # ptxas accepts any number
        ctas = (1, 1, 1)
    if not is_exact and block[1:] == (1, 1):
        block = next(usual_blocks(program, block[0] if has_block else None), block)
    return LaunchConfig(block, ctas, is_exact, is_limit=has_block)


def declared_extents(program: Program) -> tuple[int, int, int]:
    """Returns the extents of the block that a kernel declares, or of a block of DEFAULT_THREADS."""
    block = launch_extents(program.function, *BLOCK_DIRECTIVES)
    return (DEFAULT_THREADS, 1, 1) if block is None or not 0 < prod(block) <= MAX_CTA_THREADS else block


def representative_threads(tids: tuple[int, ...]) -> list[int]:
    """Returns the representative threads of a group: two adjacent ones, one of the next warp, and the last one."""
    elsewhere = [tid for tid in tids if tid // WARP_SIZE != tids[0] // WARP_SIZE]
    return sorted({*tids[:2], *elsewhere[:1], tids[-1]})
