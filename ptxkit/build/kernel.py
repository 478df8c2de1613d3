"""`Kernel`: layer 2 of the builder, with typed parameters, typed shared memory and structured control flow.

    k = Kernel("scale", threads=128)
    data = k.param(Global[f32], "data")
    count = k.param(u32, "count")
    i = k.ctaid.x * 128 + k.tid.x
    with k.if_(i < count):
        data[i].store(data[i].load() * 2.0)
    print(k.module())

`k.param(Global[f32], "data")` declares `.param .u64 .ptr .global .align 4 data`. The attribute states that the caller
passes an address in global memory, as the host's allocations are, so the loaded value is a `.global` address and no
`cvta` is needed. A pointer whose state space is not known is `Generic[f32]`.

Source: PTX ISA, "Kernel Entry Point Directives: .entry", "Kernel Function Parameter Attribute: .ptr".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar, cast, get_origin, overload

from ptxkit.build import launching
from ptxkit.build.addresses import Address, Const, Generic, Global
from ptxkit.build.build_warnings import warn_of_unwaited_copies
from ptxkit.build.declaration_checks import (
    check_count,
    check_element,
    check_identifier,
    cta_shape,
    element_of,
    resolve_alignment,
    shape_of,
)
from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.build.function_builder import FunctionBuilder
from ptxkit.build.instructions import CLUSTER_REQUIREMENTS
from ptxkit.build.limits import MAX_MULTIPROCESSOR_CTAS, MAX_THREAD_REGISTERS
from ptxkit.build.memory_declarations import reserve_name
from ptxkit.build.recorder import PrologueContext
from ptxkit.build.registers import Register
from ptxkit.build.tensormap import TensorMap, make_tensor_form
from ptxkit.isa.forms import Gate
from ptxkit.kernel_model.limits import MAX_CLUSTER_CTAS
from ptxkit.kernel_model.routines import Parameter
from ptxkit.kernel_model.scalar_types import Scalar, ScalarT, b8, memory_word, pred, u64
from ptxkit.kernel_model.source_lines import Assembled
from ptxkit.kernel_model.tensor_form import TENSOR_MAP_ALIGNMENT, TENSOR_MAP_BYTES
from ptxkit.limits import MAX_CTA_THREADS
from ptxkit.syntax import tree

_AddressT = TypeVar("_AddressT", bound=Address[Any])


class Kernel(FunctionBuilder):
    """A kernel under construction.

    `threads` is the shape of the CTA, x first, which the launch must use (`.reqntid`); a single number is the x extent.
    `max_threads` is the largest number of threads instead, for kernels that are launched with several shapes
    (`.maxntid`). `min_ctas` is the number of CTAs that must fit on a multiprocessor at once, for which ptxas limits
    the registers (`.minnctapersm`); it needs one of the two.
    `target` is a target such as `sm_90a`, or None for the lowest that has all instructions of the kernel. `cluster` is
    the shape of the cluster in CTAs (`.reqnctapercluster`). `registers` is the largest number of registers that a
    thread starts with (`.maxnreg`). With `debug`, `.loc` and `.file` directives name the user's lines. Raises
    `BuildValueError` for a name that is not an identifier, and for shapes or registers beyond the limits of the
    hardware.
    """

    is_kernel = True

    launch = launching.launch
    __getitem__ = launching.get_launch
    load_once = launching.load_once
    load = launching.load
    compile = launching.compile
    emulate = launching.emulate

    def __init__(  # noqa: PLR0913  (all but the name are by name, and have defaults)
        self,
        name: str,
        *,
        threads: int | Iterable[int] | None = None,
        max_threads: int | None = None,
        min_ctas: int | None = None,
        target: str | None = None,
        cluster: int | Iterable[int] | None = None,
        registers: int | None = None,
        debug: bool = False,
    ) -> None:
        super().__init__(check_identifier(name, "a kernel"), target=target, debug=debug)
        self.launches = launching.LaunchCache()
        self.threads = cta_shape(threads)
        self.max_threads = None if max_threads is None else check_count(max_threads, MAX_CTA_THREADS, "max_threads")
        self.min_ctas = None if min_ctas is None else check_count(min_ctas, MAX_MULTIPROCESSOR_CTAS, "min_ctas")
        if threads is not None and max_threads is not None:
            raise BuildValueError("`threads` fixes the shape of the CTA, so give one of `threads` and `max_threads`")
        if min_ctas is not None and threads is None and max_threads is None:
            raise BuildValueError("`min_ctas` needs `threads` or `max_threads`: ptxas ignores it otherwise")
        self.cluster = shape_of(cluster, MAX_CLUSTER_CTAS, "a cluster", "CTAs")
        if registers is not None and not (isinstance(registers, int) and 1 <= registers <= MAX_THREAD_REGISTERS):
            raise BuildValueError(f"a thread has 1 to {MAX_THREAD_REGISTERS} registers, not {registers!r}")
        self.registers = registers
        self.parameters: list[Parameter] = []

    def __repr__(self) -> str:
        return f"Kernel({self.name!r})"

    # ---------------------------------------------------------------------------------------- parameters

    @overload
    def param(self, form: type[_AddressT], name: str, *, align: int | None = None) -> _AddressT: ...

    @overload
    def param(self, form: type[ScalarT], name: str) -> Register[ScalarT]: ...

    def param(self, form: Any, name: str, *, align: int | None = None) -> Any:
        """Declares the next parameter: a value (`u32`), or an address (`Global[f32]`) aligned to `align` bytes.

        Returns the register with the value, or the address. Addresses are `Global`, `Const` or `Generic`. Raises
        `BuildTypeError` for other types, and `BuildError` if the name is taken.
        """
        reserve_name(self, name, "a parameter")
        space = get_origin(form)
        if space is None:
            if not (isinstance(form, type) and issubclass(form, Scalar)) or form is pred:
                raise BuildTypeError(
                    f"a parameter is a type such as u32 or an address such as Global[f32], not {form!r}"
                )
            self.parameters.append(Parameter(name, form))
            return self._load_parameter(name, form)
        if space not in (Global, Const, Generic):
            raise BuildTypeError(f"a host passes addresses in .global, .const or generic ones, not {space.__name__}")
        element = element_of(form)
        alignment = resolve_alignment(align, element)
        self.parameters.append(Parameter(name, element, space.space, alignment))
        return space(self, element, self._load_parameter(name, space.pointer), alignment)

    def tensor_map(
        self,
        name: str,
        element: type[Scalar],
        *,
        box: Sequence[int],
        rank: int | None = None,
        swizzle: int = 0,
        mode: str = "tiled",
    ) -> TensorMap:
        """Declares the next parameter: a tensor map, which is passed by value.

        `element` is the type of the tensor's elements. `box` is the number of elements that a copy transfers in each
        dimension, innermost first. In mode `im2col`, `box` is the numbers of channels and pixels, and `rank` is the
        rank of the tensor. `swizzle` is the width of the swizzle pattern in shared memory in bytes: 0, 32, 64 or 128.
        """
        reserve_name(self, name, "a parameter")
        check_element(element)
        form = make_tensor_form(element, box, rank, swizzle, mode)
        self.parameters.append(Parameter(name, b8, alignment=TENSOR_MAP_ALIGNMENT, tensor=form))
        with PrologueContext(self.recorder):
            place = self.register(u64)
            self.append("mov.u64", (tree.Name(place.name), tree.Name(name)))
            generic = cast("Register[u64]", self.instruction("cvta_param_u64", (place,)))
        return TensorMap(self, form, Generic(self, b8, generic, TENSOR_MAP_ALIGNMENT))

    def _load_parameter(self, name: str, scalar: type[Scalar]) -> Register[Any]:
        register = self.register(scalar)
        with PrologueContext(self.recorder):
            self.append(f"ld.param.{memory_word(scalar)}", (tree.Name(register.name), tree.Address(tree.Name(name))))
        return register

    # ----------------------------------------------------------------------------------------- internals

    def assemble(self) -> Assembled:
        """Returns the tree and the user's line of each statement, and warns of copies that the kernel never waits
        for.
        """
        found = super().assemble()
        warn_of_unwaited_copies(self)
        return found

    def to_function(self, body: tree.Body) -> tree.Function:
        """Returns the `.entry` of the module."""
        return _make_entry_function(self, body)

    def special_gates(self) -> Iterator[Gate]:
        """Yields the requirements of the kernel's special registers and directives."""
        yield from super().special_gates()
        if self.cluster is not None:
            yield Gate(".reqnctapercluster", CLUSTER_REQUIREMENTS)

    def reserved_names(self) -> set[str]:
        """Returns the names that the module uses so far."""
        return super().reserved_names() | {parameter.name for parameter in self.parameters} | {self.name}


