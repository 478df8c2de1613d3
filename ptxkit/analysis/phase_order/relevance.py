"""Which parts of a schedule's state still matter, because a group may come to code that depends on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.phase_order.access_batches import AccessBatch
from ptxkit.analysis.phase_order.order_state import ScheduleState, SharedBranch
from ptxkit.analysis.phase_order.overlaps import Overlaps
from ptxkit.analysis.values.uniform_terms import Atom

_Blocks = Collection[int]


class Relevance:
    """The blocks that depend on parts of the state of one kernel.

    shared: the branches whose outcomes groups share, by their index. tests: the blocks that test each tracked
    predicate. barriers: the blocks that use each mbarrier; one that is missing is always relevant.
    """

    def __init__(
        self,
        cfg: ControlFlowGraph,
        shared: Mapping[int, SharedBranch],
        tests: Mapping[tuple[Atom, int], _Blocks],
        barriers: Mapping[Hashable, _Blocks],
        overlaps: Overlaps,
    ) -> None:
        self._cfg, self._tests, self._barriers, self._overlaps = cfg, tests, barriers, overlaps
        self._reached: dict[int, frozenset[int]] = {}
        self._partner_blocks: dict[object, frozenset[int]] = {}
        self._branches: dict[Hashable, set[int]] = defaultdict(set)
        for index, branch in shared.items():
            for each in branch.numbers:
                self._branches[each].add(self._block_at(index))

    def reduce(self, state: ScheduleState) -> None:
        """Removes what no group may need, and what all of them know."""
        state.forget_settled()
        live = [(group, self._reachable(at.block)) for group, at in enumerate(state.at) if at is not None]
        ahead = frozenset().union(*(blocks for _, blocks in live))
        for count, known in state.counts.items():
            tested = self._branches[count]
            state.counts[count] = known.normalize({each for each, blocks in live if not tested.isdisjoint(blocks)})
        for count in [count for count, known in state.counts.items() if known.is_initial]:
            del state.counts[count]
        for predicate in [each for each in state.assumed if ahead.isdisjoint(self._tests[each])]:
            del state.assumed[predicate]
        unused = {key for key in state.barriers if key in self._barriers and ahead.isdisjoint(self._barriers[key])}
        for key in unused:
            del state.barriers[key]
        for token in [token for token in state.tokens if token[1] in unused]:
            del state.tokens[token]
        state.forget(
            event
            for event in state.events
            if (ahead.isdisjoint(self._partner_blocks_of(event[1])) if event[0] == "access" else event[1] in unused)
        )

    def _partner_blocks_of(self, batch: object) -> frozenset[int]:
        found = self._partner_blocks.get(batch)
        if found is None:
            assert isinstance(batch, AccessBatch)
            partners = (other for each in batch.accesses for other in self._overlaps.partners(each))
            found = self._partner_blocks[batch] = frozenset(self._block_at(each.step.index) for each in partners)
        return found

    def _reachable(self, block: int) -> frozenset[int]:
        found = self._reached.get(block)
        if found is None:
            found = self._reached[block] = self._cfg.reachable([block])
        return found

    def _block_at(self, index: int) -> int:
        return self._cfg.block_at(index)
