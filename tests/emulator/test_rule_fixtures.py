"""The rules' own fixtures on the machine: faults are found in a run, and correct programs have no findings.

`rule_fixtures.toml` lists those that cannot be shown, and the reason.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from ptxkit.analysis.contract.launch_evidence import LaunchEvidence
from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.ir.program import flatten
from ptxkit.emulator import POLICIES, RunBudget, RunResult, run
from ptxkit.emulator.engine.executable import Executable
from ptxkit.syntax import parse
from ptxkit.verifier.argument_choice import ParameterUses, generate_runs
from ptxkit.verifier.integer_guesses import IntegerGuesses
from ptxkit.verifier.launch_inference import candidate_blocks, infer_plans, unspecified_parameters
from ptxkit.verifier.request import VerifyRequest
from ptxkit.verifier.tensormap_inference import infer_maps

CORPUS = Path(__file__).parents[2] / "corpus" / "rules"
KNOWN: dict[str, Any] = tomllib.loads(Path(__file__).with_name("rule_fixtures.toml").read_text(encoding="utf-8"))
UNSEEN, BESIDES = KNOWN["unseen"], KNOWN["besides"]
NOTES = "PTX9"
"""Rules about performance only."""

BUDGET = RunBudget(steps=50_000, seconds=10.0)


def fixtures(kind: str) -> list[Path]:
    return [each for each in sorted(CORPUS.glob(f"PTX*_{kind}_*.ptx")) if not each.name.startswith(NOTES)]


def code_of(path: Path) -> str:
    return path.name[:6]


def is_strict(path: Path) -> bool:
    """Returns whether the rule, or this case of it, belongs to the strict policy."""
    twins = CORPUS.glob(f"{code_of(path)}_bad_*.ptx") if "_ok_" in path.name else [path]
    return any("expect(strict)" in each.read_text(encoding="utf-8") for each in twins)


def outcomes(path: Path) -> Iterator[RunResult]:
    """Runs under each policy, with one CTA or cluster."""
    module = parse(path.read_text(encoding="utf-8"), str(path))
    for entry in (each for each in module.functions() if each.kind == "entry" and each.body is not None):
        program, request = Executable(module, entry.name, 0), VerifyRequest(schedules=len(POLICIES))
        program.decode_function(entry.name)
        flat = flatten(module, entry)
        blocks = candidate_blocks(entry, request, [step.instruction for step in flat.steps], LaunchEvidence())
        plan = infer_plans(entry, program, request, blocks)[0]
        maps = infer_maps(flat, unspecified_parameters(program, request))[0]
        runs = generate_runs(program, ParameterUses(pointer_parameters(flat)), request, maps, IntegerGuesses())
        first = OF_SET_FLAGS if code_of(path) == "PTX406" else 0
        for trial in islice(runs, first, first + request.schedules):
            yield run(
                module,
                entry.name,
                grid=plan.grid if code_of(path) in OF_A_GRID else plan.cluster,
                block=plan.block,
                cluster=plan.cluster,
                shared=plan.shared,
                arguments=trial.arguments,
                policy=trial.policy,
                seed=trial.seed,
                budget=BUDGET,
                strict=is_strict(path),
            )


OF_A_GRID = {"PTX622", "PTX623", "PTX624"}
"""Codes of faults that occur only between CTAs that are not in a cluster."""

OF_SET_FLAGS = len(POLICIES)
"""Returns the first run in which initial memory is not zero: no other kernel sets flags here."""


def is_seen(path: Path) -> bool:
    return path.stem not in UNSEEN and code_of(path) not in UNSEEN


@pytest.mark.parametrize("path", [each for each in fixtures("bad") if is_seen(each)], ids=lambda path: path.stem)
def test_a_fault_is_found_under_its_own_code(path: Path) -> None:
    assert any(finding.code == code_of(path) for outcome in outcomes(path) for finding in outcome.findings)


@pytest.mark.parametrize("path", fixtures("ok"), ids=lambda path: path.stem)
def test_a_correct_program_has_no_findings_under_any_policy(path: Path) -> None:
    besides = BESIDES.get(path.stem) or BESIDES.get(code_of(path)) or {"codes": []}
    for outcome in outcomes(path):
        assert not outcome.unsupported_reason
        found = [f"{each.code} {each.line} {each.message}" for each in outcome.findings]
        assert not [each for each in found if each[:6] not in besides["codes"]]


def test_listed_fixtures_exist() -> None:
    names = {each.stem for each in (*fixtures("bad"), *fixtures("ok"))} | {code_of(each) for each in fixtures("bad")}
    assert names >= UNSEEN.keys()
    assert names >= BESIDES.keys()
