"""Finds places for an inserted statement near one that a finding names, at which more threads execute it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import count

from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.ir.program import Program, Step, flatten
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.diagnostics import Edit
from ptxkit.isa.effects import Control
from ptxkit.source import SourceFile, Span
from ptxkit.syntax import PTXSyntaxError, parse, statement_spans
from ptxkit.syntax.tree import Block, Body, Declaration, Function, Name

_CACHE_SIZE = 2
_NAME_TOKEN, _REG_DECLARATION = re.compile(r"[%\w$]+"), re.compile(r"\.reg \.\w+ ([%\w$]+);")


class FunctionContext:
    """One function that contains a finding. Offsets are those of its source."""

    def __init__(self, program: Program, source: SourceFile) -> None:
        self.program = program
        self.source = source
        self._by_start = {step.start: step for step in program.steps}

    def step_at(self, start: int) -> Step | None:
        """Returns the instruction that begins at an offset."""
        return self._by_start.get(start)

    def points_before(self, step: Step) -> Iterator[int]:
        """Yields the offsets before a step, nearest first: of the step, its labels, and each branch around it."""
        yield step.start
        if step.index in self.program.code.label_names and step.index:
            yield self.end_of(self.program.steps[step.index - 1])
        yield from (
            branch.start
            for branch, target in reversed(self._forward_branches)
            if branch.index < step.index < target.index
        )

    def points_after(self, step: Step) -> Iterator[int]:
        """Yields the offsets after a step, nearest first: of the step, and of the target of each branch around it."""
        yield self.end_of(step)
        yield from sorted(
            {target.start for branch, target in self._forward_branches if branch.index < step.index < target.index}
        )

    def unused_name(self, word: str) -> str:
        """Returns a register name that does not occur in the text."""
        names = (f"%{word}{number or ''}" for number in count())
        return next(name for name in names if name not in self.source.text)

    @property
    def entry_point(self) -> int:
        """The offset before the first instruction."""
        return self.program.steps[0].start

    @property
    def declaration_point(self) -> int | None:
        """The offset at which a declared register is visible in the whole function.

        It is None if the first statement is in a nested block.
        """
        return self.entry_point if self.program.steps[0].scope is self.program.scope else None

    @property
    def exit_points(self) -> list[int]:
        """The offsets before each instruction that exits every thread that reaches it."""
        kinds = ("return", "exit")
        return [
            step.start
            for step in self.program.steps
            for effect in step.effects
            if isinstance(effect, Control) and effect.kind in kinds and step.instruction.guard is None
        ]

    def variable_of(self, name: str) -> str | None:
        """Returns the variable whose address a name denotes: itself, or the only one that is moved into a register."""
        names = {each.name for each in self.program.variables}
        if name in names:
            return name
        writers = [each for each in self.program.steps if _is_destination(name, each)]
        operands = writers[0].instruction.operands if len(writers) == 1 else ()
        source = operands[1] if len(operands) == 2 else None
        return source.text if isinstance(source, Name) and source.text in names else None

    def reaching_writers(self, step: Step, name: str) -> list[Step]:
        """Returns the instructions that may have assigned a register's value at a step, in the order of the text."""
        found = self._definitions.definitions_reaching(step, step.scope.register_name(name))
        return sorted(found, key=lambda each: each.index)

    def is_always_assigned(self, step: Step, name: str) -> bool:
        """Returns whether a register has a value at a step on every path to it."""
        return self._definitions.is_always_assigned(step, step.scope.register_name(name))

    def keeps_registers(self, step: Step, text: str, place: int) -> bool:
        """Returns whether the registers of a step that a text names have the same values at a place as at the step."""
        following = next((each for each in self.program.steps if each.start >= place), None)
        guard = step.instruction.guard
        operands = (*step.instruction.operands, *(() if guard is None else (Name(guard.predicate),)))
        own = {register for operand in operands for register in registers_in(operand, step.scope)}
        words = set(_NAME_TOKEN.findall(text)).difference(_REG_DECLARATION.findall(text))
        named = {word: register for word in words if (register := step.scope.register_name(word)) in own}
        return following is not None and all(
            following.scope.register_name(word) == register
            and self._definitions.definitions_reaching(step, register, surely=True)
            == self._definitions.definitions_reaching(following, register, surely=True)
            for word, register in named.items()
        )

    def width(self, step: Step, name: str) -> int | None:
        """Returns the width in bits of the register that a name denotes at a step.

        The result is None for a predicate or another name.
        """
        stem = name.rstrip("0123456789")
        found = None
        for body in self._bodies(step):
            for declaration in body.statements:
                if isinstance(declaration, Declaration) and declaration.space == "reg":
                    wanted = (each for each in declaration.declarators if each.name in (name, stem))
                    if any(each.name == name or each.count is not None for each in wanted):
                        found = int("".join(filter(str.isdigit, declaration.type)) or 0) or None
        return found

    def _bodies(self, step: Step) -> Iterator[Body]:
        """Yields the bodies that contain a step, outermost first."""
        body: Body | None = self.program.function.body
        while body is not None:
            yield body
            inner = None
            for statement, start in body.with_offsets():
                if isinstance(statement, Block) and start <= step.start:
                    inner = statement.body
                elif start <= step.start:
                    inner = None
            body = inner

    @property
    def _definitions(self) -> ReachingDefinitions:
        return self.program.analysis(ReachingDefinitions)

    def insert_line(self, place: int, text: str) -> Edit:
        """Returns the edit that inserts one or more lines at an offset before or after a statement."""
        before = self._line_prefix(place)
        indent = before[: len(before) - len(before.lstrip())]
        lines = self.indent_lines(place, text)
        following = before.strip() != ""
        return Edit(Span(place, place), f"\n{indent}{lines}" if following else f"{lines}\n{indent}")

    def indent_lines(self, place: int, text: str) -> str:
        """Returns lines with the indentation of the line at an offset; the first line is inserted at the offset."""
        before = self._line_prefix(place)
        return text.replace("\n", f"\n{before[: len(before) - len(before.lstrip())]}")

    def _line_prefix(self, place: int) -> str:
        """Returns the text between the beginning of the line and an offset."""
        return self.source.text[self.source.text.rfind("\n", 0, place) + 1 : place]

    @cached_property
    def _forward_branches(self) -> list[tuple[Step, Step]]:
        """The conditional forward branches, in the order of the text, and their targets."""
        found = []
        for step in self.program.steps:
            target = self.branch_target(step) if step.instruction.guard is not None else None
            if target is not None and step.index < target < len(self.program.steps):
                found.append((step, self.program.steps[target]))
        return found

    def branch_target(self, step: Step) -> int | None:
        """Returns the index of the target step of a branch; None for any other step."""
        is_branch = any(isinstance(effect, Control) and effect.kind == "branch" for effect in step.effects)
        return step.targets[0] if is_branch and step.targets else None

    def end_of(self, step: Step) -> int:
        """Returns the offset after a statement."""
        return statement_spans(self.source, step.start).statement.end


def _is_destination(name: str, step: Step) -> bool:
    """Returns whether the first operand of a step is a register of this name, so that it may be written."""
    operands = step.instruction.operands
    return bool(operands) and isinstance(operands[0], Name) and operands[0].text == name


@lru_cache(_CACHE_SIZE)
def context_at(source: SourceFile, start: int) -> FunctionContext | None:
    """Returns the function that contains the instruction at an offset; None if no function with a body does."""
    try:
        module = parse(source.text, source.path)
    except PTXSyntaxError:
        return None
    found = None
    for item, begin in zip(module.items, module.starts, strict=True):
        if begin <= start and isinstance(item, Function) and item.body is not None:
            found = item
    return None if found is None else FunctionContext(flatten(module, found), source)
