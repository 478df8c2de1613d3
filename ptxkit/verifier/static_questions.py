"""The runs that may answer the open questions of the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.analysis.abstract_interpretation.path_arguments import PathArguments
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.values.scenario import Arguments
from ptxkit.diagnostics import Verdict
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.model.launch_contract import Requirement
from ptxkit.source import SourceFile
from ptxkit.verifier.limits import MAX_SOLVED_QUESTIONS

_USUAL_INTEGER = 64
"""The number of the integers that no branch compares."""


def offsets_of_questions(static: Verdict) -> frozenset[int]:
    """Returns the offsets of the instructions about which a question is open for each launch."""
    return frozenset(item.span.start for item in static.undecided if not item.conditions)


def arguments_of_questions(kernel: KernelFacts, offsets: frozenset[int]) -> list[Arguments]:
    """Returns arguments that lead to some instructions, each once.

    Those that solve the conditions of paths are first, then those with which executions of the rules lead to the most
    of them. The others may lead to instructions that no execution has reached.
    """
    reached: dict[Arguments, int] = {}
    for facts in kernel.scenarios:
        starts = {event.step.start for group in facts.groups for event in group.events}
        found = len(offsets & starts)
        if found:
            reached[facts.scenario.arguments] = max(found, reached.get(facts.scenario.arguments, 0))
    covered = kernel.explorer.covered_steps()
    missed = [step for step in kernel.program.steps if step.start in offsets and step not in covered]
    inputs = kernel.explorer.unreached_conditions.inputs_leading_to(missed)
    leading = ((_USUAL_INTEGER, values) for values in inputs)
    followed = sorted(reached, key=lambda each: -reached[each])
    return list(dict.fromkeys((*_solved_arguments(kernel, offsets), *followed, *leading)))


def _solved_arguments(kernel: KernelFacts, offsets: frozenset[int]) -> Iterator[Arguments]:
    """Yields arguments that satisfy the conditions of the paths to some instructions."""
    explorer = kernel.explorer
    conditions, solver = explorer.unreached_conditions, PathArguments(kernel.program, explorer.launch)
    for step in [each for each in kernel.program.steps if each.start in offsets][:MAX_SOLVED_QUESTIONS]:
        found = solver.leading_to(step, conditions.sizes_deciding, conditions.compared_numbers)
        if found is not None:
            yield _USUAL_INTEGER, found


def conditions_of_questions(static: Verdict, kernel: str) -> Iterable[Requirement]:
    """Returns the requirements of a launch of a kernel that decide a question."""
    return dict.fromkeys(each for item in static.undecided if item.kernel == kernel for each in item.conditions)


def lines_of_flag_questions(static: Verdict, source: SourceFile) -> Iterator[int]:
    """Yields the lines of the accesses that a flag, or a counter, in global memory may not order."""
    for item in static.undecided:
        if item.code in (ptx6xx.FLAG_UNORDERED, ptx6xx.LAST_BLOCK_UNORDERED):
            yield from (source.position(span.start)[0] for span in (item.span, *(each.span for each in item.others)))