def _make_entry_function(kernel: Kernel, body: tree.Body) -> tree.Function:
    """Returns the kernel as an item of a module."""
    return tree.Function(
        "entry",
        kernel.name,
        parameters=tuple(_parameter_declaration(parameter) for parameter in kernel.parameters),
        linkage=("visible",),
        directives=_launch_bounds(kernel),
        body=body,
    )


def _parameter_declaration(parameter: Parameter) -> tree.Declaration:
    if parameter.tensor is not None:
        block = (tree.Declarator(parameter.name, dimensions=(TENSOR_MAP_BYTES,)),)
        return tree.Declaration("param", "b8", block, alignment=parameter.alignment)
    declarators = (tree.Declarator(parameter.name),)
    if parameter.space is None:
        return tree.Declaration("param", memory_word(parameter.type), declarators)
    pointer = () if parameter.space == "generic" else (parameter.space,)
    return tree.Declaration("param", "u64", declarators, pointer=pointer, pointer_alignment=parameter.alignment)


def _launch_bounds(kernel: Kernel) -> tuple[tree.Directive, ...]:
    found = []
    if kernel.threads is not None:
        found.append(tree.Directive("reqntid", tuple(map(str, kernel.threads))))
    if kernel.max_threads is not None:
        found.append(tree.Directive("maxntid", (str(kernel.max_threads),)))
    if kernel.min_ctas is not None:
        found.append(tree.Directive("minnctapersm", (str(kernel.min_ctas),)))
    if kernel.cluster is not None:
        found.append(tree.Directive("reqnctapercluster", tuple(map(str, kernel.cluster))))
    if kernel.registers is not None:
        found.append(tree.Directive("maxnreg", (str(kernel.registers),)))
    return tuple(found)
