"""Launch contracts as JSON. The schema is in the documentation; `version` changes if it becomes incompatible."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.model.launch_contract import FileContracts, LaunchCondition, LaunchContract, SufficientCondition
from ptxkit.report.as_json import diagnostic_object, replace_surrogates
from ptxkit.report.requirements_json import requirement_numbers

VERSION = 1


def contracts_json(results: Sequence[FileContracts]) -> str:
    """The document as ASCII text with a final line end."""
    import json

    document = {"version": VERSION, "files": [_file(result) for result in results]}
    return json.dumps(replace_surrogates(document), indent=2) + "\n"


def _file(result: FileContracts) -> dict[str, object]:
    return {
        "path": result.path,
        "status": str(result.status),
        "target": result.target or None,
        "kernels": [contract_object(each) for each in result.contracts or ()],
        "diagnostics": [diagnostic_object(item) for item in result.diagnostics],
    }


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
