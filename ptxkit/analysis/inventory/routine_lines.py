"""The lines that a compiler writes in any case, and a reader skips: a page can fold them.

They are declarations of registers, `.loc` and `.file`, sections of debugging information, copies of registers,
constants and addresses, and the comments with which NVVM encloses inline assembly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr
from ptxkit.syntax.tree import Declaration, Directive, Module, Name, Section

_COPIES = frozenset({"copy", "to_generic", "from_generic"})
_COMMENTS = frozenset({"// begin inline asm", "// end inline asm", "// demoted variable"})


def find_routine_lines(module: Module, programs: Sequence[Program]) -> frozenset[int]:
    """Returns the lines of a module that was read from a text. programs: its functions with a body."""
    source = module.source
    assert source is not None
    copies = {step.start for program in programs for step in program.steps if _is_copy(step)}
    routine: set[int] = set()
    kept: set[int] = set()
    for statement, start in _statements(module):
        is_routine = start in copies or _is_routine(statement)
        (routine if is_routine else kept).add(source.position(start)[0])
    routine.update(_section_lines(module))
    texts = source.text.split("\n")
    routine.update(number for number, text in enumerate(texts, 1) if text.strip() in _COMMENTS)
    routine -= kept
    return frozenset(routine | set(_blank_lines(texts, routine)))


def _statements(module: Module) -> Iterator[tuple[object, int]]:
    yield from module.with_offsets()
    for function in module.functions():
        if function.body is not None:
            yield from function.body.flatten_blocks()


def _is_routine(statement: object) -> bool:
    match statement:
        case Declaration(space="reg") | Directive(name="loc" | "file") | Section():
            return True
    return False


def _is_copy(step: Step) -> bool:
    """Returns whether a step only copies a register, a constant or an address, and not a special register."""
    effects = step.effects
    if len(effects) != 1 or step.instruction.guard is not None:
        return False
    match effects[0]:
        case Value(_, CallExpr(function)) if function in _COPIES:
            sources = step.instruction.operands[1:]
            return all(not isinstance(each, Name) or step.scope.locate(each.text) is not None for each in sources)
    return False


def _section_lines(module: Module) -> Iterator[int]:
    assert module.source is not None
    items = list(module.with_offsets())
    ends = [*(start for _, start in items[1:]), len(module.source.text)]
    for (item, start), end in zip(items, ends, strict=True):
        if isinstance(item, Section):
            first, last = module.source.position(start)[0], module.source.position(end)[0]
            yield from range(first, last if end < len(module.source.text) else last + 1)


def _blank_lines(texts: Sequence[str], routine: set[int]) -> Iterator[int]:
    """Yields the empty lines between routine ones."""
    blank: list[int] = []
    is_after_routine = False
    for number, text in enumerate(texts, 1):
        if not text.strip():
            blank.append(number)
            continue
        if is_after_routine and number in routine:
            yield from blank
        blank, is_after_routine = [], number in routine
