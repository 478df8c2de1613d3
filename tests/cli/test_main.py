"""The group of commands: version, help, and the messages for unknown names."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import click
import numpy
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


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_the_help_lists_every_option_in_exactly_one_group_and_fits_80_columns(ptxkit: Run, name: str) -> None:
    command = cli.commands[name]
    assert isinstance(command, GroupedOptionsCommand)
    with cli.make_context("ptxkit", [name]) as context:
        options = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    names = [max(each.opts, key=len) for each in options]
    assert sorted(names) == sorted(name for group in command.option_groups.values() for name in group)
    shown = ptxkit(name, "--help").stdout
    headings = re.findall(r"^(\S.*):$", shown, re.MULTILINE)
    examples = ["Examples"] if command.examples else []
    assert headings == [*command.option_groups, *examples, "Exit status"]
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    assert set(command.exit_statuses) >= {0, 2}


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_option_with_a_value_has_its_own_metavar(name: str) -> None:
    options = [each for each in cli.commands[name].params if isinstance(each, click.Option) and not each.is_flag]
    shown = {each.opts[0]: each.metavar or each.type.name.upper() for each in options}
    assert {
        option: word for option, word in shown.items() if word in ("TEXT", "INTEGER", "CHOICE", "PATH", "FILE")
    } == {option: word for option, word in shown.items() if option in _PLAIN_METAVARS.get(word, ())}


_PLAIN_METAVARS = {
    "FILE": ("--baseline", "--config"),
    "PATH": ("--stdin-filename",),
    "TEXT": ("--reason",),
}


@pytest.mark.parametrize("name", sorted(set(cli.commands) - {"lsp"}))
def test_every_example_is_a_valid_command_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build").mkdir()
    numpy.save(tmp_path / "in.npy", numpy.zeros(8))
    command = cli.commands[name]
    assert isinstance(command, GroupedOptionsCommand)
    assert command.examples
    for line, _ in command.examples:
        words = shlex.split(line.rpartition("| ")[2])
        assert words[:2] == ["ptxkit", command.name]
        command.make_context(name, words[2:])


def test_the_help_of_all_commands_is_listed_under_headings(ptxkit: Run) -> None:
    shown = ptxkit("--help").stdout
    listed = re.findall(r"^  (\w+) {2,}\S", shown, re.MULTILINE)
    assert sorted([*listed, "rule"]) == sorted(cli.commands)
    assert [line for line in shown.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_the_help_of_every_option_is_a_sentence(command: str) -> None:
    options = [each for each in cli.commands[command].params if isinstance(each, click.Option)]
    assert options
    texts = [each.help or "" for each in options]
    assert [text for text in texts if not re.fullmatch(r"(isa \(default\)|[A-Z]).*[.\]]", text, re.DOTALL)] == []


def test_an_unknown_command_suggests_the_nearest(ptxkit: Run) -> None:
    result = ptxkit("lnit", "k.ptx")
    assert result.exit_code == 2
    assert "did you mean `lint`?" in result.output


def test_a_file_in_place_of_a_command_suggests_how_to_lint_it(ptxkit: Run, tmp_path: Path) -> None:
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
    assert "did you mean `mbarrier.init`?" in result.output


def test_explain_prints_the_page_of_every_code_in_its_list(ptxkit: Run) -> None:
    listed = [line.split() for line in ptxkit("explain").stdout.splitlines()]
    assert ["PTX401", "missing-proxy-fence"] in listed
    for code, name in listed:
        page = ptxkit("explain", code.lower())
        assert page.exit_code == 0
        for part in (code, name, "What it does", "Why it matters", "Use instead", "ISA section"):
            assert part in page.stdout, f"{code} says nothing of {part!r}"
        assert ptxkit("explain", name).stdout == page.stdout


def test_rule_is_another_name_of_explain(ptxkit: Run) -> None:
    assert ptxkit("rule", "PTX401").stdout == ptxkit("explain", "PTX401").stdout
    assert "PTX401" in ptxkit("rule").stdout


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("PTX41", "did you mean `PTX401`?"),
        ("ptx4o1", "did you mean `PTX401`?"),
        ("missing-proxy-fense", "did you mean `missing-proxy-fence`?"),
        ("E", "`ptxkit explain` lists them"),
    ],
)
def test_explain_suggests_the_nearest_code(ptxkit: Run, code: str, remedy: str) -> None:
    result = ptxkit("explain", code)
    assert (result.exit_code, result.stderr) == (
        2,
        f"ptxkit: error: there is no code `{code}`\n  = help: {remedy}\n",
    )


def test_the_summary_of_a_command_is_the_first_sentence_of_its_help(ptxkit: Run) -> None:
    """The list of commands is written separately, so it is compared with the first sentence of each help."""
    listed = dict(re.findall(r"^  (\w+) {2,}(\S[^\n]*)", ptxkit("--help").stdout, re.MULTILINE))
    for name, summary in listed.items():
        first = (cli.commands[name].help or "").split()[0]
        assert summary.split()[0] == first, name
