"""Collects the conditions on launches that suffice for what the rules leave open: of questions and of obligations.

A condition that a necessary one implies is omitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptxkit.analysis.contract.strongest_conditions import implies
from ptxkit.analysis.ir.display_names import parameter_display_name
from ptxkit.analysis.ir.source_lines import SourceLines
from ptxkit.diagnostics import Undecided
from ptxkit.diagnostics.obligation import JudgedObligation, LaunchNeed, ObligationVerdict
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.limits import MAX_SHARED_BYTES
from ptxkit.model.launch_contract import (
    DynamicShared,
    LaunchContract,
    ParameterMultiple,
    ParameterPlace,
    ParameterSpace,
    Requirement,
    SufficientCondition,
    rank_of,
)
from ptxkit.source import Span
from ptxkit.syntax.tree import Function, Module


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A requirement of an open question or obligation."""

    requirement: Requirement
    code: str
    span: Span


def add_sufficient_conditions(
    module: Module,
    kernel: Function,
    contract: LaunchContract,
    questions: Iterable[Undecided],
    obligations: Iterable[JudgedObligation],
) -> LaunchContract:
    """Returns a contract with the conditions that suffice for the open questions and obligations of its kernel."""
    wanted = sorted(
        (*_of_questions(kernel, questions), *_of_obligations(kernel, obligations)), key=lambda each: each.span.start
    )
    source, lines = module.source, SourceLines(module)
    assert source is not None
    necessary = [each.requirement for each in contract.conditions]
    found: list[SufficientCondition] = []
    for each in _strongest(wanted):
        if not any(implies(other, each.requirement) for other in necessary):
            codes = dict.fromkeys(other.code for other in wanted if implies(each.requirement, other.requirement))
            line = source.position(each.span.start)[0]
            place = lines.location(kernel, each.span.start)
            found.append(SufficientCondition(each.requirement, tuple(codes), line, place))
    found.sort(key=lambda each: (rank_of(each.requirement), each.line))
    return replace(contract, sufficient=tuple(found))


def _strongest(wanted: Sequence[_Wanted]) -> Iterator[_Wanted]:
    """Yields the first of equal requirements, without those that another one implies."""
    for number, each in enumerate(wanted):
        equal = (other.requirement == each.requirement for other in wanted[:number])
        implied = (
            other.requirement != each.requirement and implies(other.requirement, each.requirement) for other in wanted
        )
        if not any(equal) and not any(implied):
            yield each


def _of_questions(kernel: Function, questions: Iterable[Undecided]) -> Iterator[_Wanted]:
    for item in questions:
        if item.kernel == kernel.name:
            yield from (_Wanted(each, item.code, item.span) for each in item.conditions)


def _of_obligations(kernel: Function, obligations: Iterable[JudgedObligation]) -> Iterator[_Wanted]:
    for item in obligations:
        if item.kernel == kernel.name and item.verdict is ObligationVerdict.OPEN:
            for need in item.needs:
                requirement = _requirement_of(need, kernel)
                if requirement is not None:
                    yield _Wanted(requirement, item.code, item.span)


def _requirement_of(need: LaunchNeed, kernel: Function) -> Requirement | None:
    """Returns what a need requires of a launch; None if its subject is not a parameter, or no launch has as much."""
    if need.demand == "bytes":
        return DynamicShared(least=need.amount) if need.amount <= MAX_SHARED_BYTES else None
    names = [name for given in kernel.parameters for name in (each.name for each in given.declarators)]
    if need.subject not in names:
        return None
    shown = parameter_display_name(need.subject, kernel.name)
    place = ParameterPlace(shown, need.subject, names.index(need.subject), need.position)
    if need.demand == "space":
        return ParameterSpace(place, need.space)
    return ParameterMultiple(place, need.amount, is_address=need.demand == "multiple")
