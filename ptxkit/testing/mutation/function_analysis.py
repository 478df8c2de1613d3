"""The analysis of a kernel file that the operators use: steps with their effects, data flow and control flow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TypeVar

from ptxkit.analysis.cfg.control_flow_graph import step_successors
from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.ir.program import Program, Step, flatten
from ptxkit.analysis.ir.step_registers import read_operands
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.isa.effects import Access, Barrier, Control, MbarrierEffect, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.source import Span
from ptxkit.syntax import parse, statement_spans
from ptxkit.syntax.tree import (
    Body,
    Declaration,
    Integer,
    Module,
    Operand,
    operand_names,
)
from ptxkit.testing.limits import MAX_ORIGIN_STEPS

T = TypeVar("T")

_THREAD_REGISTERS = ("%tid", "%laneid", "%warpid")


class FunctionAnalysis:
    """One function with a body. Indices are those of its steps."""

    def __init__(self, module: Module, program: Program) -> None:
        assert module.source is not None
        self.source = module.source
        self.module = module
        self.program = program
        self.steps = program.steps

    # ------------------------------------------------------------------------------------ effects

    def effects(self, step: Step, kind: type[T]) -> list[T]:
        """Returns the effects of a kind that an instruction has."""
        return [each for each in step.match.effects if isinstance(each, kind)] if step.match else []

    def steps_with(self, kind: type[T]) -> Iterator[tuple[Step, T]]:
        """Yields every instruction with an effect of a kind, and the first such effect."""
        for step in self.steps:
            found = self.effects(step, kind)
            if found:
                yield step, found[0]

    def barriers(self, step: Step) -> list[Barrier]:
        """Returns the barrier effects of a barrier instruction, not those of collective instructions."""
        return [each for each in self.effects(step, Barrier) if (each.level, each.order) != ("warp", "relaxed")]

    def has_access(self, step: Step, test: Callable[[Access], bool]) -> bool:
        """Returns whether an instruction makes an access for which `test` holds."""
        return any(test(each) for each in self.effects(step, Access))

    def mbarrier_roles(self, step: Step) -> list[str]:
        """Returns the roles that hold the address of an mbarrier."""
        effects = step.effects
        return list(dict.fromkeys(each.barrier for each in effects if isinstance(each, MbarrierEffect)))

    def has_no_effects(self, step: Step) -> bool:
        """Returns whether an instruction only computes or branches, or has no effect."""
        effects = step.effects
        return all(isinstance(each, Value) or _is_branch(each) for each in effects)

    def has_only_effects(self, step: Step, kinds: tuple[type, ...]) -> bool:
        """Returns whether an instruction only computes, changes control or has effects of these kinds."""
        effects = step.effects
        return step.match is not None and all(isinstance(each, (Value, Control, *kinds)) for each in effects)

    def is_cta_wide_barrier(self, step: Step) -> bool:
        """Returns whether an instruction is a barrier of all threads of the CTA, according to its text."""
        return step.instruction.guard is None and any(
            (each.level, each.action) == ("cta", "sync") and each.threads is None and _is_barrier_zero(each, step)
            for each in self.barriers(step)
        )

    @cached_property
    def uses_cluster(self) -> bool:
        """Whether CTAs of a cluster communicate: cluster barriers, mapped addresses, multicast."""
        for step in self.steps:
            for effect in step.effects:
                if isinstance(effect, Barrier) and effect.level == "cluster":
                    return True
                if isinstance(effect, Value) and calls_operation(effect.value, ("map_rank",)):
                    return True
                if getattr(effect, "multicast", None) is not None:
                    return True
        return False

    # ------------------------------------------------------------------------------------ locations

    def span(self, step: Step) -> Span:
        """Returns the location of an instruction, from its guard to its semicolon."""
        return statement_spans(self.source, step.start).statement

    def line(self, step: Step) -> int:
        return self.source.position(step.start)[0]

    def text(self, step: Step) -> str:
        """Returns the text of an instruction with single blanks."""
        span = self.span(step)
        return " ".join(self.source.text[span.start : span.end].split())

    @cached_property
    def _forward_branches(self) -> list[tuple[int, int, str]]:
        """The offsets of each conditional forward branch and of its target, and its text."""
        found = []
        for step in self.steps:
            targets = step.targets
            if step.instruction.guard is not None and len(targets) == 1 and step.index < targets[0] < len(self.steps):
                found.append((step.start, self.steps[targets[0]].start, self.text(step)))
        return found

    def skipping_branches(self, start: int) -> tuple[str, ...]:
        """Returns the conditional branches that skip the code at an offset when they are taken."""
        return tuple(text for branch, target, text in self._forward_branches if branch < start < target)

    # ------------------------------------------------------------------------------------ values

    @cached_property
    def _widths(self) -> dict[str, int]:
        body = self.program.function.body
        return dict(_widths(body)) if body is not None else {}

    def width(self, name: str) -> int:
        """Returns the number of bits of a register, or 64 for other names, such as a variable's address."""
        return self._widths.get(name, self._widths.get(name.rstrip("0123456789") + "<>", 64))

    @cached_property
    def _definitions(self) -> dict[str, list[Step]]:
        found: dict[str, list[Step]] = {}
        for step in self.steps:
            for name in written_registers(step):
                found.setdefault(step.scope.register_name(name), []).append(step)
        return found

    def writers(self, step: Step, name: str) -> list[Step]:
        """Returns the instructions that define the register's value at a step."""
        return self._definitions.get(step.scope.register_name(name), [])

    def is_always_constant(self, step: Step, name: str) -> bool:
        """Returns whether a register's value at a step has one definition, which moves a constant."""
        found = self.program.analysis(ReachingDefinitions).definitions_reaching(step, step.scope.register_name(name))
        last = next(iter(found), None)
        if last is None or len(found) > 1 or last.instruction.guard is not None:
            return False
        return len(last.instruction.operands) == 2 and isinstance(last.instruction.operands[1], Integer)

    def origins(self, step: Step, names: Iterable[str]) -> Iterator[Step]:
        """Yields the instructions from whose results registers that a step reads are computed, nearest first."""
        seen: set[int] = set()
        todo = [(step, name) for name in names]
        while todo and len(seen) < MAX_ORIGIN_STEPS:
            reader, name = todo.pop(0)
            for writer in self.writers(reader, name):
                if writer.index not in seen:
                    seen.add(writer.index)
                    yield writer
                    if self.has_no_effects(writer):
                        todo += [(writer, read) for read in read_registers(writer)]

    def depends_on_thread(self, step: Step, name: str) -> bool:
        """Returns whether a register's value depends on the thread's number, or on an election."""
        for writer in self.origins(step, [name]):
            if any(read.startswith(_THREAD_REGISTERS) for read in read_registers(writer)):
                return True
            if any(calls_operation(each.value, ("elected",)) for each in self.effects(writer, Value)):
                return True
        return False

    def is_computed_by(self, step: Step, operand: Operand | None, operations: tuple[str, ...]) -> bool:
        """Returns whether one of these value operations contributes to an operand's value."""
        return any(
            calls_operation(each.value, operations)
            for writer in self.origins(step, operand_names(operand))
            for each in self.effects(writer, Value)
        )

    # ------------------------------------------------------------------------------------ control

    def successors(self, index: int) -> list[int]:
        """Returns the steps that may come next."""
        return step_successors(self.program, self.steps[index])

    @cached_property
    def leaders(self) -> frozenset[int]:
        """The first steps of basic blocks."""
        found = {0}
        for step in self.steps:
            found.update(step.targets)
            if self.effects(step, Control):
                found.add(step.index + 1)
        return frozenset(found)

    def preceding_steps(self, step: Step) -> Iterator[Step]:
        """Yields the earlier steps of the same basic block, nearest first."""
        index = step.index
        while index not in self.leaders and index > 0:
            index -= 1
            yield self.steps[index]

    def following_steps(self, step: Step) -> Iterator[Step]:
        """Yields the later steps of the same basic block."""
        for index in range(step.index + 1, len(self.steps)):
            if index in self.leaders:
                return
            yield self.steps[index]

    def may_be_preceded_by(
        self, step: Step, test: Callable[[Step], bool], ends: Callable[[Step], bool] = lambda _: False
    ) -> bool:
        """Returns whether a path to a step contains an instruction for which `test` holds, without one for which `ends`
        holds between.
        """
        return self._search_paths(step, self._predecessors, test, ends)

    def may_be_followed_by(
        self, step: Step, test: Callable[[Step], bool], ends: Callable[[Step], bool] = lambda _: False
    ) -> bool:
        """Returns whether a path from a step contains an instruction for which `test` holds, without one for which
        `ends` holds between.
        """
        return self._search_paths(step, self.successors, test, ends)

    def _search_paths(
        self,
        step: Step,
        following: Callable[[int], list[int]],
        test: Callable[[Step], bool],
        ends: Callable[[Step], bool],
    ) -> bool:
        indices = Worklist(following(step.index))
        for index in indices:
            if test(self.steps[index]):
                return True
            if not ends(self.steps[index]):
                indices.add(following(index))
        return False

    def _predecessors(self, index: int) -> list[int]:
        return self._predecessor_map.get(index, [])

    @cached_property
    def _predecessor_map(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for step in self.steps:
            for index in self.successors(step.index):
                found.setdefault(index, []).append(step.index)
        return found

    def is_executed_by_all(self, step: Step) -> bool:
        """Returns whether every thread that reaches the function's end has executed this instruction."""
        if step.instruction.guard is not None:
            return False
        indices = Worklist([0], {step.index})
        for index in indices:
            following = self.successors(index)
            traps = any(effect.kind == "trap" for effect in self.effects(self.steps[index], Control))
            leaves = any(effect.kind in ("exit", "return") for effect in self.effects(self.steps[index], Control))
            if (not following and not traps) or leaves:
                return False
            indices.add(following)
        return True


def analyze_functions(text: str, path: str) -> list[FunctionAnalysis]:
    """Returns the functions of a module that have a body."""
    module = parse(text, path)
    return [
        FunctionAnalysis(module, flatten(module, function))
        for function in module.functions()
        if function.body is not None and function.body.statements
    ]


def written_registers(step: Step) -> list[str]:
    """Returns the names of the registers that an instruction writes."""
    roles = step.match.results if step.match is not None else ()
    return [name for role in roles for name in operand_names(step.operand(role))]


def read_registers(step: Step) -> list[str]:
    """Returns the registers and special registers that an instruction reads, including those of its guard."""
    guard = [step.instruction.guard.predicate] if step.instruction.guard else []
    return [*(name for operand in read_operands(step) for name in operand_names(operand)), *guard]


def calls_operation(expression: Expression, functions: tuple[str, ...]) -> bool:
    """Returns whether a value is computed by one of these operations."""
    if not isinstance(expression, CallExpr):
        return False
    return expression.function in functions or any(calls_operation(each, functions) for each in expression.arguments)


def _widths(body: Body) -> Iterator[tuple[str, int]]:
    for statement, _ in body.flatten_blocks():
        if isinstance(statement, Declaration) and statement.space == "reg":
            bits = "".join(letter for letter in statement.type if letter.isdigit())
            for each in statement.declarators:
                yield each.name + ("<>" if each.count is not None else ""), int(bits or 1)


def _is_barrier_zero(barrier: Barrier, step: Step) -> bool:
    """Returns whether a barrier is barrier 0. Roles of warps use others, each with separate code."""
    if isinstance(barrier.number, OperandRole):
        number = step.operand(barrier.number.name)
        return isinstance(number, Integer) and number.value == 0
    return barrier.number is None or (isinstance(barrier.number, ConstantExpr) and barrier.number.value == 0)


def _is_branch(effect: object) -> bool:
    return isinstance(effect, Control) and effect.kind in ("branch", "branch_indexed")
