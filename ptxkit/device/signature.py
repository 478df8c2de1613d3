"""The signature of a kernel, which launches check: from the builder's parameters or from a module's declarations."""

from __future__ import annotations

from math import prod

from ptxkit.device.written_parameters import find_written_parameters
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.functions import bits
from ptxkit.kernel_model.launch_limits import LaunchLimit
from ptxkit.kernel_model.routines import BuiltKernel, Parameter
from ptxkit.kernel_model.tensor_form import TENSOR_MAP_BYTES, TensorForm
from ptxkit.syntax import tree
from ptxkit.syntax.launch_extents import launch_extents
from ptxkit.syntax.nested_instructions import iterate_instructions


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter.

    `type` is its PTX type, or None for a block of `size` bytes. If it is a pointer, `space` is the state space that it
    points into, `element` the type of the elements, if it is known, and `alignment` their alignment in bytes. `tensor`
    states the required form of a tensor map. `is_written` is set if the kernel writes through the address.
    """

    name: str
    type: str | None
    space: str | None = None
    element: str | None = None
    alignment: int = 1
    size: int | None = None
    tensor: TensorForm | None = None
    is_written: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of a kernel.

    `threads` is the required shape of the CTA, or None for any, and `cluster` is the cluster that the kernel is
    compiled for, or None. `dynamic_shared` is the least size of launch-sized shared memory in bytes. `limits` are the
    other conditions of the kernel's contract, if they were derived.
    """

    name: str
    arguments: tuple[Argument, ...]
    threads: tuple[int, int, int] | None = None
    dynamic_shared: int = 0
    cluster: tuple[int, int, int] | None = None
    limits: tuple[LaunchLimit, ...] = ()

    def with_limits(self, limits: tuple[LaunchLimit, ...]) -> Signature:
        """Returns the signature with these limits; pointers have the alignments that they state."""
        needed = {index: numbers[0] for kind, index, numbers, _ in limits if kind == "alignment"}
        arguments = tuple(
            replace(each, alignment=max(each.alignment, needed.get(index, 1))) if each.type is not None else each
            for index, each in enumerate(self.arguments)
        )
        return replace(self, arguments=arguments, limits=limits)


def make_kernel_signature(kernel: BuiltKernel) -> Signature:
    """Returns the signature of a kernel of the builder, whose element types are known."""
    written = find_written_parameters(list(kernel.iterate_instructions()))
    arguments = tuple(_make_argument(parameter, written) for parameter in kernel.parameters)
    return Signature(kernel.name, arguments, kernel.threads, kernel.dynamic_bytes, kernel.cluster)


def make_module_signatures(module: tree.Module) -> tuple[Signature, ...]:
    """Returns the signatures of a module's kernels. PTX does not declare the element types of pointers."""
    return tuple(
        _make_function_signature(function, function.body)
        for function in module.functions()
        if function.kind == "entry" and function.body is not None
    )


def _make_function_signature(function: tree.Function, body: tree.Body) -> Signature:
    written = find_written_parameters(list(iterate_instructions(body.statements)))
    return Signature(
        function.name,
        tuple(_make_declared_argument(each, written) for each in function.parameters),
        launch_extents(function, "reqntid"),
        cluster=launch_extents(function, "reqnctapercluster"),
    )


def _make_argument(parameter: Parameter, written: frozenset[str]) -> Argument:
    if parameter.tensor is not None:
        return Argument(
            parameter.name, None, alignment=parameter.alignment, size=TENSOR_MAP_BYTES, tensor=parameter.tensor
        )
    if parameter.space is None:
        return Argument(parameter.name, parameter.type.word)
    is_written = parameter.name in written
    address, element = parameter.space, parameter.type.word
    return Argument(parameter.name, "u64", address, element, parameter.alignment, is_written=is_written)


def _make_declared_argument(declaration: tree.Declaration, written: frozenset[str]) -> Argument:
    declarator = declaration.declarators[0]
    is_written = declarator.name in written
    if declarator.dimensions:
        size = prod(each or 0 for each in declarator.dimensions) * bits(declaration.type) // 8
        return Argument(declarator.name, None, alignment=declaration.alignment or 1, size=size)
    if declaration.pointer is None:
        return Argument(declarator.name, declaration.type, is_written=is_written)
    space = declaration.pointer[0] if declaration.pointer else "generic"
    alignment = declaration.pointer_alignment or 1
    return Argument(declarator.name, declaration.type, space, alignment=alignment, is_written=is_written)
