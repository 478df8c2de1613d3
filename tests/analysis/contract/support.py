"""Shared by the tests of contracts: kernels of a few lines of PTX, their conditions, and runs of the machine."""

from __future__ import annotations

from typing import Any

from ptxkit.contract_survey import derive_contracts
from ptxkit.emulator import RunBudget, RunResult, run
from ptxkit.model.launch_contract import LaunchCondition, LaunchContract
from ptxkit.syntax import parse

_HEAD = """.version 8.6
.target sm_90a
.address_size 64
{before}
.visible .entry k({parameters})
{bounds}
{{
.reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<8>;
{body}
ret;
}}
"""


def text_of(body: str, *, parameters: str = "", bounds: str = ".reqntid 32", before: str = "") -> str:
    """A module with one kernel `k` of that body."""
    return _HEAD.format(body=body, parameters=parameters, bounds=bounds, before=before)


def contract_of(text: str) -> LaunchContract:
    """The contract of the only kernel of a text."""
    [contract] = derive_contracts(parse(text, "k.ptx"))
    return contract


def conditions_of(text: str) -> list[LaunchCondition]:
    """The conditions that the module does not declare."""
    return list(contract_of(text).undeclared)


def sentences_of(text: str) -> list[str]:
    return [each.sentence for each in conditions_of(text)]


def run_kernel(text: str, *arguments: Any, **launch: Any) -> RunResult:
    """Runs the kernel of a text on the reference machine; a run that does not end is incomplete."""
    given = {"grid": 1, "block": 32, **launch}
    return run(parse(text, "k.ptx"), "k", arguments=list(arguments), budget=RunBudget(seconds=60), **given)
