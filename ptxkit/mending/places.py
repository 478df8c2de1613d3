"""Where a statement may be put in, near one that a finding names, so that more threads come by it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache

from ptxkit.analysis.program import Program, Step, flatten
from ptxkit.diagnostics import Edit
from ptxkit.isa.effects import Control
from ptxkit.source import SourceFile, Span
from ptxkit.syntax import PTXSyntaxError, parse, statement_spans
from ptxkit.syntax.tree import Function, Name

_KEPT = 2


class Surroundings:
    """One function around a finding. Offsets are those of its source."""

    def __init__(self, program: Program, source: SourceFile) -> None:
        self.program = program
        self.source = source
        self._by_start = {step.start: step for step in program.steps}

    def step_at(self, start: int) -> Step | None:
        """The instruction that begins at an offset."""
        return self._by_start.get(start)

    def ahead(self, step: Step) -> Iterator[int]:
        """Offsets in front of a step, nearest first: of itself, of its labels, of each branch that leaves it out."""
        yield step.start
        if step.index in self.program.entries and step.index:
            yield self._end(self.program.steps[step.index - 1])
        yield from (
            branch.start for branch, target in reversed(self._forward) if branch.index < step.index < target.index
        )

    def behind(self, step: Step) -> Iterator[int]:
        """Offsets behind a step, nearest first: of itself, and where each branch that leaves it out goes on."""
        yield self._end(step)
        yield from sorted(
            {target.start for branch, target in self._forward if branch.index < step.index < target.index}
        )

    @property
    def beginning(self) -> int:
        """In front of the first instruction."""
        return self.program.steps[0].start

    @property
    def ends(self) -> list[int]:
        """In front of each instruction with which every thread that comes to it ends."""
        kinds = ("return", "exit")
        return [
            step.start
            for step in self.program.steps
            for effect in (step.match.effects if step.match else ())
            if isinstance(effect, Control) and effect.kind in kinds and step.instruction.guard is None
        ]

    def variable(self, name: str) -> str | None:
        """The variable whose address a name stands for: itself, or a register into which it alone is moved."""
        names = {each.name for each in self.program.variables}
        if name in names:
            return name
        writers = [each for each in self.program.steps if _is_written(name, each)]
        operands = writers[0].instruction.operands if len(writers) == 1 else ()
        source = operands[1] if len(operands) == 2 else None
        return source.text if isinstance(source, Name) and source.text in names else None

    def _leaving_out(self, step: Step) -> list[tuple[Step, Step]]:
        return [(start, target) for start, target in self._forward if start.index < step.index < target.index]

    def added(self, place: int, text: str) -> Edit:
        """A line of its own, or several, at an offset in front of a statement or behind one."""
        begin = self.source.text.rfind("\n", 0, place) + 1
        before = self.source.text[begin:place]
        indent = before[: len(before) - len(before.lstrip())]
        lines = text.replace("\n", f"\n{indent}")
        behind = before.strip() != ""
        return Edit(Span(place, place), f"\n{indent}{lines}" if behind else f"{lines}\n{indent}")

    @cached_property
    def _forward(self) -> list[tuple[Step, Step]]:
        """The conditional branches that go ahead, in the order of the text, and where they go."""
        found = []
        for step in self.program.steps:
            target = self._target(step) if step.instruction.guard is not None else None
            if target is not None and step.index < target < len(self.program.steps):
                found.append((step, self.program.steps[target]))
        return found

    def _target(self, step: Step) -> int | None:
        for effect in step.match.effects if step.match else ():
            if isinstance(effect, Control) and effect.kind == "branch" and effect.target and step.match:
                operand = step.match.operand(effect.target, step.instruction)
                return step.scope.label(operand.text) if isinstance(operand, Name) else None
        return None

    def _end(self, step: Step) -> int:
        return statement_spans(self.source, step.start).statement.end


def _is_written(name: str, step: Step) -> bool:
    """Whether the first operand of a step is a register of this name, so that it may be written."""
    operands = step.instruction.operands
    return bool(operands) and isinstance(operands[0], Name) and operands[0].text == name


@lru_cache(_KEPT)
def surroundings(source: SourceFile, start: int) -> Surroundings | None:
    """The function with a body in which an instruction begins at an offset; None where there is none."""
    try:
        module = parse(source.text, source.path)
    except PTXSyntaxError:
        return None
    found = None
    for item, begin in zip(module.items, module.starts, strict=True):
        if begin <= start and isinstance(item, Function) and item.body is not None:
            found = item
    return None if found is None else Surroundings(flatten(module, found), source)
