"""Settings as data: the levels, and their combination.

A level is one settings file or the command line. This module reads no files and does not know the codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.fast_dataclasses import dataclass

Policy: TypeAlias = Literal["isa", "strict"]
"""`isa`: report what the text of the ISA forbids. `strict`: if the text leaves something open, also report, as
warnings, what the published mixed-proxy memory model, extended with the async proxy, does not allow.
"""

POLICIES: tuple[Policy, ...] = get_args(Policy)

EFFORTS: Mapping[str, float] = {"low": 0.25, "normal": 1.0, "high": 4.0}
"""The names of factors of the limits, which are counts of steps and so the same on each computer."""

ALWAYS_ENABLED = (ptx1xx.NO_VERDICT, ptx1xx.SYNTAX_ERROR)
"""Codes that no setting disables or lowers: after them nothing was checked, and without them the file would seem
clean.
"""

ON_REQUEST = "PTX9"
"""Codes that are disabled by default: notes about redundant instructions."""


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """The assumed launch geometry of kernels whose names match `kernel` (a pattern with `*`; None: all).

    block: threads of a CTA; cluster: CTAs of a cluster; None if it is not given. text: as it was written.
    """

    kernel: str | None
    block: tuple[int, int, int] | None
    cluster: tuple[int, int, int] | None
    text: str


@dataclass(frozen=True, slots=True)
class ConfigLayer:
    """The settings of one place; None and empty for those that it does not give. origin: the file's path, or `command
    line`.

    folder: the folder to which `per_file_ignores` and `baseline` are relative. Codes are prefixes: `PTX4` is all of
    PTX4xx.
    """

    origin: str
    folder: str = "."
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    policy: Policy | None = None
    notes: bool | None = None
    effort: float | None = None
    target: str | None = None
    ptx_version: tuple[int, int] | None = None
    launch: tuple[KernelLaunch, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    baseline: str | None = None


@dataclass(frozen=True, slots=True)
class CodeSelection:
    """The codes that one level enables and disables. `chosen` is None if it modifies the choice of the level below."""

    select: tuple[str, ...] | None
    extend: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def is_enabled(self, code: str, before: bool) -> bool:
        """Returns whether the code is enabled after this level: the longest prefix decides, and of equal ones the
        ignored one.
        """
        on = _longest_prefix(code, (*(self.select or ()), *self.extend))
        off = _longest_prefix(code, self.ignore)
        if on < 0 and off < 0:
            return before and self.select is None
        return on > off


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one input file, combined from all levels.

    effort: the factor of the limits of the analysis and of runs. target, ptx_version: to check against instead of the
    module's own `.target` and `.version`. launches: the last one that matches a kernel is used. baseline: the path of
    the file of known findings.
    """

    selections: tuple[CodeSelection, ...] = ()
    severities: tuple[tuple[str, Severity], ...] = ()
    policy: Policy = "isa"
    notes: bool = False
    effort: float = EFFORTS["normal"]
    target: str | None = None
    ptx_version: tuple[int, int] | None = None
    launches: tuple[KernelLaunch, ...] = ()
    baseline: str | None = None

    @classmethod
    def of(cls, levels: Sequence[ConfigLayer], *names: str | None) -> Settings:
        """Combines levels for the input of these names; later ones override earlier ones.

        names: its path, and for a text inside another file also the path to it: `foo.whl!foo/k.ptx`.
        """
        choices = [CodeSelection(level.select, level.extend_select, level.ignore) for level in levels]
        here = tuple(
            dict.fromkeys(code for level in levels for name in names for code in _per_file_ignores(level, name))
        )
        if here:
            choices.append(CodeSelection(None, (), here))
        return cls(
            selections=tuple(each for each in choices if each != CodeSelection(None)),
            severities=tuple(item for level in levels for item in level.severity),
            policy=next((level.policy for level in reversed(levels) if level.policy is not None), "isa"),
            notes=next((level.notes for level in reversed(levels) if level.notes is not None), False),
            effort=next((level.effort for level in reversed(levels) if level.effort is not None), EFFORTS["normal"]),
            target=next((level.target for level in reversed(levels) if level.target is not None), None),
            ptx_version=next((level.ptx_version for level in reversed(levels) if level.ptx_version is not None), None),
            launches=tuple(launch for level in levels for launch in level.launch),
            baseline=next((level.baseline for level in reversed(levels) if level.baseline is not None), None),
        )

    def is_enabled(self, code: str) -> bool:
        """Returns whether findings and questions of that code are reported."""
        on = self.notes or not code.startswith(ON_REQUEST)
        for choice in self.selections:
            on = choice.is_enabled(code, on)
        return on or code in ALWAYS_ENABLED

    def severity(self, code: str, own: Severity) -> Severity:
        """Returns the severity of findings of that code, `own` by default: the longest prefix decides, then the last
        one.
        """
        if code in ALWAYS_ENABLED:
            return own
        fitting = [(len(prefix), place) for place, (prefix, _) in enumerate(self.severities) if code.startswith(prefix)]
        return self.severities[max(fitting)[1]][1] if fitting else own


DEFAULT = Settings()


def _longest_prefix(code: str, prefixes: Sequence[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)


def _per_file_ignores(level: ConfigLayer, path: str | None) -> tuple[str, ...]:
    if path is None or not level.per_file_ignores:
        return ()
    from ptxkit.settings.globs import matches  # which compiles regular expressions

    return tuple(
        code for pattern, codes in level.per_file_ignores for code in codes if matches(path, pattern, level.folder)
    )
