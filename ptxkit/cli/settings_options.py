"""The options that say what `[tool.ptxkit]` can say, and the level of settings that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.lint_options import COMMAND_LINE
from ptxkit.settings import parsers
from ptxkit.settings.model import POLICIES, ConfigLayer

_Command = TypeVar("_Command", bound=Callable[..., Any])


class SettingParam(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases only
    """A value that a reader of `ptxkit.settings.parsers` understands; `several` take a list with commas."""

    def __init__(self, read: Callable[[str], object], name: str, *, several: bool = False) -> None:
        self.name, self._read, self._several = name, read, several

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            if self._several:
                return tuple(self._read(part.strip()) for part in value.split(",") if part.strip())
            return self._read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


launch_option = click.option(
    "--launch",
    type=SettingParam(parsers.parse_launch, "KERNEL:block=X,cluster=Y"),
    multiple=True,
    help="Take the geometry of a kernel as given: k:block=16x8,cluster=2; without a name, of all kernels.",
)
_CODES = SettingParam(parsers.parse_code_prefix, "CODE,...", several=True)
_OPTIONS = (
    click.option(
        "--select",
        type=_CODES,
        multiple=True,
        shell_complete=shell_completion.complete_codes,
        help="Report these codes only.",
    ),
    click.option(
        "--extend-select",
        type=_CODES,
        multiple=True,
        shell_complete=shell_completion.complete_codes,
        help="Report these codes, too.",
    ),
    click.option(
        "--ignore",
        type=SettingParam(parsers.parse_ignored_prefix, "CODE,...", several=True),
        shell_complete=shell_completion.complete_codes,
        multiple=True,
        help="Report all but these.",
    ),
    click.option(
        "--severity",
        type=SettingParam(parsers.parse_code_severity, "CODE=LEVEL"),
        multiple=True,
        help="Call findings of a code error, warning or note.",
    ),
    click.option(
        "--policy",
        type=click.Choice(POLICIES),
        help="isa (default): report what the text of the ISA forbids. strict: where it is silent, report as a warning "
        "too what the published memory model does not allow.",
    ),
    click.option(
        "--notes",
        is_flag=True,
        default=None,
        help="Say, too, what is there in vain: fences that order nothing, and the like.",
    ),
    click.option(
        "--target",
        type=SettingParam(parsers.parse_target_name, "SM"),
        shell_complete=shell_completion.complete_targets,
        help="Check against this target, not the module's own.",
    ),
    click.option(
        "--version",
        type=SettingParam(parsers.parse_version, "PTX"),
        help="Check against this version of PTX, not the module's.",
    ),
    launch_option,
    click.option(
        "--baseline", type=click.Path(dir_okay=False), metavar="FILE", help="Report no finding that stands there."
    ),
    click.option("--config", type=click.Path(dir_okay=False), metavar="FILE", help="Use this settings file alone."),
    click.option("--isolated", is_flag=True, help="Use no settings file."),
)


def settings_options(command: _Command) -> _Command:
    """Adds `--select`, `--ignore` and the like."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def layer_of(given: Mapping[str, Any]) -> ConfigLayer:
    """The level that the options make."""
    return ConfigLayer(
        COMMAND_LINE,
        select=_flatten(given["select"]) if given["select"] else None,
        extend_select=_flatten(given["extend_select"]),
        ignore=_flatten(given["ignore"]),
        severity=tuple(given["severity"]),
        policy=given["policy"],
        notes=given["notes"],
        target=given["target"],
        version=given["version"],
        launch=tuple(given["launch"]),
        baseline=given["baseline"],
    )


def _flatten(lists: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(code for each in lists for code in each)
