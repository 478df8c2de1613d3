"""The unknown numbers of iterations of loops, which are the same in all groups of threads that count in the same way.

Other predicates in a loop compare the same counter with a limit, so that a copy is started only for an iteration that
exists.

A loop is left at one branch, whose predicate depends on one register that the loop advances from a value, by a rule and
to a limit that arguments determine. Two loops that agree in all of this have the same number of iterations, whichever
threads execute them. A loop that counts by a constant is described by its distance, so that it does not matter whether
it counts up or down, or is tested before or after the counter is advanced.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator

from ptxkit.analysis.abstract_interpretation.value_graph import Merge
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph, is_control_transfer
from ptxkit.analysis.intervals.thread_values import ThreadValues
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_LOOP_SHIFT
from ptxkit.analysis.phase_order.comparisons import bounds
from ptxkit.analysis.values.cta_values import Atom, CtaValue, MixedTerm, UniformTerm, apply, atom, is_uniform
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.semantics.value_ops import NEGATED_COMPARISONS, SWAPPED_COMPARISONS, interpret

#: The value of the register that a loop advances, while its expressions are described.
_PROBE = UniformTerm(atom("counter"))
#: The comparisons that hold while a distance is not used up, with what is added to it.
_STRICT = {"lt": 0, "lo": 0, "le": 1, "ls": 1}


@dataclass(frozen=True, slots=True)
class LoopExit:
    """The branch at which a loop is left, or a predicate that tests whether a later iteration exists.

    count: identifies the number of iterations. shift: what is added to the iteration before which the branch is
    executed, so that the branches of all loops with the same count agree. stays: the value of the predicate with
    which the loop continues. advances: whether the next iteration follows. others: the numbers with which other
    predicates in the loop compare its counter. distance, size: how far the loop counts by a constant, and by how much.
    """

    count: Hashable
    shift: int
    stays: int
    advances: bool = True
    others: tuple[Hashable, ...] = ()
    distance: UniformTerm | None = None
    size: int = 1

    def start(self, groups: int) -> IterationCount:
        return IterationCount((), ((0, 0),) * groups)

    def under(self, assumed: frozenset[tuple[tuple[Atom, int], int]]) -> LoopExit:
        """Returns the same exit where an assumption makes a maximum in the number of iterations superfluous."""
        if self.distance is None or self.distance.atom.key[0] != "max":
            return self
        distance = self.distance
        held = [each for each in distance.atom.key[3:] if isinstance(each, UniformTerm)]
        least = next((each for each in distance.atom.key[3:] if isinstance(each, int)), None)
        if len(held) != 1 or least is None or (bounds(held[0], assumed)[0] or 0) < least:
            return self
        inner = apply("add", (32, held[0], distance.offset))
        assert isinstance(inner, UniformTerm)
        found = _exit_at(self.size, inner, 32, self.stays)
        return (
            self
            if found is None
            else replace(self, count=found.count, shift=found.shift + self.shift, distance=found.distance)
        )

    def limits(self, assumed: frozenset[tuple[tuple[Atom, int], int]]) -> tuple[int, int | None]:
        """Returns the least and the largest number of iterations."""
        least, most = bounds(self.distance, assumed) if self.distance is not None else (None, None)
        size = self.size
        return -MAX_LOOP_SHIFT if least is None else -(-least // size), None if most is None else -(-most // size)


def loop_exits(
    program: Program, cfg: ControlFlowGraph, values: ThreadValues, guarded: Iterable[Step]
) -> dict[int, LoopExit]:
    """Returns the exits of loops whose number of iterations is unknown, by the index of their step, and the
    tests for later iterations.

    guarded: the steps whose guards may be such tests.
    """
    found: dict[int, LoopExit] = {}
    for loop in cfg.loops.loops:
        leaving = {block for block, _ in cfg.loops.exit_edges(loop)}
        if len(leaving) != 1 or len(loop.entries) != 1:
            continue
        (block,) = leaving
        (entry,) = loop.entries
        last = cfg.steps_of_block(block)[-1]
        latches = [each for each in cfg.predecessors[entry] if each in loop.nodes]
        is_once = cfg.loops.innermost_loop(block) is loop and all(
            cfg.dominators.dominates(block, latch) for latch in latches
        )
        if is_once and last.instruction.guard is not None and is_control_transfer(last):
            targets = {cfg.block_of(program.steps[at]) for at in last.targets if at < len(program.steps)}
            stays = int(any(each in loop.nodes for each in targets) != last.instruction.guard.negated)
            described = _describe(values, last, entry, loop.nodes, (stays,))
            if described is not None:
                testing = [step for step in guarded if cfg.loops.innermost_loop(cfg.block_of(step)) is loop]
                tests = dict(_tests(cfg, values, last, testing, entry, loop.nodes))
                others = {each.count: None for each in tests.values() if each.count != described.count}
                found.update(tests)
                found[last.index] = replace(described, others=tuple(others))
    return found


def _tests(
    cfg: ControlFlowGraph,
    values: ThreadValues,
    last: Step,
    testing: Iterable[Step],
    entry: int,
    inside: Collection[int],
) -> Iterator[tuple[int, LoopExit]]:
    """Yields the steps in a loop whose guard tests for a later iteration."""
    for step in testing:
        if step is last:
            continue
        found = _describe(values, step, entry, inside, (1, 0))
        if found is not None:
            passed = int(cfg.dominates(last, step))
            yield step.index, replace(found, shift=found.shift - passed, advances=False)


def _describe(
    values: ThreadValues, last: Step, entry: int, inside: Collection[int], sides: Collection[int]
) -> LoopExit | None:
    """Returns the exit that the guard of a step is. sides: the values of the predicate that may continue the loop."""
    (node,) = values.guard_nodes(last)
    support = list(values.support_of([node]))
    if len(support) != 1 or not isinstance(support[0], Merge) or support[0].block != entry:
        return None
    merge = support[0]
    sources = values.graph.sources_of(merge)
    starts = [source for block, source in sources if block not in inside]
    steps = [source for block, source in sources if block in inside]
    if len(starts) != 1 or len(steps) != 1:
        return None
    start, advance = values.resolve(starts[0]), values.resolve(steps[0])
    if values.support_of([start]) or values.support_of([advance]) - {merge}:
        return None
    first = values.value(start, {})
    following = values.value(advance, {merge: _PROBE})
    test = values.value(node, {merge: _PROBE})
    test = test.term if isinstance(test, MixedTerm) else test
    if not is_uniform(first) or not is_uniform(following) or not isinstance(test, UniformTerm) or test.offset != 0:
        return None
    found = (_by_distance(first, following, test, stays) for stays in sides)
    by_distance = next((each for each in found if each is not None), None)
    return by_distance or LoopExit((first, following, test), 0, next(iter(sides)))


def _by_distance(first: CtaValue, following: CtaValue, test: UniformTerm, stays: int) -> LoopExit | None:
    """Returns the exit of a loop that counts by a constant to a limit."""
    key = test.atom.key
    if key[0] != "compare" or len(key) != 5 or not isinstance(following, UniformTerm):
        return None
    if following.atom is not _PROBE.atom or not isinstance(following.offset, int):
        return None
    operator, kind, left, right = str(key[1]), str(key[2]), key[3], key[4]
    width = int(kind[1:])
    step = interpret(following.offset, width, True)
    if not stays:
        operator = NEGATED_COMPARISONS.get(operator, "")
    limit, counter = right, left
    if isinstance(right, UniformTerm) and right.atom is _PROBE.atom:
        limit, counter = left, right
        operator = SWAPPED_COMPARISONS.get(operator, operator)
    if not isinstance(counter, UniformTerm) or counter.atom is not _PROBE.atom or not step:
        return None
    begin = apply("add", (width, first, counter.offset))
    if step < 0:
        distance = apply("sub", (width, begin, limit))
        operator = SWAPPED_COMPARISONS.get(operator, operator)
    else:
        distance = apply("sub", (width, limit, begin))
    size = abs(step)
    if operator in _STRICT:
        distance = apply("add", (width, distance, _STRICT[operator]))
    elif operator != "ne" or size != 1:
        return None
    if not isinstance(distance, UniformTerm):
        return None
    return _exit_at(size, distance, width, stays)


def _exit_at(size: int, distance: UniformTerm, width: int, stays: int) -> LoopExit | None:
    """Returns the exit of a loop that is left when a distance is used up, `size` in each iteration."""
    if not isinstance(distance.offset, int):
        return None
    offset = interpret(distance.offset, width, True)
    shift = -(offset // size)
    if abs(shift) >= MAX_LOOP_SHIFT:
        return None
    rest = replace(distance, offset=offset % size)
    return LoopExit((size, rest), shift, stays, distance=rest, size=size)


@dataclass(frozen=True, slots=True)
class IterationCount:
    """What is known of one number of iterations, in the runs of a loop one after the other.

    runs: for each run, the least and the largest number that it may be, None if there is no limit. at: the run of each
    group, and the iteration in it.
    """

    runs: tuple[tuple[int, int | None], ...]
    at: tuple[tuple[int, int], ...]

    def decide(
        self, group: int, leaving: LoopExit, limits: tuple[int, int | None], *, stays: bool
    ) -> IterationCount | None:
        """Returns what is known after a group has decided whether to stay in the loop; None if it can't decide so."""
        run, iteration = self.at[group]
        index = iteration + leaving.shift
        runs = list(self.runs)
        if run == len(runs):
            runs.append(limits)
        least, most = runs[run]
        after = self.at[group]
        if stays:
            if most is not None and index >= most:
                return None
            runs[run] = (max(least, index + 1), most)
            after = (run, iteration + 1) if leaving.advances else after
        else:
            if index < least or (leaving.advances and most is not None and index > most):
                return None
            if leaving.advances:
                runs[run], after = (index, index), (run + 1, 0)
            else:
                runs[run] = (least, index if most is None else min(index, most))
        return IterationCount(tuple(runs), (*self.at[:group], after, *self.at[group + 1 :]))

    def follow(self, group: int, *, stays: bool) -> IterationCount:
        """Returns the same after a group has begun the next iteration of the loop, or left it."""
        run, iteration = self.at[group]
        after = (run, iteration + 1) if stays else (run + 1, 0)
        runs = self.runs if run < len(self.runs) else (*self.runs, (-MAX_LOOP_SHIFT, None))
        return IterationCount(runs, (*self.at[:group], after, *self.at[group + 1 :]))

    def normalize(self, relevant: Collection[int]) -> IterationCount:
        """Returns the same with numbers that repeat: only the differences of the groups that may decide again count."""
        first = min((self.at[group][0] for group in relevant), default=len(self.runs))
        base = min((self.at[group][1] for group in relevant if self.at[group][0] == first), default=0)

        def relative(number: int, run: int) -> int:
            return max(number - base * (not run), -MAX_LOOP_SHIFT)  # below this limit, all decisions are the same

        runs = [
            (relative(least, run), None if most is None else relative(most, run))
            for run, (least, most) in enumerate(self.runs[first:])
        ]
        at = tuple(
            (run - first, iteration - (base if run == first else 0)) if group in relevant else (0, 0)
            for group, (run, iteration) in enumerate(self.at)
        )
        return IterationCount(tuple(runs), at)
