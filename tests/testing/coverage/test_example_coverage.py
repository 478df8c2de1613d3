"""The forms, rules and branches that examples reached, and those that they did not reach."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from ptxkit.isa import table
from ptxkit.testing.coverage.example_coverage import (
    ExampleCoverage,
    available_values,
    branch_lines,
    find_missed_branches,
    find_missed_forms,
    find_missed_rules,
    find_missed_values,
    traced_files,
)
from ptxkit.testing.differential.campaign import form_label
from tests.testing.oracles.test_assertions import DOUBLE

ROOT = Path(__file__).resolve().parent.parent.parent.parent

SOURCE = """
def f(x):
    if x:
        return 1
    elif x is None:
        x = 2
    else:
        x = 3
    for each in x:
        while each:
            pass
    match x:
        case 1:
            x = 4
        case _:
            x = 5
    try:
        x = 6
    except ValueError:
        x = 7
if TYPE_CHECKING:
    import os
"""


def test_the_arms_of_a_source_are_its_possible_branches() -> None:
    lines = SOURCE.splitlines()
    assert [lines[line - 1].strip() for line in branch_lines(SOURCE)] == [
        "return 1",
        "x = 2",
        "x = 3",
        "while each:",
        "pass",
        "x = 4",
        "x = 5",
        "x = 7",
    ]


def test_forms_and_values_of_a_text_are_counted() -> None:
    reached = ExampleCoverage()
    reached.add_text(DOUBLE)
    reached.add_text("this is no PTX")
    [shl] = [name for name in reached.forms if " shl." in name]
    assert reached.forms[shl] == 1
    assert reached.values[shl, "t", "b32"] == 1
    assert (shl, "t", ["b16", "b64"]) in [
        (name, slot, list(map(str, each))) for name, slot, each in find_missed_values(reached)
    ]
    missed = set(find_missed_forms(reached, lambda form: form.name in ("shl", "shr")))
    assert shl not in missed
    assert any(" shr." in name for name in missed)


def test_forms_of_whole_kernels_are_counted_separately() -> None:
    single, whole = ExampleCoverage(), ExampleCoverage()
    single.add_text(DOUBLE)
    whole.add_text(DOUBLE, is_whole=True)
    assert not single.kernel_forms
    assert whole.kernel_forms == set(whole.forms)


def test_only_values_that_a_version_and_a_target_have_can_be_missed() -> None:
    form = next(each for each in table().forms("st") if "<sem>.<sc>" in each.syntax)

    def had(version: tuple[int, int], target: str) -> set[str]:
        return {value for _, slot, value in available_values([form], version, target) if slot == "ss"}

    assert {"global", "shared::cluster"} <= had((8, 7), "sm_90a")
    assert {"global"} <= had((7, 1), "sm_80") <= {"global", "shared"}
    reached = ExampleCoverage()
    name = form_label(form)
    reached.forms[name] = 1
    missed = {value for _, _, values in find_missed_values(reached, {(name, "ss", "global")}) for value in values}
    assert missed == {"global"}


def test_rules_and_branches_are_counted() -> None:
    text = (ROOT / "corpus" / "kernels" / "bulk_add_one.sm_90.ptx").read_text("utf-8")
    right, wrong = ExampleCoverage(), ExampleCoverage()
    right.add_lint_result(text)
    wrong.add_lint_result("".join(line for line in text.splitlines(True) if "fence.proxy.async" not in line))
    assert "PTX401" in dict(find_missed_rules(right))
    assert "PTX401" not in dict(find_missed_rules(wrong))
    assert dict(find_missed_rules(wrong))["PTX705"] == "no generated kernel has tcgen05, which needs sm_100a"
    assert {name for name, _ in right.branch_lines} <= {
        path.relative_to(ROOT / "ptxkit").as_posix() for path in traced_files()
    }
    found = {line for name, line in wrong.branch_lines - right.branch_lines if name == "rules/ptx401_proxy_fence.py"}
    assert found
    missed = {(name, line) for name, line, _ in find_missed_branches(wrong)}
    assert not missed & wrong.branch_lines
    assert sys.gettrace() is None or "coverage" in sys.modules


def test_the_script_prints_holes_of_the_requested_kinds() -> None:
    kinds = ("--only", "forms", "--only", "rules")
    few = ("--instructions", "40", "--kernels", "1", "--seed", "6")
    command = [sys.executable, "scripts/isa_coverage", *few, *kinds]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    _, forms, rules = re.split(r"^\w+ that nothing reaches\n", done.stdout, flags=re.MULTILINE)
    assert "floating_point.isa:" in forms
    assert "PTX314" in rules
