"""The request of a verification: the kernels, the launch, and the limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.emulator import InvalidLaunchError
from ptxkit.emulator.engine.launch_args import to_dim3
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.linter import Policy
from ptxkit.mangled_names import distinct_short_names, names_meant
from ptxkit.settings.model import DEFAULT, KernelLaunch, Settings

if TYPE_CHECKING:
    from ptxkit.syntax.tree import Function, Module
    from ptxkit.verifier.argument_parser import ArgumentSpec

Shape: TypeAlias = tuple[int, ...]
"""One to three extents: x, y, z."""


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """The kernels to verify, and their runs.

    entries: the kernels to run; empty for all. schedules: the number of runs of each. seed: the seed of all random
    decisions. seconds: the limit of processor time for each kernel; None: only steps are limited, by the effort of the
    settings, so that the verdict is the same on each computer. grid, block, cluster, shared (bytes), arguments (by
    what `find_parameter` takes): None, or absent, where they are chosen. trace: whether traces of the
    machine's findings are recorded. settings: what is reported, and how; its policy is ignored in favor of the one
    here.
    """

    entries: tuple[str, ...] = ()
    schedules: int = 20
    seed: int = 0
    policy: Policy = "isa"
    seconds: float | None = None
    grid: Shape | None = None
    block: Shape | None = None
    cluster: Shape | None = None
    shared: int | None = None
    arguments: Mapping[str, ArgumentSpec] = field(default_factory=dict)
    trace: bool = False
    settings: Settings = DEFAULT

    def lint_settings(self) -> Settings:
        """Returns settings by which the rules assume the launch of the runs, unless they have launches."""
        settings = replace(self.settings, policy=self.policy)
        if settings.launches or (self.block is None and self.cluster is None):
            return settings
        block, cluster = (
            None if shape is None else to_dim3(shape, name)
            for name, shape in (("block", self.block), ("cluster", self.cluster))
        )
        names = self.entries or (None,)
        return replace(settings, launches=tuple(KernelLaunch(name, block, cluster, "") for name in names))

    def select_kernels(self, module: Module) -> list[Function]:
        """Returns the kernels of a module that are to be run. Raises InvalidLaunchError where a name denotes none."""
        kernels = {each.name: each for each in module.functions() if each.kind == "entry" and each.body is not None}
        chosen = []
        for name in self.entries:
            meant = names_meant(name, kernels)
            if not meant:
                known = ", ".join(f"`{each}`" for each in distinct_short_names(kernels)) or "none"
                raise InvalidLaunchError(f"there is no kernel `{name}`; the kernels are {known}")
            chosen += meant
        return [kernels[name] for name in dict.fromkeys(chosen or kernels)]
