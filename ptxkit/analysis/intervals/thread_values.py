"""Computes what a register holds in all threads of a CTA or cluster, given the values at merges of the control flow.

The evaluation is sparse: only the assignments on which a value depends are visited, and each of them once for the same
values at the merges.

Source: Braun et al., "Simple and Efficient Construction of Static Single Assignment Form".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.cta_operands import UNKNOWN_OPERATIONS
from ptxkit.analysis.abstract_interpretation.value_graph import Assignment, Merge, Unassigned, ValueGraph, ValueNode
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.intervals.cluster_threads import ClusterThreads
from ptxkit.analysis.intervals.linear_relations import LinearRelation, RelationFinder
from ptxkit.analysis.intervals.thread_operands import ThreadOperands
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.values.counter_fractions import divisor_of
from ptxkit.analysis.values.cta_values import CtaValue, apply, members_of
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.analysis.values.uniform_terms import Atom, Numbers, UniformTerm
from ptxkit.analysis.values.value_numbers import ValueNumbers
from ptxkit.analysis.values.value_reader import Reader
from ptxkit.isa.effects import ALL, Access, CtaGroup, MbarrierEffect, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.syntax.tree import Integer, Name, Operand, operand_names

Origin: TypeAlias = "Merge | Assignment"
"""A value that is given: at a merge of the control flow, or the result of a wait for an mbarrier."""
Environment: TypeAlias = "Mapping[Origin, CtaValue]"
"""The values at the merges where control was last, and the results of the last waits."""


#: The operations by which compilers divide: those that multiply by a reciprocal, and others.
_RECIPROCAL = frozenset(("mul_hi", "mul_wide"))
_DIVIDING = _RECIPROCAL | {"div", "rem"}


class ThreadValues:
    """The values of the registers of one kernel in a CTA of one size, or in all CTAs of a cluster.

    launch: the size of the CTA. ctas: 1, or the number of CTAs of the cluster. assumed: the values of guards that are
    unknown, but equal in all threads. unknown_guards: the steps with such a guard that were evaluated without an
    assumption. elected: the lane that `elect.sync` elects; None if it is unknown. given: the assignments whose values
    the environment has.
    """

    def __init__(
        self,
        program: Program,
        cfg: ControlFlowGraph,
        launch: LaunchConfig,
        elected: int | None = None,
        ctas: int = 1,
    ) -> None:
        self.graph = ValueGraph(program, cfg)
        self.cluster = ClusterThreads(launch, ctas)
        self.threads = self.cluster.count
        self._operands = ThreadOperands(program, launch, self.cluster, elected)
        self._resolved: dict[Merge, ValueNode] = {}
        self._reads: dict[Assignment, dict[str, ValueNode]] = {}
        self._given: frozenset[Assignment] = frozenset()
        self._support: dict[ValueNode, frozenset[Origin]] = {}
        self._order: dict[Assignment, tuple[Origin, ...]] = {}
        self._known: dict[tuple[Hashable, ...], CtaValue] = {}
        self.numbers = ValueNumbers()
        self._members: dict[tuple[int | None, bool], tuple[int, int]] = {}
        self._before: dict[tuple[Step, str], ValueNode] = {}
        self._related: dict[Merge, LinearRelation] = {}
        self.assumed: Mapping[Atom, int] = {}
        self.unknown_guards: dict[Atom, set[Step]] = defaultdict(set)

    def give(self, nodes: Iterable[Assignment]) -> None:
        """Takes the values of some assignments from the environment from now on. It is called before any evaluation."""
        self._given = frozenset(nodes)
        self._support.update((node, frozenset((node,))) for node in self._given)

    def relate(self, samples: Mapping[int, Sequence[Mapping[Merge, Numbers]]]) -> bool:
        """Looks for registers at merges that depend on others there; returns whether it has found some.

        samples: for each block, some values of registers at its start together.
        """

        def sources_of(merge: Merge) -> Mapping[int | None, ValueNode]:
            return {before: self.resolve(source) for before, source in self.graph.sources_of(merge)}

        found = RelationFinder(sources_of, self.value, self._width_of, samples.values()).find()
        if found:
            self._related.update(found)
            self._support = {node: frozenset((node,)) for node in self._given}
            self._order.clear()
            self._known.clear()
        return bool(found)

    def _width_of(self, merge: Merge) -> int:
        """Returns the width of a register in bits; that of the widest if it is not known."""
        for _, source in self.graph.sources_of(merge):
            named = source.step.scope.find(source.register) if isinstance(source, Assignment) else None
            if named is not None and named.kind in ("b32", "u32", "s32"):
                return 32
        return 64

    # What a value depends on.

    def node_before(self, step: Step, name: str) -> ValueNode:
        """Returns the value of a register that a step reads."""
        found = self._before.get((step, name))
        if found is None:
            found = self.resolve(self.graph.before(step, step.scope.register_name(name)))
            self._before[step, name] = found
        return found

    def register_after(self, step: Step, role: str | None) -> ValueNode | None:
        """Returns the value that a step assigns to the register of a role; None if that names no register."""
        operand = step.operand(role)
        return self.graph.after(step, step.scope.register_name(operand.text)) if isinstance(operand, Name) else None

    def register_before(self, step: Step, role: str | None) -> ValueNode | None:
        """Returns the value of the register of a role before a step, without moves; None if that names no register."""
        operand = step.operand(role)
        return self.node_before(step, operand.text) if isinstance(operand, Name) else None

    def resolve(self, node: ValueNode) -> ValueNode:
        """Returns the only other value that may reach a merge; the node itself if there are several."""
        if isinstance(node, Merge) and node not in self._resolved:
            self._resolve_web(node)
        while isinstance(node, Merge) and self._resolved[node] is not node:
            node = self._resolved[node]
            if isinstance(node, Merge) and node not in self._resolved:
                self._resolve_web(node)
        return node

    def _resolve_web(self, first: Merge) -> None:
        """Resolves the merges of one register that may reach one of them."""
        sources: dict[Merge, list[ValueNode]] = {}
        waiting = [first]
        while waiting:
            merge = waiting.pop()
            if merge not in sources:
                sources[merge] = [each for _, each in self.graph.sources_of(merge)]
                waiting.extend(each for each in sources[merge] if isinstance(each, Merge))
        sole: dict[ValueNode, ValueNode] = {merge: merge for merge in sources}

        def find(node: ValueNode) -> ValueNode:
            while sole.get(node, node) is not node:
                node = sole[node]
            return node

        is_changed = True
        while is_changed:
            is_changed = False
            for merge, own in sources.items():
                others = {find(each) for each in own} - {merge}
                if sole[merge] is merge and len(others) == 1:
                    (sole[merge],) = others
                    is_changed = True
        self._resolved.update((merge, find(merge)) for merge in sources)

    def support_of(self, nodes: Iterable[ValueNode]) -> frozenset[Origin]:
        """Returns the merges on which values depend, not through other merges."""
        return frozenset().union(*(self._support_of(node) for node in nodes))

    def _support_of(self, node: ValueNode) -> frozenset[Origin]:
        if isinstance(node, Merge):
            relation = self._related.get(node)
            counter = node if relation is None else relation.counter
            return frozenset(() if counter is None else (counter,))
        if isinstance(node, Unassigned):
            return frozenset()
        stack: list[ValueNode] = [node]
        while stack:
            top = stack[-1]
            if top in self._support or not isinstance(top, Assignment):
                stack.pop()
                continue
            own = self._reads_of(top).values()
            waiting = [each for each in own if isinstance(each, Assignment) and each not in self._support]
            if waiting:
                stack.extend(waiting)
                continue
            self._support[top] = frozenset().union(
                *(self._support_of(each) if isinstance(each, Merge) else self._support.get(each, ()) for each in own)
            )
            stack.pop()
        return self._support[node]

    def nodes_before(self, nodes: Iterable[ValueNode]) -> Iterator[Assignment]:
        """Yields the assignments on which values depend, on any path, each once."""
        seen, waiting = set[ValueNode](), list(nodes)
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            if isinstance(node, Merge):
                waiting.extend(self.resolve(source) for _, source in self.graph.sources_of(node))
            elif isinstance(node, Assignment) and node not in self._given:
                yield node
                waiting.extend(self._reads_of(node).values())

    def numbers_used_by(self, functions: frozenset[str], nodes: Iterable[ValueNode]) -> set[Origin]:
        """Returns the origins from which values are computed with some functions of the table, at any step.

        A comparison and operations on predicates do not count, since only the result of the comparison matters there.
        """
        using = (node for node in self.nodes_before(nodes) if not functions.isdisjoint(self._functions_of(node)))
        return self._origins_of(using)

    def divisors(self, nodes: Iterable[ValueNode]) -> dict[Origin, set[int]]:
        """Returns the constants other than powers of two by which a number that depends on each origin is divided."""
        found: dict[Origin, set[int]] = defaultdict(set)
        for node in self.nodes_before(nodes):
            functions = self._functions_of(node)
            if functions.isdisjoint(_DIVIDING):
                continue
            for each in node.step.instruction.operands:
                number = None if list(operand_names(each)) else self.operand(node.step, each, {})
                is_reciprocal = not functions.isdisjoint(_RECIPROCAL)
                divisor = divisor_of(number, is_reciprocal=is_reciprocal) if isinstance(number, int) else None
                for origin in self._origins_of([node]) if divisor is not None else ():
                    found[origin].add(divisor or 1)
        return found

    def _origins_of(self, using: Iterable[Assignment]) -> set[Origin]:
        """Returns the origins from which the operands of some assignments are computed."""
        found: set[Origin] = set()
        waiting = [origin for node in using for origin in self._numbers_in(node)]
        while waiting:
            origin = waiting.pop()
            if origin not in found:
                found.add(origin)
                for _, source in self.graph.sources_of(origin) if isinstance(origin, Merge) else ():
                    before = self.resolve(source)
                    waiting.extend(self._numbers_in(before) if isinstance(before, Assignment) else ())
                    waiting.extend((before,) if isinstance(before, Merge) else ())
        return found

    def compared_constants(self, nodes: Iterable[ValueNode]) -> dict[Origin, int]:
        """Returns the largest constant with which a number that depends on each origin is compared."""
        found: dict[Origin, int] = {}
        for node in self.nodes_before(nodes):
            if "compare" in self._functions_of(node):
                constants = [each.value for each in node.step.instruction.operands if isinstance(each, Integer)]
                for origin in self._numbers_in(node):
                    found[origin] = max(found.get(origin, 0), *constants, 0)
        return found

    def _functions_of(self, node: Assignment) -> frozenset[str]:
        values = (effect.value for effect in self._assignments_to(node))
        return frozenset(name for value in values for name in _functions_in(value))

    def _numbers_in(self, node: Assignment) -> Iterator[Origin]:
        """Yields the origins of a value that no comparison is between."""
        seen, waiting = set[ValueNode](), [node]
        while waiting:
            for each in self._reads_of(waiting.pop()).values():
                if isinstance(each, Merge):
                    yield from self._support_of(each)
                elif isinstance(each, Assignment) and each not in seen and each not in self._given:
                    seen.add(each)
                    if "compare" not in self._functions_of(each):
                        waiting.append(each)

    def nodes_in(self, step: Step, operands: Iterable[Operand | None]) -> Iterator[ValueNode]:
        """Yields the values of the registers in some operands of a step."""
        for operand in operands:
            for name in operand_names(operand):
                if self._is_register(step, name):
                    yield self.node_before(step, name)

    def guard_nodes(self, step: Step) -> Iterator[ValueNode]:
        """Yields the value of the guard of a step, if it has one."""
        guard = step.instruction.guard
        if guard is not None:
            yield self.node_before(step, guard.predicate)

    def _reads_of(self, node: Assignment) -> dict[str, ValueNode]:
        """Returns the values that an assignment depends on, by the name that the step uses.

        The value before a step with a guard has the empty name.
        """
        found = self._reads.get(node)
        if found is None:
            step = node.step
            found = {}
            for effect in self._assignments_to(node):
                for operand in self._operands_read(step, effect.value):
                    for name in operand_names(operand):
                        if self._is_register(step, name):
                            found[name] = self.node_before(step, name)
            guard = step.instruction.guard
            if guard is not None:
                found[guard.predicate] = self.node_before(step, guard.predicate)
                found[""] = self.resolve(self.graph.before(step, node.register))
            self._reads[node] = found
        return found

    def _operands_read(self, step: Step, expression: Expression) -> Iterator[Operand | None]:
        if isinstance(expression, OperandRole):
            yield step.operand(expression.name)
        elif isinstance(expression, CallExpr) and expression.function not in UNKNOWN_OPERATIONS:
            for each in expression.arguments:
                yield from self._operands_read(step, each)

    def _is_register(self, step: Step, name: str) -> bool:
        scope = step.scope
        if scope.register_name(name) == name and scope.variable(name) is not None:
            return False
        named = scope.find(name)
        return named is not None and named.is_register

    def _assignments_to(self, node: Assignment) -> list[Value]:
        step = node.step
        return [
            effect
            for effect in step.effects
            if isinstance(effect, Value)
            and any(
                step.scope.register_name(name) == node.register for name in operand_names(step.operand(effect.result))
            )
        ]

    # Values.

    def value(self, node: ValueNode, environment: Environment) -> CtaValue:
        """Returns a value in all threads."""
        if isinstance(node, Merge):
            relation = self._related.get(node)
            if relation is None:
                return environment.get(node)
            return relation.value(None if relation.counter is None else environment.get(relation.counter))
        if isinstance(node, Unassigned):
            return None
        sought = self._key(node, environment)
        if sought in self._known:
            return self._known[sought]
        stack: list[Assignment] = [node]
        while stack:
            top = stack[-1]
            key = self._key(top, environment)
            if key in self._known:
                stack.pop()
                continue
            reads = self._reads_of(top)
            waiting = [
                each
                for each in reads.values()
                if isinstance(each, Assignment) and self._key(each, environment) not in self._known
            ]
            if waiting:
                stack.extend(waiting)
                continue
            self._known[key] = self.numbers.shared(self._evaluate(top, environment))
            stack.pop()
        return self._known[sought]

    def _key(self, node: Assignment, environment: Environment) -> tuple[Hashable, ...]:
        order = self._order.get(node)
        if order is None:
            order = self._order[node] = tuple(self._support_of(node))
        return (node, *self.numbers.of([environment.get(merge) for merge in order])) if order else (node,)

    def operand(self, step: Step, operand: Operand | None, environment: Environment) -> CtaValue:
        """Returns an operand of a step in all threads; for an address operand, the address."""
        return self._operands.operand(step, operand, self._reader(environment))

    def expression(self, step: Step, expression: Expression | None, environment: Environment) -> CtaValue:
        """Returns an expression of the table in all threads; None where it is absent."""
        return None if expression is None else self._operands.expression(step, expression, self._reader(environment))

    def _reader(self, environment: Environment) -> Reader[CtaValue]:
        return lambda step, name: self.value(self.node_before(step, name), environment)

    def guard(self, step: Step, environment: Environment) -> CtaValue:
        """Returns whether threads execute a step, as 0 or 1."""
        guard = step.instruction.guard
        if guard is None:
            return 1
        held = self._predicate(step, guard.predicate, environment)
        return apply("not", (1, held)) if guard.negated else apply("and", (1, held, 1))

    def _predicate(self, step: Step, name: str, environment: Environment) -> CtaValue:
        """Returns the predicate of a guard, which may be assumed."""
        held = self.value(self.node_before(step, name), environment)
        if isinstance(held, UniformTerm) and held.offset == 0:
            if held.atom not in self.assumed:
                self.unknown_guards[held.atom].add(step)
            held = self.assumed.get(held.atom, held)
        return held

    def members(self, step: Step, environment: Environment) -> tuple[int, int]:
        """Returns the threads that may execute a step, and those that may not, as bit masks."""
        guard = step.instruction.guard
        if guard is None:
            return (1 << self.threads) - 1, 0
        held = self._predicate(step, guard.predicate, environment)
        key = self.numbers.of([held])[0], guard.negated
        found = self._members.get(key)
        if found is None:
            found = self._members[key] = members_of(self.guard(step, environment), count=self.threads)
        return found

    def targets(
        self, step: Step, effect: Access | MbarrierEffect, threads: int, environment: Environment
    ) -> dict[int | None, int]:
        """Returns the CTAs in which an effect of some threads has its location, with the threads for each.

        The only one is None where the address determines the CTA. All of the cluster count if the mask is unknown.
        """
        mask = getattr(effect, "multicast", None)
        cluster, pair = self.cluster, _is_paired(step, effect)
        if cluster.ctas == 1 or (step.operand(mask) is None and mask != ALL and not pair):
            return {None: threads}
        held = None if mask == ALL else self.operand(step, step.operand(mask), environment)
        found: dict[int | None, int] = defaultdict(int)
        for thread in range(cluster.count):
            if threads >> thread & 1:
                own = thread // cluster.of_cta
                chosen = held[thread] if isinstance(held, tuple) else held
                for rank in range(cluster.ctas):
                    is_named = rank // 2 == own // 2 if pair else not isinstance(chosen, int) or chosen >> rank & 1
                    if is_named:
                        found[rank] |= 1 << thread
        return found

    def _evaluate(self, node: Assignment, environment: Environment) -> CtaValue:
        if node in self._given:
            return environment.get(node)
        step, guard = node.step, node.step.instruction.guard
        found = self._operands.assigned_value(step, node.register, self._reader(environment))
        if guard is None:
            return found
        before = self.value(self.resolve(self.graph.before(step, node.register)), environment)
        pair = (before, found) if guard.negated else (found, before)
        return apply("select", (64, *pair, self.value(self.node_before(step, guard.predicate), environment)))


def _is_paired(step: Step, effect: Access | MbarrierEffect) -> bool:
    """Returns whether an access is one of the shared memory of both CTAs of a pair, at the same offset."""
    is_matrix = isinstance(effect, Access) and effect.via == "descriptor" and effect.completion == "tcgen05"
    return is_matrix and any(isinstance(each, CtaGroup) and each.ctas > 1 for each in step.effects)


def _functions_in(expression: Expression) -> Iterator[str]:
    if isinstance(expression, CallExpr):
        if expression.arguments[:1] != (ConstantExpr(1),):
            yield expression.function
        for each in expression.arguments:
            yield from _functions_in(each)
