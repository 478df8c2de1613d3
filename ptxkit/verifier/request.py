"""What to verify, and how much of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.linter import Policy
from ptxkit.settings.model import DEFAULT, Settings

if TYPE_CHECKING:
    from ptxkit.verifier.argument_parser import ArgumentSpec

Shape: TypeAlias = tuple[int, ...]
"""One to three extents: x, y, z."""


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """entries: the kernels to run, none for all. schedules: runs of each. seed: of all that chance decides.

    grid, block, cluster, shared (bytes), arguments (by parameter name, or `#0` for the first): None, or absent, where
    they are to be chosen. seconds: of processor time, for each kernel. trace: whether findings of the machine are to be
    seen as pictures. settings: what is reported, and how; its policy is ignored in favour of the one here.
    """

    entries: tuple[str, ...] = ()
    schedules: int = 20
    seed: int = 0
    policy: Policy = "isa"
    seconds: float = 60.0
    grid: Shape | None = None
    block: Shape | None = None
    cluster: Shape | None = None
    shared: int | None = None
    arguments: Mapping[str, ArgumentSpec] = field(default_factory=dict)
    trace: bool = False
    settings: Settings = DEFAULT
