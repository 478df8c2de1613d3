"""A view of a function: its basic blocks, the edges between them, its loops, and its launch directives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.inventory.async_view import category_of
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import Control
from ptxkit.model.view import BlockView, ControlFlowEdge, EdgeKind, LoopView
from ptxkit.syntax.tree import operand_names

#: The directives of a kernel that concern its launch, with their description.
_DIRECTIVE_WORDS = {
    "reqntid": "threads of a block",
    "maxntid": "threads of a block, at most",
    "reqnctapercluster": "CTAs of a cluster",
    "maxclusterrank": "CTAs of a cluster, at most",
    "explicitcluster": "cluster",
    "blocksareclusters": "blocks",
    "minnctapersm": "CTAs of an SM, at least",
    "maxnctapersm": "CTAs of an SM, at most",
    "maxnreg": "registers of a thread, at most",
    "noreturn": "returns",
}
_WITHOUT_WORDS = {"explicitcluster": "given at launch", "blocksareclusters": "are clusters", "noreturn": "never"}


def view_blocks(flow: ControlFlowGraph, program: Program, lines: Mapping[Step, int]) -> tuple[BlockView, ...]:
    """Returns the basic blocks in the order of the text."""
    labels = program.code.label_names
    return tuple(_view_block(flow.steps_of_block(number), lines, labels) for number in range(len(flow.block_starts)))


def _view_block(steps: tuple[Step, ...], lines: Mapping[Step, int], labels: Mapping[int, str]) -> BlockView:
    sorts = tuple(sort for step in steps if (sort := category_of(step)) is not None)
    kinds = [kind for kind in _control_kinds(steps[-1]) if kind in ("exit", "return", "trap")]
    return BlockView(
        lines[steps[0]], lines[steps[-1]], len(steps), labels.get(steps[0].index, ""), sorts, kinds[0] if kinds else ""
    )


def view_edges(flow: ControlFlowGraph) -> tuple[ControlFlowEdge, ...]:
    """Returns the edges between blocks; those of one block are in the order fall-through, targets."""
    found: list[ControlFlowEdge] = []
    for block, following in enumerate(flow.successors):
        last = flow.steps_of_block(block)[-1]
        kinds = _control_kinds(last)
        guard = last.instruction.guard
        words = f"@{'!' if guard.negated else ''}{guard.predicate}" if guard is not None else ""
        for place, other in enumerate(following):
            falls = not kinds or (guard is not None and place == 0)
            if falls:
                found.append(ControlFlowEdge(block, other, EdgeKind.NEXT))
            elif "branch_indexed" in kinds:
                found.append(ControlFlowEdge(block, other, EdgeKind.INDEXED, words))
            else:
                found.append(
                    ControlFlowEdge(block, other, EdgeKind.TAKEN if guard is not None else EdgeKind.JUMP, words)
                )
    return tuple(found)


def view_loops(flow: ControlFlowGraph, blocks: tuple[BlockView, ...]) -> tuple[LoopView, ...]:
    """Returns the loops, outer ones first."""
    return tuple(
        LoopView(
            tuple(sorted(loop.nodes)),
            min(blocks[node].first for node in loop.nodes),
            max(blocks[node].last for node in loop.nodes),
        )
        for loop in flow.loops.loops
    )


def launch_facts_of(program: Program) -> Iterator[tuple[str, str]]:
    """Yields the launch directives of the kernel, and the memory, parameters and registers that it uses."""
    for directive in program.function.directives:
        if directive.name in _DIRECTIVE_WORDS:
            words = " x ".join(directive.words) or _WITHOUT_WORDS.get(directive.name, "yes")
            yield f".{directive.name}", f"{_DIRECTIVE_WORDS[directive.name]}: {words}"
    yield from _memory_facts(program)
    registers = Counter(_used_registers(program).values())
    if registers:
        yield "registers used", ", ".join(f"{count} .{kind}" for kind, count in sorted(registers.items()))


def _memory_facts(program: Program) -> Iterator[tuple[str, str]]:
    """Yields the shared and local memory that the function names, and the parameters."""
    named = {name for step in program.steps for operand in step.instruction.operands for name in operand_names(operand)}
    for space in ("shared", "local"):
        variables = [each for each in program.variables if each.space == space and each.name in named]
        sizes = [each.size for each in variables if each.size]
        if variables:
            sizes_text = [f"{sum(sizes):,} bytes"] if sizes else []
            sizes_text += ["launch-sized memory"] if any(each.is_open for each in variables) else []
            yield space, " and ".join(sizes_text) or "0 bytes"
    parameters = [each.size for each in program.variables if each.space == "param"]
    if parameters:
        count = len(program.function.parameters)
        size = sum(parameters[:count])
        yield "parameters", f"{count} ({size:,} bytes)"


def _used_registers(program: Program) -> dict[str, str]:
    """Returns the type of each register that an instruction names; compilers declare more."""
    found: dict[str, str] = {}
    for step in program.steps:
        guard = step.instruction.guard
        names = [name for operand in step.instruction.operands for name in operand_names(operand)]
        for name in (*names, guard.predicate) if guard is not None else names:
            unique = step.scope.register_name(name)
            located = None if unique in found else step.scope.locate(name) or step.scope.locate(name.rpartition(".")[0])
            if located is not None and located[1].is_register:
                found[unique] = located[1].kind
    return found


def _control_kinds(step: Step) -> list[str]:
    effects = step.effects
    return [effect.kind for effect in effects if isinstance(effect, Control) and effect.kind != "call"]
