"""States of each open question of the rules what the runs show: a violation, or that it held in a number of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ptxkit.diagnostics import Undecided
from ptxkit.fast_dataclasses import replace
from ptxkit.verifier.kernel_result import KernelResult
from ptxkit.verifier.merged_findings import places_of

VIOLATED = "violated with a witness"
VIOLATED_WITH_CHOSEN = "violated in a run with inputs that were chosen"
NOT_REACHED = "no run reached it"


def with_runs(questions: Iterable[Undecided], results: Sequence[KernelResult]) -> list[Undecided]:
    """Returns questions of the rules with what the runs of the kernels show of each.

    A question about an instruction of a function that a kernel calls stays as it is, since runs do not count these.
    """
    executions = sum((each.executions for each in results), Counter[int]())
    places = frozenset[int]().union(*(each.places for each in results))
    shown = {place for each in results for found in each.diagnostics for place in places_of(found)}
    doubted = {(item.code, item.span.start) for each in results for item in each.undecided}

    def outcome(item: Undecided) -> str:
        place = item.code, item.span.start
        if place in shown:
            return VIOLATED
        if place in doubted:
            return VIOLATED_WITH_CHOSEN
        count = executions[item.span.start]
        return f"held in {count} run{'s' * (count != 1)}" if count else NOT_REACHED

    return [replace(each, tested=outcome(each)) if each.span.start in places else each for each in questions]
