"""The correct kernels of corpus/kernels and corpus/seeds: no findings, and no condition that their launches break.

Each file is linted once: its tests follow each other, and share the executions of its kernels.
"""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import pytest

from ptxkit import Severity
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.inventory.transfer_table import collect_transfers
from ptxkit.contract_survey import derive_kernel_contract
from ptxkit.emulator import TensorMapArgument
from ptxkit.fast_dataclasses import dataclass
from ptxkit.linter import lint_source
from ptxkit.model.launch_contract import LaunchContract, LaunchShape, ProposedLaunch, TensorMapUse
from ptxkit.model.transfer import Unit
from ptxkit.results import FileResult
from ptxkit.source import SourceFile
from ptxkit.syntax import parse
from ptxkit.tensormap_limits import ELEMENT_SIZES
from ptxkit.testing.corpus.launch_table import load_launch_table
from ptxkit.verifier import VerifyRequest

from .support import SEED_UNITS, kernels, seed_programs, stated_codes, units

TABLE = load_launch_table()


@dataclass(frozen=True, slots=True)
class LintedFile:
    """A file, the result of lint, and the kernels that it executed, by name."""

    path: Path
    text: str
    result: FileResult
    explored: dict[str, KernelFacts]


@pytest.fixture(scope="module", params=[*kernels(), *seed_programs()], ids=lambda path: path.stem)
def linted_file(request: pytest.FixtureRequest) -> LintedFile:
    path: Path = request.param
    text, explored = path.read_text("utf-8"), dict[str, KernelFacts]()
    result = lint_source(SourceFile(str(path), text), explored=explored)
    return LintedFile(path, text, result, explored)


def test_a_correct_kernel_has_no_findings(linted_file: LintedFile) -> None:
    """And every transfer of a kernel is waited for, and fenced where it must be; a seed program copies by its unit."""
    assert stated_codes(linted_file.result.diagnostics, *Severity) == []
    table = collect_transfers(parse(linted_file.text, str(linted_file.path)), explored=linted_file.explored)
    if linted_file.path in seed_programs():
        assert units(table.kernels) == SEED_UNITS.get(linted_file.path.stem, units(table.kernels))
        return
    rows = [row for kernel in table.kernels for row in kernel.transfers if row.reached and row.unit != Unit.PLAIN]
    untold = [row.line for row in rows if not row.waits and row.completion.mechanism != "nothing"]
    unfenced = [row.line for row in rows for fence in row.fences if fence.line is None]
    assert (untold, unfenced) == ([], [])


def full(shape: tuple[int, ...] | None) -> LaunchShape | None:
    if shape is None:
        return None
    x, y, z = (*shape, 1, 1)[:3]
    return x, y, z


def arguments_of(request: VerifyRequest, count: int) -> list[object]:
    chance = np.random.default_rng(0)
    return [request.arguments[f"#{index}"].make_value(chance) for index in range(count)]


def launch_of(request: VerifyRequest, arguments: list[object]) -> ProposedLaunch:
    """The launch; arrays are aligned as allocations are."""
    numbers = {
        (index, 0): value if isinstance(value, int) else 0
        for index, value in enumerate(arguments)
        if isinstance(value, int | np.ndarray)
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


def test_no_derived_condition_excludes_the_recorded_launches(linted_file: LintedFile) -> None:
    """With these launches, the kernels are known to be correct."""
    module = parse(linted_file.text, linted_file.path.name)
    contracts = {
        name: derive_kernel_contract(module, module.function(name), facts) for name, facts in linted_file.explored.items()
    }
    requests = TABLE.requests_for(linted_file.text, linted_file.path.name)
    assert requests
    for request in requests:
        [name] = request.entries
        contract = contracts[name]
        arguments = arguments_of(request, len(module.function(name).parameters))
        launch = launch_of(request, arguments)
        broken = [each.sentence for each in contract.conditions if each.requirement.is_broken_by(launch)]
        assert broken == []
        assert check_maps(contract, arguments) >= len([use for use in maps_of(contract) if not use.is_pointer])
