"""The states that the threads of a CTA may be in: positions in the code, with the values at the merges that matter.

An edge leads from a state to each one that may follow. Where a condition is known in all threads, only those that
satisfy it continue along an edge; where it is not, all of them may. So each execution of each thread, for all arguments
and data, is a path through the states. At a barrier of all threads, all of them are in the same state, because only
merges that depend on nothing that differs between the threads keep their values there.

A loop whose number of iterations is unknown has finitely many states only if its values repeat, as the number of the
current stage does. Other values are replaced by an unknown at each barrier: first by one of which the differences until
the next barrier are known, and if that is not enough, by one about which nothing is known.

Source: Bardsley et al., "Engineering a Static Verification Tool for GPU Kernels" (barrier intervals).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from math import lcm
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.uniform_execution import UniformExecution
from ptxkit.analysis.abstract_interpretation.value_graph import Merge, ValueNode
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.intervals.thread_values import Environment, Origin, ThreadValues
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_CTA_STATE_VISITS, MAX_CTA_STATES, MAX_MERGE_VALUES
from ptxkit.analysis.values.cta_values import CtaValue, MixedTerm, apply, is_large, large_term
from ptxkit.analysis.values.uniform_terms import Numbers, UniformTerm, atom
from ptxkit.fast_dataclasses import dataclass, field

#: A number of which a replaced value remains known as the remainder, so that the masks of stage numbers apply to it.
MODULUS = 8

#: The least number that is not taken for a counter, because it may be a negative one.
_LEAST_UNCOUNTED = 1 << 30
#: The operations to which the lowest bits of a number may matter.
_BITWISE = frozenset(("and", "or", "xor", "shr", "rem", "div", "lop3", "prmt", "bfe", "bfi", "mul_hi", "mul_wide"))

_Key: TypeAlias = tuple[Hashable, ...]


@dataclass(slots=True, eq=False)
class IntervalState:
    """The code from `first` to before `end` in a block, with the values at merges.

    threads: those that may come here, as a bit mask. following: the states that may come next, each with the threads
    that may go there. barrier: the step of all threads that ends the state; None if it ends otherwise. choices: what
    decides whether a thread goes to one of the following states, where a user of the states distinguishes them.
    """

    block: int
    first: int
    end: int
    values: Environment
    threads: int = 0
    following: dict[IntervalState, int] = field(default_factory=dict)
    barrier: Step | None = None
    choices: dict[IntervalState, Hashable] = field(default_factory=dict)


Departure: TypeAlias = tuple[int, int, Environment, int, Hashable]
"""A block, its first step, the values there, the threads that go there, and what decides that they do."""


class TooManyStatesError(Exception):
    """The states exceed the limit."""


class CtaStates:
    """The states of one kernel.

    values: how to evaluate registers. barriers: the barriers of all threads, which they execute equally often. wanted:
    the values that the user of the states evaluates, with the block in which it does.
    """

    def __init__(
        self,
        program: Program,
        cfg: ControlFlowGraph,
        values: ThreadValues,
        execution: UniformExecution,
        barriers: Collection[Step],
        wanted: Iterable[tuple[int, ValueNode]],
    ) -> None:
        self._program, self._cfg, self._values, self._execution = program, cfg, values, execution
        self.scale_limit = program.scale_limit
        self._barriers = {step.index for step in barriers}
        self._all = (1 << values.threads) - 1
        self._last_step = [cfg.steps_of_block(block)[-1] for block in range(len(cfg.block_starts))]
        self._ends: dict[tuple[int, int], int] = {}
        self._unknown: set[Origin] = set()
        self._renamed: set[Merge] = set()
        self._wanted = list(wanted)
        self._examine_values()
        self.states: list[IntervalState] = []
        self._explore()

    def _examine_values(self) -> None:
        """Determines what the wanted values depend on."""
        self._live = self._find_live_merges(self._wanted)
        merges = {merge for live in self._live for merge in live if isinstance(merge, Merge)}
        self._uniform = {merge for merge in merges if self._is_uniform(merge)}
        self._arriving: dict[tuple[int, int], list[tuple[Origin, ValueNode | None]]] = {}
        wanted = [node for _, node in self._wanted]
        self._bitwise = self._values.numbers_used_by(_BITWISE, wanted)
        self._divisors = self._values.divisors(wanted)

    @property
    def roots(self) -> Iterator[IntervalState]:
        """The first state, and those that follow a barrier of all threads."""
        yield self.states[0]
        yield from dict.fromkeys(after for state in self.states if state.barrier for after in state.following)

    def reachable(self, root: IntervalState) -> list[IntervalState]:
        """Returns the states that may follow one without a barrier of all threads, and that one."""
        found, waiting = {id(root): root}, [root]
        while waiting:
            state = waiting.pop()
            for after in state.following if state.barrier is None else ():
                if id(after) not in found:
                    found[id(after)] = after
                    waiting.append(after)
        return list(found.values())

    # Which merges matter where.

    def _find_live_merges(self, wanted: Iterable[tuple[int, ValueNode]]) -> list[tuple[Origin, ...]]:
        """Returns, for each block, the merges whose values something that may follow depends on."""
        uses: dict[Origin, set[int]] = defaultdict(set)
        waiting: list[tuple[int, Origin]] = []

        def use(block: int, node: ValueNode) -> None:
            for merge in self._values.support_of([node]):
                if block not in uses[merge]:
                    uses[merge].add(block)
                    waiting.append((block, merge))

        for block, node in wanted:
            use(block, node)
        expanded: set[Origin] = set()
        while waiting:
            _, merge = waiting.pop()
            if merge not in expanded:
                expanded.add(merge)
                for before, source in self._values.graph.sources_of(merge) if isinstance(merge, Merge) else ():
                    if before is not None:
                        use(before, self._values.resolve(source))
        live: list[dict[Origin, None]] = [{} for _ in self._cfg.block_starts]
        for merge in sorted(uses, key=lambda each: (self._home(each), each.register)):
            for block in self._blocks_between(self._home(merge), uses[merge]):
                live[block][merge] = None
        return [tuple(each) for each in live]

    def _home(self, node: Origin) -> int:
        """Returns the block in which a value begins."""
        return node.block if isinstance(node, Merge) else self._cfg.block_of(node.step)

    def _blocks_between(self, start: int, uses: Iterable[int]) -> Iterator[int]:
        """Yields the blocks on the paths from a merge to its uses, both included."""
        seen, waiting = set[int](), list(uses)
        while waiting:
            block = waiting.pop()
            if block not in seen:
                seen.add(block)
                yield block
                if block != start:
                    waiting.extend(self._cfg.predecessors[block])

    def _is_uniform(self, merge: Merge) -> bool:
        """Returns whether nothing that differs between the threads decides which value a merge has, and how often.

        Inside a loop, a value depends on the number of the iteration, which is the same for all threads at a barrier.
        """
        cfg = self._cfg
        above = cfg.dominators.parents[merge.block]
        if above is None:
            return False
        loop = next((each for each in cfg.loops.loops if merge.block in each.entries), None)
        if loop is not None:
            inside = [block for block in cfg.predecessors[merge.block] if block in loop.nodes]
            outside = [block for block in cfg.predecessors[merge.block] if block not in loop.nodes]
            if len(loop.entries) > 1 or len(inside) > 1 or len(outside) > 1:
                return False
            leaving = {block for block, _ in cfg.loops.exit_edges(loop)}
            return all(self._decides_equally(block) for block in leaving)
        deciding = set(self._blocks_between_nodes(above, merge.block))
        return all(self._decides_equally(block) for block in deciding if len(cfg.successors[block]) > 1)

    def _blocks_between_nodes(self, above: int, below: int) -> Iterator[int]:
        seen, waiting = {above}, list(self._cfg.predecessors[below])
        yield above
        while waiting:
            block = waiting.pop()
            if block not in seen:
                seen.add(block)
                yield block
                waiting.extend(self._cfg.predecessors[block])

    def _decides_equally(self, block: int) -> bool:
        last = self._last_step[block]
        return last.instruction.guard is None or self._execution.in_cta(last)

    # Exploration.

    def _explore(self) -> None:
        work = self.scale_limit(MAX_CTA_STATE_VISITS)
        while (excess := self._try_to_explore()) is not None:
            work -= len(self.states)
            if work < 0:
                raise TooManyStatesError
            if self._values.relate(self._samples()):
                self._examine_values()
            else:
                self._approximate(*excess)

    def _samples(self) -> Mapping[int, Sequence[Mapping[Merge, Numbers]]]:
        """Returns known values of the registers at merges, for each block in all its states."""
        found: dict[int, list[dict[Merge, Numbers]]] = defaultdict(list)
        for state in self.states:
            if state.first == self._cfg.block_starts[state.block]:
                own = {
                    merge: value
                    for merge, value in state.values.items()
                    if isinstance(merge, Merge) and merge.block == state.block and isinstance(value, int | tuple)
                }
                if own:
                    found[state.block].append(own)
        return found

    def _try_to_explore(self) -> tuple[Mapping[Origin, Collection[int | None]], Collection[Origin]] | None:
        """Explores all states; returns the numbers of the values at merges, and those merges that have too many."""
        by_key: dict[_Key, IntervalState] = {}
        seen: dict[Origin, set[int | None]] = defaultdict(set)
        excessive: set[Origin] = set()
        self.states = []
        live = [[(merge, merge in self._unknown) for merge in each] for each in self._live]

        def arrive(block: int, first: int, values: Environment, threads: int) -> IntervalState:
            kept = {merge: None if is_unknown else values.get(merge) for merge, is_unknown in live[block]}
            numbers = self._values.numbers.of(kept.values())
            key = (block, first, *numbers)
            state = by_key.get(key)
            if state is None:
                state = by_key[key] = IntervalState(block, first, self._end_of(block, first), kept)
                self.states.append(state)
                for merge, number in zip(kept, numbers, strict=True):
                    held = seen[merge]
                    held.add(number)
                    if len(held) > MAX_MERGE_VALUES:
                        excessive.add(merge)
            if threads & ~state.threads:
                state.threads |= threads
                if state not in queued:
                    queued.add(state)
                    waiting.append(state)
            return state

        waiting: deque[IntervalState] = deque()
        queued: set[IntervalState] = set()
        arrive(0, self._cfg.block_starts[0], {}, self._all)
        while waiting:
            state = waiting.popleft()
            queued.discard(state)
            for block, first, values, threads, choice in self._leave(state):
                if threads:
                    after = arrive(block, first, values, threads)
                    is_same = after not in state.following or state.choices.get(after) == choice
                    state.choices[after] = choice if is_same else None
                    state.following[after] = state.following.get(after, 0) | threads
            if not excessive and len(self.states) > self.scale_limit(MAX_CTA_STATES):
                most = max((len(held) for held in seen.values()), default=1)
                excessive = {merge for merge, held in seen.items() if 1 < most == len(held)}
                if not excessive:
                    raise TooManyStatesError
            if excessive:
                return seen, excessive
        return None

    def _approximate(self, seen: Mapping[Origin, Collection[int | None]], excessive: Collection[Origin]) -> None:
        """Approximates merges with too many values.

        They may have so many only because others have, which are approximated first.
        """
        many, several = (
            {merge for merge, held in seen.items() if len(held) > MAX_MERGE_VALUES // part} for part in (4, 8)
        )
        for candidates in (excessive, many, several):
            fresh = self._uniform.intersection(candidates) - self._renamed
            if fresh:
                self._renamed |= fresh
                return
        self._unknown.update(excessive)

    def _end_of(self, block: int, first: int) -> int:
        found = self._ends.get((block, first))
        if found is None:
            end = self._last_step[block].index + 1
            found = next((index for index in range(first, end) if index in self._barriers), end)
            self._ends[block, first] = found
        return found

    def _leave(self, state: IntervalState) -> Iterator[Departure]:
        """Yields what may follow a state."""
        block, values = state.block, state.values
        if state.end in self._barriers and self._cfg.block_of(self._program.steps[state.end]) == block:
            state.barrier = self._program.steps[state.end]
            shared = self._values.numbers.shared
            kept = {merge: shared(self._after_barrier(merge, value)) for merge, value in values.items()}
            if state.end + 1 < len(self._program.steps) and self._is_in_block(state.end + 1, block):
                yield block, state.end + 1, kept, self._all, None
                return
            values = kept
        for after, threads in self._threads_by_successor(state, values):
            yield after, self._cfg.block_starts[after], self._values_at(block, after, values), threads, None

    def _is_in_block(self, index: int, block: int) -> bool:
        return self._cfg.block_of(self._program.steps[index]) == block

    def _threads_by_successor(self, state: IntervalState, values: Environment) -> Iterator[tuple[int, int]]:
        last = self._last_step[state.block]
        threads = self._all if state.barrier is not None else state.threads
        for each in self._cfg.successors[state.block]:
            side = self._cfg.guarded_side(state.block, each)
            if side is None:
                yield each, threads
            else:
                executing, others = self._values.members(last, values)
                yield each, threads & (executing if side else others)

    def _values_at(self, block: int, after: int, values: Environment) -> Environment:
        """Returns the values of the merges at the start of a block, coming from another one."""
        sources = self._arriving.get((block, after))
        if sources is None:
            sources = self._arriving[block, after] = [
                (merge, self._source(block, after, merge)) for merge in self._live[after]
            ]
        value = self._values.value
        return {merge: values.get(merge) if node is None else value(node, values) for merge, node in sources}

    def _source(self, block: int, after: int, merge: Origin) -> ValueNode | None:
        """Returns what a value is at the start of a block, coming from another one; None if it stays as it is."""
        if not isinstance(merge, Merge) or merge.block != after:
            return None
        return self._values.resolve(
            next(node for before, node in self._values.graph.sources_of(merge) if before == block)
        )

    def _modulus(self, origin: Origin) -> int:
        """Returns a number of which a counter of unknown size remains known as the remainder."""
        if origin not in self._bitwise:
            return 1
        divisors = self._divisors.get(origin)
        return 2 * lcm(*divisors) if divisors else MODULUS

    def _least(self, origin: Origin, modulus: int) -> int:
        """Returns the least value that is replaced by one of unknown size.

        A number that is divided is so large that it stays positive where a little is subtracted before.
        """
        return modulus if origin in self._divisors else 0

    def _after_barrier(self, merge: Origin, value: CtaValue) -> CtaValue:
        """Returns the value at a merge as all threads know it after a barrier of all of them."""
        if merge not in self._uniform:
            return None
        return self._approximate_value(merge, value)

    def _approximate_value(self, origin: Origin, value: CtaValue) -> CtaValue:
        """Returns a value; that of a counter with many values is replaced by one of unknown size."""
        if origin not in self._renamed or value is None:
            return value
        if isinstance(value, MixedTerm):
            return None
        modulus = self._modulus(origin)
        least = self._least(origin, modulus)
        if isinstance(value, int) and value < _LEAST_UNCOUNTED:
            return value if value < least else large_term(value % modulus, least, modulus, origin)
        if isinstance(value, UniformTerm) and isinstance(value.offset, int) and is_large(value):
            return large_term(value.offset % modulus, least, modulus, origin)
        offset = value.offset if isinstance(value, UniformTerm) else value
        known = not isinstance(value, UniformTerm) or value.multiple % MODULUS == 0
        return UniformTerm(atom("merge", origin), _relative(offset, keeps_remainder=known), MODULUS if known else 1)


def _relative(offset: Numbers, *, keeps_remainder: bool) -> Numbers:
    """Returns the numbers without the part that all threads have in common."""
    first = offset if isinstance(offset, int) else offset[0]
    common = first - first % MODULUS if keeps_remainder else first
    found = apply("sub", (64, offset, common))
    assert isinstance(found, int | tuple)
    return found
