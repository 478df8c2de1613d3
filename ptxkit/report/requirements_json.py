"""The requirements of launches as JSON objects, which several documents contain."""

from __future__ import annotations

from ptxkit.diagnostics.catalogue import contract_words
from ptxkit.model.launch_contract import (
    KINDS,
    BlockLimits,
    BoxBytes,
    ClusterLimits,
    DynamicShared,
    ParameterMultiple,
    ParameterPlace,
    ParameterSpace,
    Requirement,
    Residency,
    TensorMapUse,
)


def requirement_object(requirement: Requirement) -> dict[str, object]:
    """A requirement that a launch satisfies, with its kind, its numbers, and a clause that states it."""
    return {
        "kind": KINDS[type(requirement)],
        "message": requirement.clause(contract_words.STATED),
        "requires": requirement_numbers(requirement),
    }


def requirement_numbers(requirement: Requirement) -> dict[str, object]:
    """What is required, without what a requirement leaves open."""
    match requirement:
        case BlockLimits(exact=exact, most=most, code=code):
            failing = (*requirement.failing, *map(list, requirement.failing_shapes))
            possible = (*requirement.possible, *map(list, requirement.shapes))
            found: dict[str, object] = {"exact": exact, "most": most, "not": failing, "tried": possible, "code": code}
        case ClusterLimits(exact=exact, least=least, most=most):
            tried = {"not": requirement.failing, "tried": requirement.possible, "code": requirement.code}
            found = {"exact": exact, "least": least, "most": most, **tried}
        case DynamicShared(least=least, alignment=alignment):
            found = {"least": least, "alignment": alignment}
        case ParameterMultiple(parameter=parameter, divisor=divisor, remainder=remainder):
            place, is_address = _parameter(parameter), requirement.is_address
            return {**place, "divisor": divisor, "remainder": remainder, "address": is_address}
        case ParameterSpace(parameter=parameter, space=space):
            return {**_parameter(parameter), "space": space}
        case TensorMapUse(parameter=parameter, rank=rank, mode=mode, operations=operations):
            place, pointer, box = _parameter(parameter), requirement.is_pointer, requirement.box_bytes
            used = {"rank": rank, "mode": mode, "operations": list(operations)}
            return {**place, **used, "box_bytes": box, "pointer": pointer}
        case BoxBytes(boxes=boxes, size=size):
            return {"boxes": [{**_parameter(place), "count": count} for place, count in boxes], "bytes": size}
        case Residency():
            found = {}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in found.items() if value}


def _parameter(parameter: ParameterPlace) -> dict[str, object]:
    return {"parameter": parameter.name, "index": parameter.index, "offset": parameter.offset}
