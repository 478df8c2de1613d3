"""No derived condition excludes a launch with which a kernel of the corpus is known to be correct."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy
import pytest

from ptxkit.contract_survey import derive_contracts
from ptxkit.emulator import TensorMapArgument
from ptxkit.model.launch_contract import LaunchContract, LaunchShape, ProposedLaunch, TensorMapUse
from ptxkit.syntax import parse
from ptxkit.tensormap_limits import ELEMENT_SIZES
from ptxkit.testing.corpus.launch_table import load_launch_table
from ptxkit.verifier import VerifyRequest

CORPUS = Path(__file__).resolve().parents[3] / "corpus"
FILES = sorted([*(CORPUS / "kernels").glob("*.ptx"), *(CORPUS / "seeds").glob("*.ptx")])
TABLE = load_launch_table()


def full(shape: tuple[int, ...] | None) -> LaunchShape | None:
    if shape is None:
        return None
    x, y, z = (*shape, 1, 1)[:3]
    return x, y, z


def arguments_of(request: VerifyRequest, count: int) -> list[object]:
    chance = numpy.random.default_rng(0)
    return [request.arguments[f"#{index}"].make_value(chance) for index in range(count)]


def launch_of(request: VerifyRequest, arguments: list[object]) -> ProposedLaunch:
    """The launch; arrays are aligned as allocations are."""
    numbers = {
        (index, 0): value if isinstance(value, int) else 0
        for index, value in enumerate(arguments)
        if isinstance(value, int | numpy.ndarray)
    }
    return ProposedLaunch(full(request.block), full(request.cluster), request.shared, numbers)


def maps_of(contract: LaunchContract) -> list[TensorMapUse]:
    return [each.requirement for each in contract.conditions if isinstance(each.requirement, TensorMapUse)]


def check_maps(contract: LaunchContract, arguments: list[object]) -> int:
    checked = 0
    for use in maps_of(contract):
        given = arguments[use.parameter.index]
        for argument in given if isinstance(given, list) else [given]:
            if isinstance(argument, TensorMapArgument):
                fields = argument.fields
                assert (fields.rank, fields.mode) == (use.rank, use.mode)
                if use.box_bytes is not None:
                    count = prod(fields.box) if fields.box else fields.channels * fields.pixels
                    assert count * ELEMENT_SIZES.get(fields.element, 4) == use.box_bytes
                checked += 1
    return checked


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_recorded_launches_satisfy_all_conditions(path: Path) -> None:
    text = path.read_text("utf-8")
    module = parse(text, path.name)
    contracts = {each.kernel: each for each in derive_contracts(module)}
    requests = TABLE.requests_for(text, path.name)
    assert requests
    for request in requests:
        [name] = request.entries
        arguments = arguments_of(request, len(module.function(name).parameters))
        launch = launch_of(request, arguments)
        broken = [each.sentence for each in contracts[name].conditions if each.requirement.is_broken_by(launch)]
        assert broken == []
        assert check_maps(contracts[name], arguments) >= len(
            [use for use in maps_of(contracts[name]) if not use.is_pointer]
        )
