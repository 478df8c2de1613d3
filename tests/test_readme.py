"""The README says what is so: its finding, its codes, its tree, its Python."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest
from hypothesis import Phase, settings

import ptxkit
from ptxkit.cli.commands import cli
from ptxkit.rules import RULES
from tests.cli.support import BROKEN, shell

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")


DOUBLE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry double(.param .u64 data) {
.reg .b64 %d<3>; .reg .b32 %r<3>;
ld.param.u64 %d0, [data]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1;
ld.global.f32 %r1, [%d2]; add.rn.f32 %r2, %r1, %r1; st.global.f32 [%d2], %r2;
ret;
}
"""


def blocks(language: str) -> list[str]:
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for word, text in fences if word == language]


def test_the_finding_on_the_first_screen_is_what_the_command_prints(request: pytest.FixtureRequest) -> None:
    shown = blocks("")[0]
    command, _, expected = shown.partition("\n")
    removed, kernel = re.fullmatch(r"\$ sed /(\S+)/d (\S+) \| ptxkit lint -", command).groups()  # type: ignore[union-attr]
    text = "".join(
        line for line in (ROOT / kernel).read_text("utf-8").splitlines(keepends=True) if not re.search(removed, line)
    )
    done = shell("lint", "-", stdin=text.encode())
    assert done.returncode == 1
    printed = done.stdout.decode()
    if expected != printed and "fix" in (request.config.getoption("inline_snapshot") or ""):
        (ROOT / "README.md").write_text(README.replace(expected, printed), "utf-8")
        pytest.skip("README.md was rewritten")
    assert expected == printed


def test_the_kernel_of_the_first_screen_is_clean_with_its_fence() -> None:
    kernel = re.search(r"corpus/kernels/\S+\.ptx", README)
    assert kernel is not None
    assert shell("lint", ROOT / kernel[0]).returncode == 0


def test_every_code_is_in_the_table() -> None:
    table = {code for line in README.splitlines() if line.startswith("| PTX") for code in re.findall(r"PTX\d+", line)}
    sources = [path.read_text("utf-8") for path in (ROOT / "ptxkit").rglob("*.py")]
    used = {code for text in sources for code in re.findall(r'"(PTX\d{3})"', text)}
    assert {rule.code for rule in RULES} <= used
    assert used == table


def test_every_command_is_shown() -> None:
    assert {name for name in cli.commands if f"ptxkit {name}" not in README} == set()


def test_every_folder_of_the_package_is_in_the_tree() -> None:
    [tree] = [block for block in blocks("") if block.startswith("grammars/")]
    rooms = {path.parent.name for path in (ROOT / "ptxkit").glob("[a-z]*/__init__.py")}
    assert rooms
    assert {room for room in rooms if f"{room}/" not in tree} == set()
    named = re.findall(r"^ {0,2}([a-z_]+(?:\.py|/))", tree, re.MULTILINE)
    missing = [name for name in named if not (ROOT / name).exists() and not (ROOT / "ptxkit" / name).exists()]
    assert [name for name in missing if not (ROOT / "corpus" / name).exists()] == []


def test_the_json_schema_shown_has_the_keys_that_are_printed() -> None:
    [schema] = [block for block in blocks("") if block.startswith('{"version"')]
    document = json.loads(shell("lint", "--format", "json", "-", stdin=BROKEN.encode()).stdout)
    [file] = document["files"]
    [found] = file["diagnostics"]
    for part in (document, file, found, document["summary"]):
        assert [key for key in part if f'"{key}"' not in schema] == []


@pytest.mark.parametrize("number", [0, 1])
def test_the_tables_of_transfers_shown_are_what_the_command_prints(number: int, request: pytest.FixtureRequest) -> None:
    shown = [block for block in blocks("") if block.startswith("$ ptxkit transfers")][number]
    command, _, expected = shown.partition("\n")
    path, kernel = re.fullmatch(r"\$ ptxkit transfers (\S+)(?: \| sed -n '/\^(\w+)/,/\^\$/p')?", command).groups()  # type: ignore[union-attr]
    printed = shell("transfers", path, cwd=ROOT).stdout.decode()
    if kernel is not None:
        printed = next(part + "\n" for part in re.split(r"\n(?=\n|\Z)", printed) if part.strip().startswith(kernel))
        printed = printed.lstrip("\n")
    if expected != printed and "fix" in (request.config.getoption("inline_snapshot") or ""):
        (ROOT / "README.md").write_text(README.replace(expected, printed), "utf-8")
        pytest.skip("README.md was rewritten")
    assert expected == printed


def test_the_keys_of_a_transfer_shown_are_those_that_are_printed() -> None:
    [schema] = [block for block in blocks("") if block.startswith('{"line"')]
    path = ROOT / "corpus/compilers/nvcc/memcpy_async.sm_80.ptx"
    document = json.loads(shell("transfers", "--format", "json", path).stdout)
    [kernel] = [each for each in document["files"][0]["kernels"] if each["name"] == "tested"]
    row = next(row for row in kernel["transfers"] if row["waits"])
    for part in (row, row["completion"], row["waits"][0], row["choice"]):
        assert [key for key in part if f'"{key}"' not in schema] == []
    assert [key for key in (*document, *document["files"][0], *kernel) if f"{key}" not in README] == []


def shown_tests(**theirs: object) -> dict[str, Any]:
    """The tests of somebody's compiler, with that compiler."""
    [shown] = [text for text in blocks("python") if "ptxkit.testing" in text]
    namespace: dict[str, Any] = dict(theirs)
    settings.register_profile("few", max_examples=50, phases=[Phase.generate], derandomize=True, database=None)
    settings.load_profile("few")
    exec(shown, namespace)
    settings.load_profile("suite")
    return namespace


def test_the_test_shown_of_an_optimiser_passes_a_right_one_and_fails_a_wrong_one() -> None:
    printed_again = shown_tests(my_optimiser=lambda text: str(ptxkit.parse(text)))
    printed_again["test_my_optimiser_changes_no_result"]()
    wrong = shown_tests(my_optimiser=lambda text: text.replace("@!%pred", "@%pred"))
    with pytest.raises(AssertionError, match="bytes differ"):
        wrong["test_my_optimiser_changes_no_result"]()


def test_the_test_shown_of_a_generator_passes_or_is_skipped() -> None:
    shown = shown_tests(my_generator=lambda: DOUBLE)["test_my_generator_on_edges_of_f32"]
    with suppress(SkipTest):
        shown()


def test_the_python_shown_runs() -> None:
    first, second, *others = (text for text in blocks("python") if "ptxkit.testing" not in text)
    printed = io.StringIO()
    kernel = (ROOT / "corpus/kernels/bulk_add_one.sm_90.ptx").read_text("utf-8")
    with redirect_stdout(printed):
        exec(first, {"text": kernel})
        exec(second, {})
    for text in others:  # they need a GPU, or files
        compile(text, "README.md", "exec")
    assert ".entry bulk_add_one" in printed.getvalue()
    assert ".entry double" in printed.getvalue()
