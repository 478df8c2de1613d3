"""Kernels and device functions of the builder, as those see them that compile, link and launch them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias, TypeGuard, runtime_checkable

from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.scalar_types import Scalar
from ptxkit.kernel_model.source_lines import Assembled
from ptxkit.kernel_model.tensor_form import TensorForm
from ptxkit.syntax import tree

Extents: TypeAlias = int | tuple[int, ...]
"""One to three extents of a grid, a CTA or a cluster; those left out are 1."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter.

    `space` is the state space that it points into, None for a value, and `alignment` is that of what it points to, in
    bytes. `tensor` says what a tensor map, passed by value, must be like.
    """

    name: str
    type: type[Scalar]
    space: str | None = None
    alignment: int = 1
    tensor: TensorForm | None = None


@runtime_checkable
class BuiltRoutine(Protocol):
    """A kernel or a device function of the builder."""

    name: str
    debug: bool

    @property
    def is_kernel(self) -> bool:
        """Whether it is a kernel, and so a `BuiltKernel`."""
        ...

    def assembled(self) -> Assembled:
        """The module with the routine and the functions that it calls."""
        ...

    def store_selections(self) -> None:
        """Keeps for later processes which forms were selected for the instructions."""
        ...


class BuiltKernel(BuiltRoutine, Protocol):
    """A kernel of the builder, with what its launches are checked against."""

    parameters: list[Parameter]
    threads: tuple[int, int, int] | None
    cluster: tuple[int, int, int] | None

    @property
    def dynamic_bytes(self) -> int:
        """The launch-sized shared memory that a launch must give, at least."""
        ...

    def launch(
        self,
        stream: object = None,
        *,
        grid: Extents,
        block: Extents | None = None,
        cluster: Extents | None = None,
        shared: int | None = None,
    ) -> Callable[..., None]:
        """The kernel with a geometry, to be called with the arguments."""
        ...

    def iterate_instructions(self) -> Iterator[tree.Instruction]:
        """The instructions that it has so far."""
        ...


def is_built_kernel(source: object) -> TypeGuard[BuiltKernel]:
    """Whether something is a kernel of the builder."""
    return isinstance(source, BuiltRoutine) and source.is_kernel
