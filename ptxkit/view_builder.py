"""Collects the view of one text: the findings of lint, and each function's blocks and transfers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ptxkit.fast_dataclasses import replace
from ptxkit.limits import MAX_DRAWN_BLOCKS
from ptxkit.linter import crash_result, lint_source
from ptxkit.model.transfer import KernelTransfers
from ptxkit.model.view import FileView, FunctionView
from ptxkit.settings.model import DEFAULT, Settings
from ptxkit.source import SourceFile, SourceLine
from ptxkit.syntax.tree import Body, Function, Module

if TYPE_CHECKING:
    from ptxkit.analysis.context.kernel_facts import KernelFacts
    from ptxkit.analysis.ir.program import Program


def build_file_view(source: SourceFile, settings: Settings = DEFAULT) -> FileView:
    """Returns the view of a file. One that cannot be parsed has its findings and its words; `unread` states what is
    missing.

    A crash of a part is a finding (PTX100), and the results of the other parts are kept.
    """
    from ptxkit.syntax import PTXSyntaxError, parse
    from ptxkit.syntax.highlighting import highlight_spans

    explored: dict[str, KernelFacts] = {}
    result = lint_source(source, settings, explored)
    try:
        module = parse(source.text, source.path)
    except PTXSyntaxError:
        pieces = tuple(highlight_spans(source.text, None))
        return FileView(
            source,
            result,
            colored_spans=pieces,
            missing_functions_reason="The file has syntax errors: fix them to see its graph.",
        )
    seen = FileView(
        source,
        result,
        version=".".join(map(str, module.version)) if module.version else "",
        target=", ".join(module.targets),
        colored_spans=tuple(highlight_spans(source.text, module)),
    )
    try:
        return _with_functions(seen, module, explored)
    except Exception as error:
        also = crash_result(source.path, error).diagnostics
        return replace(
            seen,
            result=replace(result, diagnostics=(*result.diagnostics, *also)),
            missing_functions_reason="The analysis failed: there is no graph.",
        )


def _with_functions(seen: FileView, module: Module, explored: Mapping[str, KernelFacts]) -> FileView:
    from ptxkit.analysis.inventory.routine_lines import find_routine_lines
    from ptxkit.analysis.inventory.transfer_table import collect_transfers
    from ptxkit.analysis.ir.program import flatten

    tables = {each.name: each for each in collect_transfers(module, products=True, explored=explored).kernels}
    flattened = [
        (flatten(module, item), item, start)
        for item, start in module.with_offsets()
        if isinstance(item, Function) and item.body is not None
    ]
    functions = [
        _function_view(module, program, start, tables.get(item.name), explored.get(item.name))
        for program, item, start in flattened
    ]
    nothing = "" if functions else "The file holds no function with a body."
    return replace(
        seen,
        functions=tuple(functions),
        source_lines=dict(_source_lines(module)),
        routine_lines=find_routine_lines(module, [program for program, _, _ in flattened]),
        missing_functions_reason=nothing,
    )


def _function_view(
    module: Module, program: Program, start: int, table: KernelTransfers | None, facts: KernelFacts | None
) -> FunctionView:
    from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
    from ptxkit.analysis.inventory.async_view import find_async_ops
    from ptxkit.analysis.inventory.cfg_view import launch_facts_of, view_blocks, view_edges, view_loops
    from ptxkit.analysis.inventory.operand_values import OperandValues

    assert module.source is not None
    line = module.source.position(start)[0]
    function = program.function
    lines = {step: module.source.position(step.start)[0] for step in program.steps}
    values = OperandValues(facts) if facts is not None else None
    view = FunctionView(
        function.name,
        function.kind,
        line,
        max(lines.values(), default=line),
        facts=tuple(launch_facts_of(program)),
        async_ops=tuple(each for _, each in find_async_ops(program, lines, values)),
        transfers=table,
    )
    if not program.steps:
        return replace(view, no_graph_reason="The function has no instruction.")
    flow = program.analysis(ControlFlowGraph)
    if len(flow.block_starts) > MAX_DRAWN_BLOCKS:
        reason = f"The function has {len(flow.block_starts):,} blocks; up to {MAX_DRAWN_BLOCKS:,} are drawn."
        return replace(view, no_graph_reason=reason)
    blocks = view_blocks(flow, program, lines)
    return replace(view, blocks=blocks, edges=view_edges(flow), loops=view_loops(flow, blocks))


def _source_lines(module: Module) -> Iterator[tuple[int, tuple[SourceLine, ...]]]:
    """Returns, for each line, the source line of its first instruction, if it is not that of the instruction before."""
    from ptxkit.analysis.ir.source_lines import SourceLines

    source = module.source
    if source is None or ".loc" not in source.text:
        return
    origins = SourceLines(module)
    for function in module.functions():
        previous: tuple[SourceLine, ...] = ()
        for start in _instruction_offsets(function.body) if function.body is not None else ():
            chain = origins.inline_chain(function, start)
            if chain and chain != previous:
                yield source.position(start)[0], chain
            previous = chain


def _instruction_offsets(body: Body) -> Iterator[int]:
    from ptxkit.syntax.tree import Instruction

    return (start for statement, start in body.flatten_blocks() if isinstance(statement, Instruction))
