"""Computes what a register holds in all threads of a CTA, given the values at the merges of the control flow.

The evaluation is sparse: only the assignments on which a value depends are visited, and each of them once for the same
values at the merges.

Source: PTX ISA, "Special Registers", "Operands", "Kernel Function Parameters", "shfl.sync".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

from ptxkit.analysis.abstract_interpretation.value_graph import Assignment, Merge, Unassigned, ValueGraph, ValueNode
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.dataflow.input_loads import input_loads
from ptxkit.analysis.intervals.cta_values import Atom, CtaValue, UniformTerm, apply, atom, is_uniform, per_thread
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.shared_window import FIRST_ADDRESS, SharedWindow
from ptxkit.analysis.ir.sign_extension import sign_extension
from ptxkit.analysis.symexec.lane_ops import source_lane
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.analysis.values.special_registers import SpecialRegisters
from ptxkit.analysis.values.symbolic_values import LaneValues
from ptxkit.isa import table
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS, bit_mask
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.tree import Address, Binary, Element, Integer, Name, Not, Operand, Unary, Vector, operand_names

Environment = Mapping[Merge, CtaValue]
"""The values at the merges where control was last."""

#: The special registers whose value may differ between the threads of a CTA, or from one read to the next.
_DIFFERENT = ("%clock", "%globaltimer", "%pm", "%warpid", "%smid", "%reserved")
#: The special registers that the position of a thread determines.
_POSITION = ("%tid", "%laneid", "%lanemask")
_WINDOW = SharedWindow()


class ThreadValues:
    """The values of the registers of one kernel in a CTA of one size.

    launch: the size of the CTA. assumed: the values of guards that are unknown, but equal in all threads.
    unknown_guards: the steps with such a guard that were evaluated without an assumption.
    """

    def __init__(self, program: Program, cfg: ControlFlowGraph, launch: LaunchConfig) -> None:
        self._program, self._cfg, self._launch = program, cfg, launch
        self.graph = ValueGraph(program, cfg)
        self.threads = launch.threads
        self._special = SpecialRegisters(launch, 0, tuple(range(launch.threads)))
        self._resolved: dict[Merge, ValueNode] = {}
        self._reads: dict[Assignment, dict[str, ValueNode]] = {}
        self._support: dict[ValueNode, frozenset[Merge]] = {}
        self._order: dict[Assignment, tuple[Merge, ...]] = {}
        self._known: dict[tuple[Hashable, ...], CtaValue] = {}
        self._inputs = program.analysis(input_loads)
        self.assumed: Mapping[Atom, int] = {}
        self.unknown_guards: dict[Atom, set[Step]] = defaultdict(set)

    # What a value depends on.

    def node_before(self, step: Step, name: str) -> ValueNode:
        """Returns the value of a register that a step reads."""
        return self.resolve(self.graph.before(step, step.scope.register_name(name)))

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

    def support_of(self, nodes: Iterable[ValueNode]) -> frozenset[Merge]:
        """Returns the merges on which values depend, not through other merges."""
        return frozenset().union(*(self._support_of(node) for node in nodes))

    def _support_of(self, node: ValueNode) -> frozenset[Merge]:
        if isinstance(node, Merge):
            return frozenset((node,))
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
                *(frozenset((each,)) if isinstance(each, Merge) else self._support.get(each, ()) for each in own)
            )
            stack.pop()
        return self._support[node]

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
        elif isinstance(expression, CallExpr) and expression.function not in _UNKNOWN:
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
            return environment.get(node)
        if isinstance(node, Unassigned):
            return None
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
            self._known[key] = self._evaluate(top, environment)
            stack.pop()
        return self._known[self._key(node, environment)]

    def _key(self, node: Assignment, environment: Environment) -> tuple[Hashable, ...]:
        order = self._order.get(node)
        if order is None:
            order = self._order[node] = tuple(self._support_of(node))
        return (node, *[environment.get(merge) for merge in order])

    def operand(self, step: Step, operand: Operand | None, environment: Environment) -> CtaValue:
        """Returns an operand of a step in all threads; for an address operand, the address."""

        def read(name: str) -> CtaValue:
            return self.value(self.node_before(step, name), environment)

        return self._operand(step, operand, read)

    def expression(self, step: Step, expression: Expression | None, environment: Environment) -> CtaValue:
        """Returns an expression of the table in all threads; None where it is absent."""

        def read(name: str) -> CtaValue:
            return self.value(self.node_before(step, name), environment)

        return None if expression is None else self._expression(step, expression, read)

    def guard(self, step: Step, environment: Environment) -> CtaValue:
        """Returns whether threads execute a step, as 0 or 1."""
        guard = step.instruction.guard
        if guard is None:
            return 1
        held = self.value(self.node_before(step, guard.predicate), environment)
        if isinstance(held, UniformTerm) and held.offset == 0:
            if held.atom not in self.assumed:
                self.unknown_guards[held.atom].add(step)
            held = self.assumed.get(held.atom, held)
        return apply("not", (1, held)) if guard.negated else apply("and", (1, held, 1))

    def _evaluate(self, node: Assignment, environment: Environment) -> CtaValue:
        reads = self._reads_of(node)

        def read(name: str) -> CtaValue:
            source = reads.get(name)
            return None if source is None else self._value_of_read(source, environment)

        effects = self._assignments_to(node)
        found = self._assigned_value(node, effects[0], read) if len(effects) == 1 else None
        guard = node.step.instruction.guard
        if guard is None:
            return found
        chosen = read(guard.predicate)
        pair = (read(""), found) if guard.negated else (found, read(""))
        return apply("select", (64, *pair, chosen))

    def _value_of_read(self, node: ValueNode, environment: Environment) -> CtaValue:
        if isinstance(node, Assignment):
            return self._known[self._key(node, environment)]
        return environment.get(node) if isinstance(node, Merge) else None

    def _assigned_value(self, node: Assignment, effect: Value, read: _Reader) -> CtaValue:
        step = node.step
        target = step.operand(effect.result)
        if isinstance(target, Vector):
            places = [
                at
                for at, each in enumerate(target.elements)
                if isinstance(each, Name) and step.scope.register_name(each.text) == node.register
            ]
            found = self._element(step, effect.value, places[0], read) if len(places) == 1 else None
        else:
            found = self._expression(step, effect.value, read)
        types = sign_extension(step, effect.result, node.register)
        return found if types is None else apply("convert", (*types, found))

    def _element(self, step: Step, expression: Expression, place: int, read: _Reader) -> CtaValue:
        match expression:
            case CallExpr(function="unpack", arguments=(ConstantExpr(value=int() as width), source)):
                moved = apply("shr", (64, False, self._expression(step, source, read), place * width))
                return apply("and", (64, moved, bit_mask(width)))
            case CallExpr(function="load"):
                return self._load(step, expression, place, read)
        return None

    def _operand(self, step: Step, operand: Operand | None, read: _Reader) -> CtaValue:
        match operand:
            case Integer(value=number):
                return number & bit_mask(64)
            case Name(text=text):
                return self._name(step, text, read)
            case Address(base=base, offset=offset):
                return self._displace(step, base, offset, read)
            case Element(base=base, index=index) | Binary(operator="+", left=base, right=index):
                return apply("add", (64, self._operand(step, base, read), self._operand(step, index, read)))
            case Binary(operator="*", left=left, right=right):
                return apply("mul", (64, self._operand(step, left, read), self._operand(step, right, read)))
            case Unary(operator="-", operand=inner):
                return apply("neg", (64, self._operand(step, inner, read)))
            case Not(operand=inner):
                return apply("not", (1, self._operand(step, inner, read)))
        return None

    def _displace(self, step: Step, base: Operand, offset: int, read: _Reader) -> CtaValue:
        found = self._operand(step, base, read)
        named = step.scope.find(base.text) if isinstance(base, Name) else None
        width = 32 if named is not None and named.kind in ("b32", "u32", "s32") else 64
        return found if not offset else apply("add", (width, found, offset & bit_mask(width)))

    def _name(self, step: Step, text: str, read: _Reader) -> CtaValue:
        scope = step.scope
        variable = scope.variable(text) if scope.register_name(text) == text else None
        if variable is not None:
            is_placed = variable.space in FIRST_ADDRESS
            return variable.address if is_placed else UniformTerm(atom("variable", variable.space, text))
        if table().special(text) is not None and not scope.shadows_special_register(text):
            return self._special_register(text)
        return read(text)

    def _special_register(self, name: str) -> CtaValue:
        if name.startswith(_DIFFERENT):
            return None
        if name.startswith(_POSITION) or (name.startswith("%ntid") and self._launch.is_exact) or name == "WARP_SZ":
            held = self._special.get(name)
            if isinstance(held, LaneValues):
                return per_thread([each if isinstance(each, int) else None for each in held.values])
            return held if isinstance(held, int) else None
        return UniformTerm(atom("special", name))

    def _expression(self, step: Step, expression: Expression, read: _Reader) -> CtaValue:
        match expression:
            case ConstantExpr(value=bool() | int() as number):
                return int(number) & bit_mask(64)
            case OperandRole(name=role):
                return self._operand(step, step.operand(role), read)
            case CallExpr(function=name) if name in _UNKNOWN:
                return None
            case CallExpr(function="load"):
                return self._load(step, expression, 0, read)
            case CallExpr(function="vote"):
                return self._vote(step, expression, read)
            case CallExpr(function="shuffle"):
                return self._shuffle(step, expression, read)
            case CallExpr(function="pack"):
                return self._pack(step, expression, read)
            case CallExpr(
                function="to_generic" | "from_generic" as name, arguments=(ConstantExpr(value=space), source)
            ):
                return _convert_address(name, str(space), self._expression(step, source, read))
            case CallExpr(function=name, arguments=arguments):
                values = [self._argument_of(step, each, read) for each in arguments]
                operation = INTEGER_OPERATIONS.get(name)
                fixed = [values[at] for at in operation.static] if operation is not None else []
                return None if any(isinstance(each, tuple | UniformTerm) for each in fixed) else apply(name, values)
        return None

    def _argument_of(self, step: Step, expression: Expression, read: _Reader) -> object:
        if isinstance(expression, ConstantExpr):
            return expression.value
        return self._expression(step, expression, read)

    def _load(self, step: Step, call: CallExpr, place: int, read: _Reader) -> CtaValue:
        """Returns an argument, or data of the host at an address that all threads have; None for anything else."""
        found = self._argument(step, call, place)
        if found is not None or step not in self._inputs:
            return found
        address = self._expression(step, call.arguments[1], read)
        return UniformTerm(atom("input", step.index, place, address)) if is_uniform(address) else None

    def _vote(self, step: Step, call: CallExpr, read: _Reader) -> CtaValue:
        """Returns the result of a vote of whole warps."""
        mode = call.arguments[0]
        held = self._expression(step, call.arguments[-1], read)
        combine = _VOTES.get(str(mode.value)) if isinstance(mode, ConstantExpr) else None
        if combine is None or not isinstance(held, int | tuple):
            return None
        own = [held & 1] * self.threads if isinstance(held, int) else [each & 1 for each in held]
        warps = [combine(own[first : first + WARP_SIZE]) for first in range(0, self.threads, WARP_SIZE)]
        return per_thread([int(warps[tid // WARP_SIZE]) for tid in range(self.threads)])

    def _argument(self, step: Step, call: CallExpr, place: int) -> CtaValue:
        """Returns an argument of the kernel that a step loads; None for any other bytes."""
        space, address, width = call.arguments
        operand = step.operand(address.name) if isinstance(address, OperandRole) else None
        is_param = isinstance(space, ConstantExpr) and str(space.value).startswith("param")
        if not is_param or not isinstance(operand, Address) or not isinstance(operand.base, Name):
            return None
        if step.scope.parameter(operand.base.text) is None or not isinstance(width, ConstantExpr):
            return None
        assert isinstance(width.value, int)
        return UniformTerm(atom("parameter", operand.base.text, operand.offset + place * width.value // 8, width.value))

    def _shuffle(self, step: Step, call: CallExpr, read: _Reader) -> CtaValue:
        """Returns what the lanes read from others, if the lane is a constant; all of them take part."""
        mode, source, selector, bounds = call.arguments[:4]
        kind = str(mode.value).lstrip(".") if isinstance(mode, ConstantExpr) else ""
        held = self._expression(step, source, read)
        chosen, limits = self._expression(step, selector, read), self._expression(step, bounds, read)
        if is_uniform(held):
            return held
        if not isinstance(held, tuple) or not isinstance(chosen, int):
            return None
        lanes = [source_lane(kind, tid, chosen, limits) for tid in range(self.threads)]
        return per_thread([held[at] if at is not None and at < self.threads else None for at in lanes])

    def _pack(self, step: Step, call: CallExpr, read: _Reader) -> CtaValue:
        size, source = call.arguments
        operand = step.operand(source.name) if isinstance(source, OperandRole) else None
        width = size.value if isinstance(size, ConstantExpr) and isinstance(size.value, int) else 0
        if not isinstance(operand, Vector) or not width:
            return None
        found: CtaValue = 0
        for place, element in enumerate(operand.elements):
            own = apply("and", (64, self._operand(step, element, read), bit_mask(width)))
            found = apply("or", (64, found, apply("shl", (64, own, place * width))))
        return found


#: The result of a vote from the predicates of a warp.
_VOTES: dict[str, Callable[[Sequence[int]], bool]] = {
    "any": any,
    "all": all,
    "uni": lambda own: len(set(own)) == 1,
}
_Reader = Callable[[str], CtaValue]
#: The operations whose result is unknown, or differs between threads in a way that nothing determines.
_UNKNOWN = frozenset(
    ("unknown", "float", "elected", "ballot", "redux", "is_canceled", "map_rank", "rank_of", "is_space")
)


def _convert_address(name: str, space: str, value: CtaValue) -> CtaValue:
    convert = _WINDOW.to_generic if name == "to_generic" else _WINDOW.from_generic
    if isinstance(value, int):
        return convert(space, value)
    if isinstance(value, UniformTerm):
        return UniformTerm(atom(name, space, value)) if is_uniform(value) else None
    return None if value is None else per_thread([convert(space, each) for each in value])
