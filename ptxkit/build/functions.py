"""Device functions: recorded once, called from kernels and from each other, or linked from another module.

    square = Function("square", results=f32)
    x = square.param(f32, "x")
    square.return_(x * x)

    k = Kernel("squares", threads=128)
    ...
    data[i].store(square(k, data[i].load()))       # the module holds `.func square` beside the kernel

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

import typing
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast, overload

from ptxkit.build.addresses import Address, Generic
from ptxkit.build.call_abi import (
    FunctionPrototype,
    ParameterSlot,
    compute_struct_layout,
    emit_param_stores,
    emit_result_loads,
    make_result_slots,
    make_slot,
    wrap_parameter,
)
from ptxkit.build.errors import BuildError, BuildTypeError, Location, find_caller
from ptxkit.build.function_builder import FunctionBuilder, cta_shape
from ptxkit.build.instructions import make_guard
from ptxkit.build.memory_declarations import check_element, check_identifier
from ptxkit.build.recorder import PrologueContext
from ptxkit.build.registers import Register
from ptxkit.build.scalar_types import Scalar, ScalarT, b8, pred
from ptxkit.build.tensormap import TENSOR_MAP_ALIGNMENT, TensorMap, make_tensor_form
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterable

TypeForm: TypeAlias = Any
"""What stands for a parameter or a result: a type such as `u32`, or an address such as `Shared[f32]`."""

ResultT = TypeVar("ResultT")
_AddressT = TypeVar("_AddressT", bound=Address[Any])


class Callee(typing.Generic[ResultT]):
    """What can be called: `result = square(k, x)`."""

    name: str
    threads: tuple[int, int, int] | None = None

    @property
    def prototype(self) -> FunctionPrototype:
        """What its callers see."""
        raise NotImplementedError

    def __call__(
        self,
        k: FunctionBuilder,
        *arguments: object,
        guard: Register[pred] | None = None,
        unless: Register[pred] | None = None,
    ) -> ResultT:
        """Calls it in a kernel or another function; gives its result, a tuple of several, or None: `call`.

        An argument has the type of its parameter, or is a constant. Where a guard does not hold, nothing is called and
        the results are unwritten.
        """
        if not isinstance(k, FunctionBuilder):
            raise BuildTypeError(f"{self!r} is called with the kernel first, `{self.name}(k, ...)`, not with {k!r}")
        prototype = self.prototype
        k.check_owner([each.address if isinstance(each, TensorMap) else each for each in arguments])
        self._check_call(k, arguments)
        places = [f"param{number}" for number in range(len(arguments))]
        passed = list(emit_param_stores(k, [(place, 0) for place in places], prototype.params, arguments, "argument"))
        condition = make_guard(k.guard if k.guard is not None else guard, unless)
        operands: list[tree.Operand] = [tree.Name(self.name)]
        if prototype.results:
            operands.insert(0, tree.Arguments((tree.Name("retval0"),)))
        if places or prototype.results:
            operands.append(tree.Arguments(tuple(map(tree.Name, places))))
        after: list[tree.Statement] = []
        given = emit_result_loads(k, prototype.results, "retval0", after)
        k.append_block(
            [
                *(each.declaration(place) for each, place in zip(prototype.params, places, strict=True)),
                *prototype.declare_results("retval0"),
                *passed,
                tree.Instruction("call.uni" if condition is None else "call", tuple(operands), condition),
                *after,
            ]
        )
        return cast("ResultT", None if not given else given[0] if len(given) == 1 else given)

    def _check_call(self, k: FunctionBuilder, arguments: tuple[object, ...]) -> None:
        params = self.prototype.params
        if len(arguments) != len(params):
            names = ", ".join(f"{each.name}: {each}" for each in params) or "none"
            raise BuildTypeError(f"{self!r} takes {len(params)} ({names}), got {len(arguments)}")
        if self.threads is not None and self.threads != k.threads:
            raise BuildError(f"{self!r} is for CTAs of {self.threads} threads, and {k!r} has {k.threads or 'any'}")
        assert isinstance(self, Function | External)
        k.register_callee(self)
        if isinstance(self, Function):
            self.usage.was_used = True


class Function(FunctionBuilder, Callee[ResultT]):
    """A device function under construction: `.func`. Parameters are declared by `param`, results returned by `return_`.

    results: a type, an address, or several of them in a tuple; None for none. visible: other modules may link against
    it; else only its own module knows it. threads: the shape of the CTAs that call it, where it uses their roles or
    ranks. target: as for a kernel; that of its callers must be the same.
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
        self.module_prefix = f"{name}_"
        self.threads = cta_shape(threads)
        self.visible = visible
        self.results = make_result_slots(results)
        self.slots: list[ParameterSlot] = []

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
        self._reserve_name(name, "a parameter")
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
        self._reserve_name(name, "a parameter")
        check_element(element)
        form = make_tensor_form(element, box, rank, swizzle, mode)
        passed = ParameterSlot(name, b8, Generic, TENSOR_MAP_ALIGNMENT, form)
        self.slots.append(passed)
        return TensorMap(self, form, Generic(self, b8, self._load_parameter(passed), TENSOR_MAP_ALIGNMENT))

    def _load_parameter(self, passed: ParameterSlot) -> Register[Any]:
        with PrologueContext(self):
            register: Register[Any] = self.register(passed.register_type)
            self._append(
                f"ld.param.{passed.load_type}", (tree.Name(register.name), tree.Address(tree.Name(passed.name)))
            )
        return register

    def return_(self, *values: object) -> None:
        """Returns to the caller with these values, of the types that the function said: `st.param`, `ret`."""
        if len(values) != len(self.results):
            raise BuildTypeError(f"{self!r} returns {len(self.results)} values, not {len(values)}")
        place = self.prototype.result_name
        offsets = compute_struct_layout(self.results)[0]
        for statement in emit_param_stores(
            self, [(place, offset) for offset in offsets], self.results, values, "result"
        ):
            self._append(statement.opcode, statement.operands)
        self._append("ret", ())

    def to_function(self, body: tree.Body) -> tree.Function:
        """The `.func` that stands in the module."""
        return self.prototype.to_function(body)

    def check_complete(self) -> None:
        """BuildError where the end of the function is reached without its results."""
        last = self.body[-1].statement if self.body else None
        ended = isinstance(last, tree.Instruction) and last.guard is None and last.opcode in ("ret", "exit", "trap")
        if self.results and not ended:
            raise BuildError(f"{self!r} has results, and ends without return_(...)", self.location)

    def reserved_names(self) -> set[str]:
        """The names that stand in the function so far."""
        return super().reserved_names() | {each.name for each in self.slots} | {self.name, self.prototype.result_name}


