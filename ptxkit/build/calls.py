"""Calls of device functions, and functions of other modules, which must be linked before a launch.

Source: PTX ISA, "Control Flow Instructions: call", "Abstracting the ABI".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar, cast, overload

from ptxkit.build.addresses import Address
from ptxkit.build.call_abi import emit_param_stores, emit_result_loads
from ptxkit.build.declaration_checks import check_identifier
from ptxkit.build.errors import BuildError, BuildTypeError, find_caller
from ptxkit.build.instructions import InstructionBuilder, make_guard
from ptxkit.build.prototypes import Callee, FunctionPrototype, make_result_slots, make_slot
from ptxkit.build.registers import Register
from ptxkit.build.tensormap import TensorMap
from ptxkit.kernel_model.scalar_types import ScalarT, pred
from ptxkit.kernel_model.source_lines import Location
from ptxkit.syntax import tree

TypeForm: TypeAlias = Any
"""The form of a parameter or a result: a type such as `u32`, or an address such as `Shared[f32]`."""

ResultT = TypeVar("ResultT")
_AddressT = TypeVar("_AddressT", bound=Address[Any])


def call(
    callee: Callee,
    k: InstructionBuilder,
    arguments: tuple[object, ...],
    guard: Register[pred] | None,
    unless: Register[pred] | None,
) -> object:
    """Emits a call of a function, and returns its result, a tuple of several results, or None."""
    if not isinstance(k, InstructionBuilder):
        raise BuildTypeError(f"{callee!r} is called with the kernel first, `{callee.name}(k, ...)`, not with {k!r}")
    prototype = callee.prototype
    k.check_owner([each.address if isinstance(each, TensorMap) else each for each in arguments])
    _check_call(callee, k, arguments)
    places = [f"param{number}" for number in range(len(arguments))]
    passed = list(emit_param_stores(k, [(place, 0) for place in places], prototype.params, arguments, "argument"))
    condition = make_guard(k.guard if k.guard is not None else guard, unless)
    operands: list[tree.Operand] = [tree.Name(callee.name)]
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
    return None if not given else given[0] if len(given) == 1 else given


def _check_call(callee: Callee, k: InstructionBuilder, arguments: tuple[object, ...]) -> None:
    params = callee.prototype.params
    if len(arguments) != len(params):
        names = ", ".join(f"{each.name}: {each}" for each in params) or "none"
        raise BuildTypeError(f"{callee!r} takes {len(params)} ({names}), got {len(arguments)}")
    if callee.threads is not None and callee.threads != k.threads:
        raise BuildError(f"{callee!r} is for CTAs of {callee.threads} threads, and {k!r} has {k.threads or 'any'}")
    k.register_callee(callee)
    if isinstance(callee, InstructionBuilder):
        callee.recorder.usage.was_used = True


class External(Generic[ResultT]):
    """A function that another module defines: `.extern .func`. The modules must be linked before a launch.

    `params` and `results` are those of `Function`. The names of the parameters have no meaning.
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
        self.threads: tuple[int, int, int] | None = None
        self.name = check_identifier(name, "a function")
        self.location: Location = find_caller()
        slots = tuple(make_slot(form, None, f"{name}_param_{number}") for number, form in enumerate(params))
        self._prototype = FunctionPrototype(name, slots, make_result_slots(results), "extern")

    @property
    def prototype(self) -> FunctionPrototype:
        """The signature that the function's callers use."""
        return self._prototype

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
        return f"External({self.name!r})"


def external(k: InstructionBuilder, name: str, *, params: Iterable[Any] = (), results: Any = None) -> External[Any]:  # noqa: ARG001
    """Declares a function of another module: `norm = k.external("norm", params=(f32, f32), results=f32)`; `norm(k, x,
    y)`.
    """
    return External(name, params=tuple(params), results=results)
