"""Applies settings to a module: another `.version` or `.target`, and launches that its kernels do not declare.

Locations remain those of the text. Source: PTX ISA, "PTX Module Directives", "Performance-Tuning Directives: .reqntid",
".maxntid", "Cluster Dimension Directives: .reqnctapercluster".
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from math import prod
from typing import TYPE_CHECKING

from ptxkit.fast_dataclasses import replace
from ptxkit.mangled_names import short_name

if TYPE_CHECKING:
    from ptxkit.settings.model import KernelLaunch
    from ptxkit.syntax.tree import Function, Item, Module


class LaunchConflictError(ValueError):
    """The settings have a launch for a kernel by its name that the kernel does not allow."""


def apply_launches(module: Module, launches: Sequence[KernelLaunch]) -> Module:
    """Returns the module whose kernels declare the launches that match their names; the last match is used.

    Raises LaunchConflictError if a launch that names its kernel contradicts it. A launch for many kernels is ignored
    for a kernel that it contradicts.
    """
    from ptxkit.syntax.tree import Function

    return replace(
        module,
        items=tuple(
            _apply_launches(item, launches) if isinstance(item, Function) and item.kind == "entry" else item
            for item in module.items
        ),
    )


def launch_matches(launch: KernelLaunch, kernel: str) -> bool:
    """Returns whether a launch is for the kernel of that name: by the name, its short form, or a pattern for it."""
    return launch.kernel is None or launch.kernel in (kernel, short_name(kernel)) or fnmatchcase(kernel, launch.kernel)


def _apply_launches(function: Function, launches: Sequence[KernelLaunch]) -> Function:
    for launch in reversed(launches):
        if launch_matches(launch, function.name):
            conflict = _launch_conflict(function, launch)
            if conflict is None:
                return _declare_launch(function, launch)
            if launch.kernel == function.name:
                raise LaunchConflictError(conflict)
    return function


def _launch_conflict(function: Function, launch: KernelLaunch) -> str | None:
    """Returns why the kernel cannot be launched with this geometry, or None."""
    from ptxkit.syntax.launch_extents import launch_extents

    required, most = launch_extents(function, "reqntid"), launch_extents(function, "maxntid")
    cluster = launch_extents(function, "reqnctapercluster")
    asked = f"the launch `{launch.text}` of {function.name}"
    if launch.block is not None and required is not None and launch.block != required:
        return f"{asked} contradicts its `.reqntid {_format_extents(required)}`"
    if launch.block is not None and most is not None and prod(launch.block) > prod(most):
        return f"{asked} has more threads than its `.maxntid {_format_extents(most)}` allows"
    if launch.cluster is not None and cluster is not None and launch.cluster != cluster:
        return f"{asked} contradicts its `.reqnctapercluster {_format_extents(cluster)}`"
    return None


def _declare_launch(function: Function, launch: KernelLaunch) -> Function:
    from ptxkit.syntax.tree import Directive

    kept = list(function.directives)
    for name, extents in (("reqntid", launch.block), ("reqnctapercluster", launch.cluster)):
        if extents is not None:
            kept = [each for each in kept if each.name != name]
            kept.append(Directive(name, tuple(map(str, extents))))
    return replace(function, directives=tuple(kept))


def _format_extents(extents: tuple[int, int, int]) -> str:
    return ", ".join(map(str, extents))


def override_heading(module: Module, target: str | None, version: tuple[int, int] | None) -> Module:
    """Returns the module with this target and version in its heading; options such as `texmode_independent` are kept.

    A missing heading remains missing, which is a separate finding.
    """
    return replace(module, items=tuple(_override_directive(item, target, version) for item in module.items))


def _override_directive(item: Item, target: str | None, version: tuple[int, int] | None) -> Item:
    from ptxkit.syntax.tree import Directive

    if isinstance(item, Directive) and item.name == "target" and target is not None:
        options = tuple(word for word in item.words if not word.startswith(("sm_", "compute_")))
        return replace(item, words=(target, *options))
    if isinstance(item, Directive) and item.name == "version" and version is not None:
        return replace(item, words=(f"{version[0]}.{version[1]}",))
    return item
