"""Device functions: built once, and called from kernels and from each other, or linked from another module.

    square = Function("square", results=f32)
    x = square.param(f32, "x")
    square.return_(x * x)

    k = Kernel("squares", threads=128)
    ...
    data[i].store(square(k, data[i].load()))       # the module holds the kernel and `.func square`

    norm = External("norm3d", results=f64, params=(f64, f64, f64))       # `.extern .func`: another module defines it
    norm(k, a, b, c)

Values and addresses are passed with their types: an argument of another type is an error at the caller's line, and no
implicit conversion takes place. The layout in `.param` memory is the ABI of CUDA C++, so that `extern "C" __device__`
functions can call these functions and vice versa: integers narrower than 32 bits are widened, halves are arrays of two
bytes, and several results are the members of a structure. A pointer of CUDA C++ corresponds to a `Generic` address.

Functions may be recursive. The launch does not know the depth of the recursion, and the stack is limited by the context
(`cudaLimitStackSize`).

Source: PTX ISA, "Kernel and Function Directives: .func", "Control Flow Instructions: call", "Abstracting the ABI".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar, cast, overload

from ptxkit.build.addresses import Address
from ptxkit.build.addresses import Generic as GenericAddress
from ptxkit.build.call_abi import emit_param_stores, wrap_parameter
from ptxkit.build.calls import ResultT, TypeForm, call
from ptxkit.build.declaration_checks import check_element, check_identifier, cta_shape
from ptxkit.build.errors import BuildError, BuildTypeError
from ptxkit.build.function_builder import FunctionBuilder
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.memory_declarations import reserve_name
from ptxkit.build.prototypes import (
    FunctionPrototype,
    ParameterSlot,
    compute_struct_layout,
    make_result_slots,
    make_slot,
)
from ptxkit.build.recorder import PrologueContext
from ptxkit.build.registers import Register
from ptxkit.build.tensormap import TensorMap, make_tensor_form
from ptxkit.kernel_model.scalar_types import Scalar, ScalarT, b8, pred
from ptxkit.kernel_model.tensor_form import TENSOR_MAP_ALIGNMENT
from ptxkit.syntax import tree

_AddressT = TypeVar("_AddressT", bound=Address[Any])


class Function(FunctionBuilder, Generic[ResultT]):
    """A device function under construction: `.func`. `param` declares parameters, and `return_` returns the results.

    `results` is a type, an address type, a tuple of several, or None. With `visible`, other modules may link against
    the function; else only its own module can call it. `threads` is the shape of the calling CTAs, which roles and
    ranks of threads need. `target` has the meaning of a kernel's, and the callers must have the same one.
    """

    @overload
    def __init__(
        self: Function[None],
        name: str,
        *,
        results: None = None,
        visible: bool = False,
        threads: int | Iterable[int] | None = None,
        target: str | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self: Function[Register[ScalarT]],
        name: str,
        *,
        results: type[ScalarT],
        visible: bool = False,
        threads: int | Iterable[int] | None = None,
        target: str | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self: Function[_AddressT],
        name: str,
        *,
        results: type[_AddressT],
        visible: bool = False,
        threads: int | Iterable[int] | None = None,
        target: str | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self: Function[tuple[Any, ...]],
        name: str,
        *,
        results: tuple[TypeForm, ...],
        visible: bool = False,
        threads: int | Iterable[int] | None = None,
        target: str | None = None,
    ) -> None: ...

    def __init__(
        self,
        name: str,
        *,
        results: TypeForm = None,
        visible: bool = False,
        threads: int | Iterable[int] | None = None,
        target: str | None = None,
    ) -> None:
        super().__init__(check_identifier(name, "a function"), target=target, debug=False)
        self.declarations.module_prefix = f"{name}_"
        self.threads = cta_shape(threads)
        self.visible = visible
        self.results = make_result_slots(results)
        self.slots: list[ParameterSlot] = []

    def __call__(
        self,
        k: InstructionBuilder,
        *arguments: object,
        guard: Register[pred] | None = None,
        unless: Register[pred] | None = None,
    ) -> ResultT:
        """Calls the function from a kernel or another function: `call`.

        Returns the result, a tuple of several results, or None. An argument is a constant or has the type of its
        parameter; `BuildTypeError` is raised otherwise. If a guard is given and does not hold, the function is not
        called and the results are not written.
        """
        return cast("ResultT", call(self, k, arguments, guard, unless))

    def __repr__(self) -> str:
        return f"Function({self.name!r})"

    @property
    def prototype(self) -> FunctionPrototype:
        """The signature that the function's callers use."""
        return FunctionPrototype(self.name, tuple(self.slots), self.results, "visible" if self.visible else "")

    @overload
    def param(self, form: type[ScalarT], name: str) -> Register[ScalarT]: ...

    @overload
    def param(self, form: type[_AddressT], name: str, *, align: int | None = None) -> _AddressT: ...

    def param(self, form: Any, name: str, *, align: int | None = None) -> Any:
        """Declares the next parameter: a value (`u32`) or an address in any state space (`Shared[f32]`, `Barrier`).

        `align` is the alignment of the address in bytes, which the addresses that callers pass must have.
        """
        reserve_name(self, name, "a parameter")
        passed = make_slot(form, align, name)
        self.slots.append(passed)
        return wrap_parameter(self, passed, self._load_parameter(passed))

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
        """Declares the next parameter: the address of a tensor map of the calling kernel.

        The arguments are those of `Kernel.tensor_map`. The caller must pass a map of the same form.
        """
        reserve_name(self, name, "a parameter")
        check_element(element)
        form = make_tensor_form(element, box, rank, swizzle, mode)
        passed = ParameterSlot(name, b8, GenericAddress, TENSOR_MAP_ALIGNMENT, form)
        self.slots.append(passed)
        return TensorMap(self, form, GenericAddress(self, b8, self._load_parameter(passed), TENSOR_MAP_ALIGNMENT))

    def _load_parameter(self, passed: ParameterSlot) -> Register[Any]:
        with PrologueContext(self.recorder):
            register: Register[Any] = self.register(passed.register_type)
            self.append(
                f"ld.param.{passed.load_type}", (tree.Name(register.name), tree.Address(tree.Name(passed.name)))
            )
        return register

    def return_(self, *values: object) -> None:
        """Returns to the caller with these values, which have the declared types: `st.param`, `ret`."""
        if len(values) != len(self.results):
            raise BuildTypeError(f"{self!r} returns {len(self.results)} values, not {len(values)}")
        place = self.prototype.result_name
        offsets = compute_struct_layout(self.results)[0]
        for statement in emit_param_stores(
            self, [(place, offset) for offset in offsets], self.results, values, "result"
        ):
            self.append(statement.opcode, statement.operands)
        self.append("ret", ())

    def to_function(self, body: tree.Body) -> tree.Function:
        """Returns the `.func` of the module."""
        return self.prototype.to_function(body)

    def check_complete(self) -> None:
        """Raises `BuildError` if execution can reach the end of the function without returning its results."""
        last = self.recorder.body[-1].statement if self.recorder.body else None
        ended = isinstance(last, tree.Instruction) and last.guard is None and last.opcode in ("ret", "exit", "trap")
        if self.results and not ended:
            raise BuildError(f"{self!r} has results, and ends without return_(...)", self.location)

    def reserved_names(self) -> set[str]:
        """Returns the names that the function uses so far."""
        return super().reserved_names() | {each.name for each in self.slots} | {self.name, self.prototype.result_name}
