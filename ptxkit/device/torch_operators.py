"""A kernel as an operator of PyTorch, which `torch.compile` supports and `torch.library.opcheck` can test.

    double = torch_op("mine::double", kernel, grid=lambda count: -(-count // 128), writes=["data"])
    double(tensor, tensor.numel())

    scaled = torch_op(
        "mine::scaled", kernel, grid=lambda count: -(-count // 128), makes={"out": lambda data: torch.empty_like(data)}
    )
    result = scaled(data, count, 2.0)        # `out` is not an argument; the operator returns it

The schema follows from the kernel's parameters: pointers and tensor maps are `Tensor`, integers are `SymInt`, and other
numbers `float`. Functions that are passed to `torch_op` receive those arguments of the operator that they name.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ptxkit.device.arguments import NUMPY_CODES
from ptxkit.device.errors import DeviceError, MissingLibraryError
from ptxkit.device.linked_program import LinkedKernel
from ptxkit.device.signature import Argument, make_kernel_signature
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.routines import BuiltKernel, Extents

ExtentsOrFunction: TypeAlias = "Extents | Callable[..., Extents]"


def torch_op(  # noqa: PLR0913  (the kernel, its geometry, and what it does to its arguments)
    name: str,
    kernel: BuiltKernel | LinkedKernel,
    *,
    grid: ExtentsOrFunction,
    block: Extents | None = None,
    cluster: Extents | None = None,
    shared: int | None = None,
    writes: Iterable[str] = (),
    makes: Mapping[str, Callable[..., Any]] | None = None,
    tensors: Iterable[str] = (),
) -> Any:
    """Registers an operator and returns it, a `torch.library.CustomOpDef`, which can be called and given a gradient.

    `name` is `namespace::operator`. `grid` is the number of CTAs, or a function of the arguments; `block`, `cluster`
    and `shared` are those of a launch. `writes` names parameters whose tensors the kernel changes. `makes` maps
    parameters that are results to functions that return uninitialized tensors for them; the functions are also called
    with tensors that have shapes and no data. `tensors` names 64-bit parameters that are addresses, for kernels from
    PTX that does not declare them as such. Raises `DeviceError` for a parameter that does not exist or that an operator
    cannot have, and `MissingLibraryError` without PyTorch.
    """
    torch = import_torch("torch_op")
    known = kernel.signature.arguments if isinstance(kernel, LinkedKernel) else make_kernel_signature(kernel).arguments
    plan = make_plan(kernel.name, known, writes, makes or {}, tensors)
    chosen = _KeywordSelector(grid) if callable(grid) else None

    def run(*given: Any, **named: Any) -> Any:
        values = plan.bind_arguments(given, named)
        extents: Any = grid if chosen is None else chosen(values)
        place = next(values[each] for each in plan.arguments if plan.kinds[each] == "Tensor")
        with torch.cuda.device_of(place):
            made = plan.allocate_results(values)
            launch = kernel.launch(grid=extents, block=block, cluster=cluster, shared=shared)
            launch(*({**values, **made}[each] for each in plan.kinds))
        return _unwrap_results(made)

    operator = torch.library.custom_op(name, run, mutates_args=plan.writes, device_types="cuda", schema=plan.schema)
    operator.register_fake(
        lambda *given, **named: _unwrap_results(plan.allocate_results(plan.bind_arguments(given, named)))
    )
    return operator


def import_torch(caller: str) -> Any:
    """Returns the module `torch`. Raises `MissingLibraryError`, which names the caller, if it is not installed."""
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise MissingLibraryError(f"{caller} makes an operator of PyTorch, which is not installed") from error


@dataclass(frozen=True, slots=True)
class OperatorPlan:
    """The arguments and results of an operator. `kinds` holds the type in the schema for each parameter of the
    kernel.
    """

    kinds: dict[str, str]
    writes: tuple[str, ...]
    makers: dict[str, _KeywordSelector]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The parameters that are arguments of the operator."""
        return tuple(each for each in self.kinds if each not in self.makers)

    @property
    def schema(self) -> str:
        """The schema in PyTorch's syntax: `(Tensor(a0!) data, SymInt count) -> ()`."""
        words = []
        for name in self.arguments:
            changed = f"(a{self.writes.index(name)}!)" if name in self.writes else ""
            words.append(f"{self.kinds[name]}{changed} {name}")
        results = ", ".join("Tensor" for _ in self.makers)
        return f"({', '.join(words)}) -> {results if len(self.makers) == 1 else f'({results})'}"

    def bind_arguments(self, given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the operator's arguments by name."""
        return {**dict(zip(self.arguments, given, strict=False)), **named}

    def allocate_results(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Returns new tensors for the results."""
        return {name: maker(values) for name, maker in self.makers.items()}


def make_plan(
    kernel: str,
    arguments: Sequence[Argument],
    writes: Iterable[str],
    makes: Mapping[str, Callable[..., Any]],
    tensors: Iterable[str],
) -> OperatorPlan:
    """Returns the plan. Raises `DeviceError` for a parameter that does not exist or that an operator cannot have."""
    addresses, changed = set(tensors), tuple(writes)
    kinds = {each.name: "Tensor" if each.name in addresses else _schema_type(kernel, each) for each in arguments}
    for word, names in (("writes", changed), ("makes", makes), ("tensors", addresses)):
        for name in names:
            if kinds.get(name) != "Tensor":
                what = f"has no parameter {name!r}" if name not in kinds else f"takes no tensor for {name!r}"
                raise DeviceError(f"{word} names {name!r}, and kernel {kernel!r} {what}")
    both = set(changed) & set(makes)
    if both:
        raise DeviceError(f"{min(both)!r} is made by the operator, so it is not an argument that is written")
    plan = OperatorPlan(kinds, changed, {name: _KeywordSelector(maker) for name, maker in makes.items()})
    if not any(kinds[name] == "Tensor" for name in plan.arguments):
        raise DeviceError(f"the operator of kernel {kernel!r} has no tensor parameter, which would determine its GPU")
    if not changed and not makes:
        raise DeviceError(f"the operator of kernel {kernel!r} changes nothing and makes nothing: name it in writes=")
    return plan


def _schema_type(kernel: str, argument: Argument) -> str:
    """Returns the type of a parameter in the schema."""
    if argument.space is not None or argument.tensor is not None:
        return "Tensor"
    code = NUMPY_CODES.get(argument.type or "")
    if code is None:
        what = f"a block of {argument.size} bytes" if argument.type is None else f".{argument.type}"
        raise DeviceError(f"parameter {argument.name!r} of {kernel!r} is {what}, which no argument of an operator is")
    return "float" if code[0] == "f" else "SymInt"


def _unwrap_results(made: Mapping[str, Any]) -> Any:
    results = tuple(made.values())
    return results[0] if len(results) == 1 else results or None


class _KeywordSelector:
    """Calls a function with those arguments that its parameters name."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._names = tuple(inspect.signature(function).parameters)

    def __call__(self, values: Mapping[str, Any]) -> Any:
        return self._function(*(values[each] for each in self._names))
