"""One text through the house for its picture: what lint says of it, and each function's blocks and transfers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ptxkit.diagnostics import Diagnostic
from ptxkit.linter import broken, lint_source
from ptxkit.records import replace
from ptxkit.results import FileResult
from ptxkit.settings.model import DEFAULT, Settings
from ptxkit.source import Place, SourceFile
from ptxkit.syntax.tree import Block, Body, Function, Module
from ptxkit.transfers import KernelTransfers
from ptxkit.views import FileView, FunctionView

if TYPE_CHECKING:
    from ptxkit.analysis.kernel import Kernel

MAX_BLOCKS = 20_000
"""Basic blocks of one function that are drawn."""


def view(source: SourceFile, settings: Settings = DEFAULT) -> FileView:
    """The picture of a file. One that does not parse has its findings and its words; `unread` says what is missing.

    A part of the house that breaks is a finding (PTX100), and what the others found is there.
    """
    from ptxkit.syntax import PTXSyntaxError, parse
    from ptxkit.syntax.colours import colours

    explored: dict[str, Kernel] = {}
    result = lint_source(source, settings, explored)
    try:
        module = parse(source.text, source.path)
    except PTXSyntaxError:
        pieces = tuple(colours(source.text, None))
        return FileView(
            source, result, pieces=pieces, unread="The file has syntax errors: mend these to see its graph."
        )
    seen = FileView(
        source,
        result,
        version=".".join(map(str, module.version)) if module.version else "",
        target=", ".join(module.targets),
        pieces=tuple(colours(source.text, module)),
    )
    try:
        return _filled(seen, module, explored)
    except Exception as error:
        also = broken(source.path, error).diagnostics
        return replace(seen, result=_with(result, also), unread="The analysis broke: there is no graph.")


def _with(result: FileResult, more: tuple[Diagnostic, ...]) -> FileResult:
    return replace(result, diagnostics=(*result.diagnostics, *more))


def _filled(seen: FileView, module: Module, explored: Mapping[str, Kernel]) -> FileView:
    from ptxkit.analysis.transfers import transfers

    tables = {each.name: each for each in transfers(module, products=True, explored=explored).kernels}
    functions = [
        _function(module, item, start, tables.get(item.name))
        for item, start in module.located()
        if isinstance(item, Function) and item.body is not None
    ]
    nothing = "" if functions else "The file holds no function with a body."
    return replace(seen, functions=tuple(functions), places=dict(_places(module)), unread=nothing)


def _function(module: Module, function: Function, start: int, table: KernelTransfers | None) -> FunctionView:
    from ptxkit.analysis.flow import Flow
    from ptxkit.analysis.happenings import happenings
    from ptxkit.analysis.program import flatten
    from ptxkit.analysis.sketch import blocks_of, edges_of, facts_of, loops_of

    assert module.source is not None
    line = module.source.position(start)[0]
    program = flatten(module, function)
    lines = {step: module.source.position(step.start)[0] for step in program.steps}
    view = FunctionView(
        function.name,
        function.kind,
        line,
        max(lines.values(), default=line),
        facts=tuple(facts_of(program)),
        happenings=tuple(each for _, each in happenings(program, lines)),
        transfers=table,
    )
    if not program.steps:
        return replace(view, without_graph="The function has no instruction.")
    flow = Flow(program)
    if len(flow.starts) > MAX_BLOCKS:
        return replace(
            view, without_graph=f"The function has {len(flow.starts):,} blocks; up to {MAX_BLOCKS:,} are drawn."
        )
    blocks = blocks_of(flow, program, lines)
    return replace(view, blocks=blocks, edges=edges_of(flow), loops=loops_of(flow, blocks))


def _places(module: Module) -> Iterator[tuple[int, tuple[Place, ...]]]:
    """By line: the source line of the first instruction there, where it is not that of the instruction before."""
    from ptxkit.analysis.source_lines import SourceLines

    source = module.source
    if source is None or ".loc" not in source.text:
        return
    origins = SourceLines(module)
    for function in module.functions():
        previous: tuple[Place, ...] = ()
        for start in _instructions(function.body) if function.body is not None else ():
            chain = origins.chain(function, start)
            if chain and chain != previous:
                yield source.position(start)[0], chain
            previous = chain


def _instructions(body: Body) -> Iterator[int]:
    from ptxkit.syntax.tree import Instruction

    for statement, start in body.located():
        if isinstance(statement, Instruction):
            yield start
        elif isinstance(statement, Block):
            yield from _instructions(statement.body)
