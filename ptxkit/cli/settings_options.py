"""The command-line options for the settings of `[tool.ptxkit]`, and the settings layer that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.lint_options import COMMAND_LINE
from ptxkit.cli.usage_errors import BadValueError
from ptxkit.cli.value_types import WordChoice
from ptxkit.refusal import RefusedError
from ptxkit.settings import parsers
from ptxkit.settings.model import POLICIES, ConfigLayer

_Command = TypeVar("_Command", bound=Callable[..., Any])


class SettingParam(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases only
    """A value that a function of `ptxkit.settings.parsers` parses; `several` accepts a list separated by commas."""

    def __init__(self, read: Callable[[str], object], name: str, *, several: bool = False) -> None:
        self.name, self._read, self._several = name, read, several

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        """The value. Raises BadValueError."""
        if not isinstance(value, str):
            return value
        try:
            if self._several:
                return tuple(self._read(part.strip()) for part in value.split(",") if part.strip())
            return self._read(value)
        except RefusedError as error:
            raise BadValueError.of(error) from error


launch_option = click.option(
    "--launch",
    type=SettingParam(parsers.parse_launch, "LAUNCH"),
    multiple=True,
    help="Launch geometry of a kernel to assume: k:block=16x8,cluster=2. Without a name: of all kernels (repeatable).",
)
_FILE_OPTIONS = (
    click.option(
        "--config", metavar="FILE", shell_complete=shell_completion.complete_paths, help="Use only this settings file."
    ),
    click.option("--isolated", is_flag=True, help="Ignore all settings files."),
)
_CODES = SettingParam(parsers.parse_code_prefix, "CODES", several=True)
_RULE_OPTIONS = (
    click.option(
        "--select",
        type=_CODES,
        multiple=True,
        shell_complete=shell_completion.complete_codes,
        help="Report only these codes.",
    ),
    click.option(
        "--extend-select",
        type=_CODES,
        multiple=True,
        shell_complete=shell_completion.complete_codes,
        help="Also report these codes.",
    ),
    click.option(
        "--ignore",
        type=SettingParam(parsers.parse_ignored_prefix, "CODES", several=True),
        shell_complete=shell_completion.complete_codes,
        multiple=True,
        help="Do not report these codes.",
    ),
    click.option(
        "--severity",
        type=SettingParam(parsers.parse_code_severity, "CODE=LEVEL"),
        multiple=True,
        help="Set the severity of a code: error, warning or note.",
    ),
    click.option(
        "--policy",
        type=WordChoice(POLICIES),
        metavar="POLICY",
        help="isa (default): report what the PTX ISA manual forbids. strict: also warn where the manual is silent and "
        "the published memory model does not allow the behavior.",
    ),
    click.option(
        "--notes",
        is_flag=True,
        default=None,
        help="Also report redundant synchronization (PTX9xx).",
    ),
    click.option(
        "--effort",
        type=SettingParam(parsers.parse_effort, "EFFORT"),
        help="Limits of the analysis, counted in steps: low, normal (default), high, or a factor such as 2.",
    ),
    click.option(
        "--baseline",
        metavar="FILE",
        shell_complete=shell_completion.complete_paths,
        help="Do not report the findings listed in this file.",
    ),
)
_HEADING_OPTIONS = (
    click.option(
        "--target",
        type=SettingParam(parsers.parse_target_name, "SM"),
        shell_complete=shell_completion.complete_targets,
        help="Check against this target instead of the .target of the module.",
    ),
    click.option(
        "--ptx-version",
        type=SettingParam(parsers.parse_version, "X.Y"),
        help="Check against this PTX version instead of the .version of the module.",
    ),
)
_OPTIONS = (*_RULE_OPTIONS, *_HEADING_OPTIONS, launch_option, *_FILE_OPTIONS)

RULE_NAMES = ("--select", "--extend-select", "--ignore", "--severity", "--policy", "--notes", "--effort", "--baseline")
"""The options of `settings_options` that select and grade rules, and limit their work."""
MODULE_NAMES = ("--target", "--ptx-version", "--launch")
"""Those that replace what a module declares."""
CONFIGURATION_NAMES = ("--config", "--isolated")
"""Those about settings files."""


def settings_options(command: _Command) -> _Command:
    """Adds `--select`, `--ignore` and the other options for settings to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_options(command: _Command) -> _Command:
    """Adds the same without `--target` and `--ptx-version`, to a command that does not change what modules declare."""
    for option in reversed((*_RULE_OPTIONS, launch_option, *_FILE_OPTIONS)):
        command = option(command)
    return command


def settings_file_options(command: _Command) -> _Command:
    """Adds `--config` and `--isolated` to a command."""
    for option in reversed(_FILE_OPTIONS):
        command = option(command)
    return command


def layer_of(given: Mapping[str, Any]) -> ConfigLayer:
    """The settings layer of the options."""
    return ConfigLayer(
        COMMAND_LINE,
        select=_flatten(given["select"]) if given["select"] else None,
        extend_select=_flatten(given["extend_select"]),
        ignore=_flatten(given["ignore"]),
        severity=tuple(given["severity"]),
        policy=given["policy"],
        notes=given["notes"],
        effort=given["effort"],
        target=given.get("target"),
        ptx_version=given.get("ptx_version"),
        launch=tuple(given["launch"]),
        baseline=given["baseline"],
    )


def _flatten(lists: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(code for each in lists for code in each)
