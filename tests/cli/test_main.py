"""The group of commands: version, help, and what is said of unknown things."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

from ptxkit import __version__
from ptxkit.cli.commands import cli
from ptxkit.cli.option_groups import GroupedOptionsCommand
from tests.cli.support import shell

Run = Callable[..., Result]


def test_the_version_is_the_packages(ptxkit: Run) -> None:
    assert ptxkit("--version").stdout == f"ptxkit {__version__}\n"


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_every_command_has_help(ptxkit: Run, command: str) -> None:
    result = ptxkit(command, "--help")
    assert result.exit_code == 0
    assert command in result.stdout
    assert command in ptxkit("--help").stdout


def test_the_help_of_lint_lists_every_option_in_exactly_one_group(ptxkit: Run) -> None:
    lint = cli.commands["lint"]
    assert isinstance(lint, GroupedOptionsCommand)
    with cli.make_context("ptxkit", ["lint"]) as context:
        options = [each for each in lint.get_params(context) if isinstance(each, click.Option)]
    names = [max(each.opts, key=len) for each in options]
    assert sorted(names) == sorted(name for group in lint.option_groups.values() for name in group)
    headings = re.findall(r"^(\S.*):$", ptxkit("lint", "--help").stdout, re.MULTILINE)
    assert headings == list(lint.option_groups)
    assert {"Rule selection", "File selection", "Output", "Fixing", "Performance"} <= set(headings)


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_the_help_of_every_option_is_a_sentence(command: str) -> None:
    options = [each for each in cli.commands[command].params if isinstance(each, click.Option)]
    assert options
    texts = [each.help or "" for each in options]
    assert [text for text in texts if not re.fullmatch(r"(isa \(default\)|[A-Z]).*[.\]]", text, re.DOTALL)] == []


def test_an_unknown_command_suggests_the_nearest(ptxkit: Run) -> None:
    result = ptxkit("lnit", "k.ptx")
    assert result.exit_code == 2
    assert "Did you mean 'lint'?" in result.output


def test_a_file_in_place_of_a_command_is_told_how_to_lint_it(ptxkit: Run, tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text("")
    result = ptxkit(path)
    assert result.exit_code == 2
    assert f"ptxkit lint {path}" in result.output


def test_no_command_prints_the_help_and_exits_with_2() -> None:
    done = shell()
    assert done.returncode == 2
    assert b"lint" in done.stdout + done.stderr


def test_isa_prints_the_forms_of_an_instruction(ptxkit: Run) -> None:
    result = ptxkit("isa", "mbarrier.init")
    assert result.exit_code == 0
    assert "mbarrier.init" in result.stdout


def test_isa_prints_json_too(ptxkit: Run) -> None:
    document = json.loads(ptxkit("isa", "--format", "json", "mbarrier.init").stdout)
    assert document["version"] == 1
    assert document["forms"]


def test_isa_prints_the_whole_table_as_json(ptxkit: Run) -> None:
    document = json.loads(ptxkit("isa", "--json").stdout)
    assert {form["name"] for form in document["forms"]} >= {"add", "mbarrier", "wgmma"}
    assert ptxkit("isa", "--json").stdout == ptxkit("isa", "--format", "json").stdout
    assert json.loads(ptxkit("isa", "--json", "mbarrier.init").stdout)["forms"]
    assert ptxkit("isa", "--json", "nosuch").exit_code == 2


def test_isa_without_an_opcode_lists_the_instructions(ptxkit: Run) -> None:
    assert {"add", "mbarrier", "wgmma"} <= set(ptxkit("isa").stdout.split())


def test_isa_suggests_the_nearest_name(ptxkit: Run) -> None:
    result = ptxkit("isa", "mbarier.init")
    assert result.exit_code == 2
    assert "Did you mean 'mbarrier.init'?" in result.output


def test_rule_prints_the_page_of_every_rule_in_its_list(ptxkit: Run) -> None:
    listed = [line.split() for line in ptxkit("rule").stdout.splitlines()]
    assert ["PTX401", "missing-proxy-fence"] in listed
    for code, name in listed:
        page = ptxkit("rule", code.lower())
        assert page.exit_code == 0
        for part in (code, name, "What it does", "Why it matters", "Use instead", "ISA section"):
            assert part in page.stdout, f"{code} says nothing of {part!r}"
        assert ptxkit("rule", name).stdout == page.stdout


def test_rule_suggests_the_nearest_code(ptxkit: Run) -> None:
    result = ptxkit("rule", "PTX41")
    assert result.exit_code == 2
    assert "Did you mean 'PTX401'?" in result.output
