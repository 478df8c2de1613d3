"""Launch contracts as JSON. The schema is in the documentation."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.model.launch_contract import LaunchCondition, LaunchContract, SufficientCondition
from ptxkit.model.survey import Survey
from ptxkit.report.requirements_json import requirement_numbers
from ptxkit.report.surveys_json import surveys_json


def contracts_json(results: Sequence[Survey[LaunchContract]]) -> str:
    """The document as ASCII text with a final line end."""
    return surveys_json(results, contract_object)


def contract_object(contract: LaunchContract) -> dict[str, object]:
    """A contract as a JSON object."""
    return {
        "name": contract.kernel,
        "conditions": [
            {"scope": str(each.scope), "declared": each.is_declared, **_condition(each)} for each in contract.conditions
        ],
        "sufficient": [{"codes": list(each.codes), **_condition(each)} for each in contract.sufficient],
    }


def _condition(condition: LaunchCondition | SufficientCondition) -> dict[str, object]:
    place = condition.source_line
    return {
        "kind": condition.kind,
        "line": condition.line,
        "source_file": place.file if place is not None else None,
        "source_line": place.line if place is not None else None,
        "message": condition.sentence,
        "requires": requirement_numbers(condition.requirement),
    }
