"""What a kernel takes, as the launch checks it: from the builder's parameters or from a module's declarations."""

from __future__ import annotations

from math import prod

from ptxkit.build import Kernel, Parameter
from ptxkit.build.tensormap import BYTES, TensorForm
from ptxkit.isa.functions import bits
from ptxkit.records import dataclass
from ptxkit.syntax import tree
from ptxkit.syntax.extents import extents


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter. type: its PTX word, None for a block of `size` bytes. space: what it points into, if it
    does.

    element: type of what it points to, where known. alignment: bytes, of what it points to. tensor: what a tensor map
    must be like, where a kernel says so.
    """

    name: str
    type: str | None
    space: str | None = None
    element: str | None = None
    alignment: int = 1
    size: int | None = None
    tensor: TensorForm | None = None


@dataclass(frozen=True, slots=True)
class Signature:
    """A kernel as its launch sees it.

    threads: the CTA that it demands, None for any. cluster: the cluster that it is compiled for, None for any or none.
    dynamic_shared: the least launch-sized shared memory, in bytes.
    """

    name: str
    arguments: tuple[Argument, ...]
    threads: tuple[int, int, int] | None = None
    dynamic_shared: int = 0
    cluster: tuple[int, int, int] | None = None


def of_kernel(kernel: Kernel) -> Signature:
    """The signature of a kernel that was built here: element types are known."""
    arguments = tuple(_of_parameter(parameter) for parameter in kernel.parameters)
    return Signature(kernel.name, arguments, kernel.threads, kernel.dynamic_bytes, kernel.cluster)


def of_module(module: tree.Module) -> tuple[Signature, ...]:
    """The signatures of a module's kernels: PTX does not tell what a pointer points to."""
    return tuple(
        Signature(
            function.name,
            tuple(_of_declaration(each) for each in function.parameters),
            extents(function, "reqntid"),
            cluster=extents(function, "reqnctapercluster"),
        )
        for function in module.functions()
        if function.kind == "entry" and function.body is not None
    )


def _of_parameter(parameter: Parameter) -> Argument:
    if parameter.tensor is not None:
        return Argument(parameter.name, None, alignment=parameter.alignment, size=BYTES, tensor=parameter.tensor)
    if parameter.space is None:
        return Argument(parameter.name, parameter.type.word)
    return Argument(parameter.name, "u64", parameter.space, parameter.type.word, parameter.alignment)


def _of_declaration(declaration: tree.Declaration) -> Argument:
    declarator = declaration.declarators[0]
    if declarator.dimensions:
        size = prod(each or 0 for each in declarator.dimensions) * bits(declaration.type) // 8
        return Argument(declarator.name, None, alignment=declaration.alignment or 1, size=size)
    if declaration.pointer is None:
        return Argument(declarator.name, declaration.type)
    space = declaration.pointer[0] if declaration.pointer else "generic"
    return Argument(declarator.name, declaration.type, space, alignment=declaration.pointer_alignment or 1)
