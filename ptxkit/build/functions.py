"""Device functions: recorded once, called from kernels and from each other, or linked from another module.

    square = Function("square", results=f32)
    x = square.param(f32, "x")
    square.return_(x * x)

    k = Kernel("squares", threads=128)
    ...
    data[i].store(square(k, data[i].load()))       # the module holds the kernel and `.func square`

    norm = External("norm3d", results=f64, params=(f64, f64, f64))       # `.extern .func`: another module defines it
    norm(k, a, b, c)

Values and addresses are passed with their types: an argument of another one fails at the caller's line, and nothing is
converted silently. How they lie in `.param` memory is the ABI of CUDA C++, so that `extern "C" __device__` functions
and these call each other: integers narrower than 32 bits are widened, halves are arrays of two bytes, several results
are the members of a structure. What CUDA C++ knows as a pointer is a `Generic` address.

A function may call itself, and two may call each other: how deep they go the launch cannot know, and their stack is
the context's limit (`cudaLimitStackSize`).

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
    """A device function under construction: `.func`. Parameters are declared by `param`, results returned by `return_`.

    `results` is a type, an address, or several of them in a tuple; None for none. With `visible`, other modules may
    link against it; else only its own module knows it. `threads` is the shape of the CTAs that call it, where it uses
    their roles or ranks. `target` is that of a kernel, and that of its callers must be the same.
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
        """Calls it in a kernel or another function; gives its result, a tuple of several, or None: `call`.

        An argument has the type of its parameter, or is a constant. Where a guard does not hold, nothing is called and
        the results are unwritten.
        """
        return cast("ResultT", call(self, k, arguments, guard, unless))

    def __repr__(self) -> str:
        return f"Function({self.name!r})"

    @property
    def prototype(self) -> FunctionPrototype:
        """What its callers see."""
        return FunctionPrototype(self.name, tuple(self.slots), self.results, "visible" if self.visible else "")

    @overload
    def param(self, form: type[ScalarT], name: str) -> Register[ScalarT]: ...

    @overload
    def param(self, form: type[_AddressT], name: str, *, align: int | None = None) -> _AddressT: ...

    def param(self, form: Any, name: str, *, align: int | None = None) -> Any:
        """The next parameter: a value (`u32`) or an address of any space (`Shared[f32]`), aligned to `align` bytes.

        An address that a caller passes has at least that alignment; a `Barrier` is an address, too.
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
        """The next parameter: a tensor map of the kernel that calls, by address; the arguments are those of a kernel's
        `tensor_map`, and the caller passes a map of the same form."""
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
        """Returns to the caller with these values, of the types that the function declares: `st.param`, `ret`."""
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
        """The `.func` in the module."""
        return self.prototype.to_function(body)

    def check_complete(self) -> None:
        """BuildError where the end of the function is reached without its results."""
        last = self.recorder.body[-1].statement if self.recorder.body else None
        ended = isinstance(last, tree.Instruction) and last.guard is None and last.opcode in ("ret", "exit", "trap")
        if self.results and not ended:
            raise BuildError(f"{self!r} has results, and ends without return_(...)", self.location)

    def reserved_names(self) -> set[str]:
        """The names that the function has so far."""
        return super().reserved_names() | {each.name for each in self.slots} | {self.name, self.prototype.result_name}
