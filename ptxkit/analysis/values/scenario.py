"""What a walk takes as given: the launch, the integer arguments, and the side of each undecidable branch."""

from __future__ import annotations

from math import prod

from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.values.predicate_implications import Implications
from ptxkit.analysis.values.symbolic_values import SymbolicValue
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.syntax.launch_extents import BLOCK_DIRECTIVES, launch_extents

#: Threads of a block where the kernel declares none.
DEFAULT_THREADS = 128
#: Threads that a block has at most.
MAX_BLOCK_THREADS = 1024
#: More CTAs than the cluster of any GPU has.
MAX_CLUSTER_CTAS = 1024
#: What integer parameters are taken to be, one exploration each: whole tiles, and a size that leaves a remainder.
SAMPLES = (512, 19)
#: A size for few rounds, tried where no walk of a cluster's CTA with another one comes to its end.
SMALL_SIZE = 5
#: Further sizes, tried where sizes decide whether code is reached that no walk has reached: first one for few rounds,
#: then one with another remainder.
MORE_SAMPLES = (SMALL_SIZE, 22, 99, 1, 4096)
#: Sizes that comparisons on the way to such code name are tried before those: so many that are larger than the first
#: samples, and no larger than this.
MAX_LARGE_SAMPLES, MAX_SAMPLE = 2, 1 << 16
#: How many of these in a row may reach nothing new.
MAX_FRUITLESS_SAMPLES = 2


@dataclass(frozen=True, slots=True)
class LaunchConfig:
    """Geometry. block and cluster: (x, y, z); the grid has two clusters in x.

    is_exact: the kernel says how large its blocks are; is_limit: it says how large they are at most.
    """

    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    is_exact: bool
    is_limit: bool = False

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    def with_other_size(self) -> LaunchConfig:
        """Another launch that a kernel allows which leaves the size of its blocks open: twice, or half the threads."""
        x, y, z = self.block
        return LaunchConfig((max(x // 2, 1) if self.is_limit else 2 * x, y, z), self.cluster, is_exact=False)

    @property
    def cluster_size(self) -> int:
        return self.cluster[0] * self.cluster[1] * self.cluster[2]


@dataclass(slots=True)
class Scenario:
    """One exploration: `sample` for integer parameters, `rank` of the CTA in its cluster, decisions by condition.

    ordering: the unknown conditions whose both sides deserve a look, as they guarded a fence, a wait, a commit or an
    arrival, or stand for what other lanes voted; a dict for its order.

    sampled: some walk has read an integer parameter. samples: how many samples this is the scenario of, where none has.

    asked: by condition, the step that first hung on it. implications: what the decisions say of other conditions.
    """

    launch: LaunchConfig
    sample: int
    rank: int = 0
    decisions: dict[SymbolicValue, bool] = field(default_factory=dict)
    flippable_conditions: dict[SymbolicValue, None] = field(default_factory=dict)
    reads_sample: bool = False
    sample_count: int = 1
    branch_of_condition: dict[SymbolicValue, Step] = field(default_factory=dict)
    implications: Implications = field(default_factory=Implications)

    def reset_decisions(self, decisions: dict[SymbolicValue, bool]) -> None:
        """Takes back all that walks have decided and asked, but for some decisions."""
        self.decisions = dict(decisions)
        self.flippable_conditions, self.branch_of_condition, self.implications = {}, {}, Implications()


def launch_config_of(program: Program) -> LaunchConfig:
    """The geometry that the kernel's directives give; one dimension of DEFAULT_THREADS where they say nothing, or of
    blocks that no GPU launches, and one CTA for such clusters."""
    function = program.function
    block, ctas = (
        launch_extents(function, *BLOCK_DIRECTIVES),
        launch_extents(function, "reqnctapercluster") or (1, 1, 1),
    )
    if not 0 < prod(ctas) <= MAX_CLUSTER_CTAS:  # ptxas takes them all
        ctas = (1, 1, 1)
    if block is None or not 0 < prod(block) <= MAX_BLOCK_THREADS:
        return LaunchConfig((DEFAULT_THREADS, 1, 1), ctas, is_exact=False)
    return LaunchConfig(block, ctas, function.directive("reqntid") is not None, is_limit=True)


def representative_threads(tids: tuple[int, ...]) -> list[int]:
    """Threads of a group that stand for it: two neighbours, one of the next warp, and the last."""
    elsewhere = [tid for tid in tids if tid // 32 != tids[0] // 32]
    return sorted({*tids[:2], *elsewhere[:1], tids[-1]})