class External(Callee[ResultT]):
    """A function that another module defines: `.extern .func`. Link the modules before they are launched.

    params, results: as for `Function`; the names of the parameters do not matter.
    """

    @overload
    def __init__(self: External[None], name: str, *, params: Sequence[TypeForm] = (), results: None = None) -> None: ...

    @overload
    def __init__(
        self: External[Register[ScalarT]], name: str, *, params: Sequence[TypeForm] = (), results: type[ScalarT]
    ) -> None: ...

    @overload
    def __init__(
        self: External[_AddressT], name: str, *, params: Sequence[TypeForm] = (), results: type[_AddressT]
    ) -> None: ...

    @overload
    def __init__(
        self: External[tuple[Any, ...]], name: str, *, params: Sequence[TypeForm] = (), results: tuple[TypeForm, ...]
    ) -> None: ...

    def __init__(self, name: str, *, params: Sequence[TypeForm] = (), results: TypeForm = None) -> None:
        self.name = check_identifier(name, "a function")
        self.location: Location = find_caller()
        slots = tuple(make_slot(form, None, f"{name}_param_{number}") for number, form in enumerate(params))
        self._prototype = FunctionPrototype(name, slots, make_result_slots(results), "extern")

    @property
    def prototype(self) -> FunctionPrototype:
        """What its callers see."""
        return self._prototype

    def __repr__(self) -> str:
        return f"External({self.name!r})"
