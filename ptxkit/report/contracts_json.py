"""Launch contracts as JSON. The schema is in the documentation; `version` changes if it becomes incompatible."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.model.launch_contract import (
    BlockLimits,
    ClusterLimits,
    DynamicShared,
    FileContracts,
    LaunchCondition,
    LaunchContract,
    ParameterMultiple,
    ParameterPlace,
    Requirement,
    Residency,
    TensorMapUse,
)
from ptxkit.report.as_json import diagnostic_object, replace_surrogates

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
    return {"name": contract.kernel, "conditions": [_condition(each) for each in contract.conditions]}


def _condition(condition: LaunchCondition) -> dict[str, object]:
    place = condition.source_line
    return {
        "kind": condition.kind,
        "scope": str(condition.scope),
        "declared": condition.is_declared,
        "line": condition.line,
        "source_file": place.file if place is not None else None,
        "source_line": place.line if place is not None else None,
        "message": condition.sentence,
        "requires": _requirement(condition.requirement),
    }


def _requirement(requirement: Requirement) -> dict[str, object]:
    """What is required, without what a requirement leaves open."""
    match requirement:
        case BlockLimits(exact=exact, most=most, failing=failing, possible=possible, code=code):
            found: dict[str, object] = {"exact": exact, "most": most, "not": failing, "tried": possible, "code": code}
        case ClusterLimits(exact=exact, least=least, most=most):
            found = {"exact": exact, "least": least, "most": most}
        case DynamicShared(least=least, alignment=alignment):
            found = {"least": least, "alignment": alignment}
        case ParameterMultiple(parameter=parameter, divisor=divisor, remainder=remainder):
            place, is_address = _parameter(parameter), requirement.is_address
            return {**place, "divisor": divisor, "remainder": remainder, "address": is_address}
        case TensorMapUse(parameter=parameter, rank=rank, mode=mode, operations=operations):
            place, pointer, box = _parameter(parameter), requirement.is_pointer, requirement.box_bytes
            used = {"rank": rank, "mode": mode, "operations": list(operations)}
            return {**place, **used, "box_bytes": box, "pointer": pointer}
        case Residency():
            found = {}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in found.items() if value}


def _parameter(parameter: ParameterPlace) -> dict[str, object]:
    return {"parameter": parameter.name, "index": parameter.index, "offset": parameter.offset}
