"""Kernels and device functions of the builder, as the code that compiles, links and launches them uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias, TypeGuard, runtime_checkable

from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.scalar_types import Scalar
from ptxkit.kernel_model.source_lines import Assembled
from ptxkit.kernel_model.tensor_form import TensorForm
from ptxkit.syntax import tree

Extents: TypeAlias = int | tuple[int, ...]
"""One to three extents of a grid, a CTA or a cluster; omitted extents are 1."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter.

    `space` is the state space into which it points, None for a value, and `alignment` is the alignment of its target in
    bytes. `tensor` is the required form of a tensor map that is passed by value.
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
        """Whether it is a kernel, and therefore a `BuiltKernel`."""
        ...

    def assemble(self) -> Assembled:
        """Returns the module with the routine and the functions that it calls."""
        ...

    def store_selections(self) -> None:
        """Stores the forms that were selected for the instructions, for later processes."""
        ...


class BuiltKernel(BuiltRoutine, Protocol):
    """A kernel of the builder, with the properties against which its launches are checked."""

    parameters: list[Parameter]
    threads: tuple[int, int, int] | None
    cluster: tuple[int, int, int] | None

    @property
    def dynamic_bytes(self) -> int:
        """The minimum launch-sized shared memory in bytes that a launch must provide."""
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
        """Returns the kernel with a geometry, which is called with the arguments."""
        ...

    def iterate_instructions(self) -> Iterator[tree.Instruction]:
        """Yields the instructions of the kernel so far."""
        ...


def is_built_kernel(source: object) -> TypeGuard[BuiltKernel]:
    """Returns whether something is a kernel of the builder."""
    return isinstance(source, BuiltRoutine) and source.is_kernel
