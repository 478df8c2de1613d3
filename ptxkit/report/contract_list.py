"""The conditions on launches for people: a line for each, under the name of its kernel."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ptxkit.diagnostics.catalogue import contract_words
from ptxkit.model.launch_contract import LaunchCondition, LaunchContract, SufficientCondition
from ptxkit.model.survey import Survey
from ptxkit.report.full import diagnostic_lines
from ptxkit.report.style import Line, TextRole
from ptxkit.untrusted_text import escape_path, escape_text


def contract_report(results: Iterable[Survey[LaunchContract]]) -> Iterator[Line]:
    """The contracts of files as they arrive, and their diagnostics."""
    for result in results:
        if result.kernels is not None:
            yield (
                (escape_path(result.path), TextRole.LOCATION),
                (f" for {escape_text(result.target)}", TextRole.PLAIN),
            )
            for contract in result.kernels:
                yield from _contract_lines(contract)
            yield ()
        yield from diagnostic_lines(result.diagnostics)


def _contract_lines(contract: LaunchContract) -> Iterator[Line]:
    nothing = "" if contract.conditions or contract.sufficient else f": {contract_words.NO_CONDITIONS()}"
    yield ()
    yield ((escape_text(contract.kernel), TextRole.LOCATION), (nothing, TextRole.PLAIN))
    listed: list[LaunchCondition | SufficientCondition] = [*contract.conditions, *contract.sufficient]
    for condition in listed:
        place = f"  line {condition.line}{_program_place(condition)}: "
        yield ((place, TextRole.FIELD), (escape_text(condition.sentence), TextRole.PLAIN))


def _program_place(condition: LaunchCondition | SufficientCondition) -> str:
    place = condition.source_line
    return "" if place is None else f" ({escape_path(os.path.basename(place.file))}:{place.line})"
