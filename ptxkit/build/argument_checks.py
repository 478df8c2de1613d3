"""Errors for arguments of the wrong type, reported at the caller's line.

The annotations of the public methods state the types that they accept. When a method fails, its arguments are compared
with the annotations, and the error names the first argument that does not fit: `memcpy_async: group is a Group, not the
method this_cta; call it`. A call that succeeds is not checked, and an error that has another cause is left unchanged.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, wraps
from typing import Any

from ptxkit.build.errors import BuildTypeError
from ptxkit.build.registers import Register
from ptxkit.kernel_model.scalar_types import Scalar

_EXPLAINED_EXCEPTIONS = (TypeError, AttributeError, ValueError, LookupError, AssertionError)
_Function = Callable[..., Any]


def add_argument_checks(kinds: Iterable[type]) -> None:
    """Wraps the public methods of these classes, and those that they inherit from classes of this package, in the
    check.
    """
    package = __name__.rpartition(".")[0]
    done: set[type] = set()
    for kind in kinds:
        for each in kind.__mro__:
            if each.__module__.startswith(package) and each not in done:
                done.add(each)
                _wrap_methods(each)


def _wrap_methods(kind: type) -> None:
    for name, found in list(vars(kind).items()):
        if name.startswith("_") or not inspect.isfunction(found):
            continue
        if found.__code__.co_argcount > 1 or _is_context_manager_function(found):
            setattr(kind, name, _guard(found))


def _is_context_manager_function(found: object) -> bool:
    """Returns whether a function was made by `contextlib.contextmanager`."""
    return inspect.isfunction(found) and inspect.isgeneratorfunction(getattr(found, "__wrapped__", None))


@cache  # a method that has two names is wrapped once
def _guard(function: _Function) -> _Function:
    if _is_context_manager_function(function):
        return _guard_context_manager(function)
    if inspect.isgeneratorfunction(function):
        return _guard_generator(function)

    @wraps(function)
    def call_with_explanation(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except _EXPLAINED_EXCEPTIONS as failure:
            _raise_for_mismatch(function, arguments, named, failure)
            raise

    return call_with_explanation


def _guard_generator(function: _Function) -> _Function:
    @wraps(function)
    def call_with_explanation(*arguments: Any, **named: Any) -> Iterator[Any]:
        try:
            yield from function(*arguments, **named)
        except _EXPLAINED_EXCEPTIONS as failure:
            _raise_for_mismatch(function, arguments, named, failure)
            raise

    return call_with_explanation


def _guard_context_manager(function: _Function) -> _Function:
    @wraps(function)
    def call_with_explanation(*arguments: Any, **named: Any) -> Any:
        return _GuardedContextManager(function, arguments, named)

    return call_with_explanation


class _GuardedContextManager:
    """A context manager whose entry is checked; errors in its block are not."""

    __slots__ = ("_call", "_inner")

    def __init__(self, function: _Function, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        self._call = function, arguments, named
        self._inner = function(*arguments, **named)

    def __enter__(self) -> Any:
        try:
            return self._inner.__enter__()
        except _EXPLAINED_EXCEPTIONS as failure:
            _raise_for_mismatch(*self._call, failure)
            raise

    def __exit__(self, *failure: Any) -> Any:
        return self._inner.__exit__(*failure)


def _raise_for_mismatch(
    function: _Function, arguments: tuple[Any, ...], named: Mapping[str, Any], failure: BaseException
) -> None:
    """Raises `BuildTypeError` for the first argument that its annotation does not allow.

    Does nothing if all arguments fit, or if the error is one of this project, whose message already states the cause.
    """
    if type(failure).__module__.startswith("ptxkit"):
        return
    try:
        signature = inspect.signature(function)
        given = signature.bind(*arguments, **named).arguments
    except TypeError:
        return
    hints = _resolve_annotations(function)
    for name, value in given.items():
        hint = hints.get(name, Any)
        parameter = signature.parameters[name]
        for each in value if parameter.kind is inspect.Parameter.VAR_POSITIONAL else (value,):
            if not _matches_annotation(each, hint):
                raise BuildTypeError(
                    f"{function.__name__}: `{name}` is {parameter.annotation}, not {_describe_value(each)}"
                ) from failure


def _describe_value(value: object) -> str:
    if inspect.ismethod(value):
        return f"the method {value.__name__}; call it: `.{value.__name__}()`"
    if isinstance(value, int | float | str | bytes | Register | type) or value is None:
        return repr(value)
    return f"a {type(value).__name__}"


@cache
def _resolve_annotations(function: _Function) -> dict[str, Any]:
    """Returns the annotations of the parameters, with `Any` for those that cannot be evaluated at run time."""
    import ptxkit.build as package

    names = {**vars(typing), **vars(package), **function.__globals__}
    found = {}
    for name, annotation in inspect.get_annotations(function).items():
        try:
            found[name] = eval(annotation, names) if isinstance(annotation, str) else annotation
        except (NameError, TypeError, SyntaxError):
            found[name] = Any
    return found


def _matches_annotation(value: object, hint: Any) -> bool:
    """Returns whether a value is of the annotated type, as far as this can be checked at run time."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if hint is None:
        return value is None
    if isinstance(hint, typing.TypeVar):
        return hint.__bound__ is None or _matches_annotation(value, hint.__bound__)
    if origin in (typing.Union, types.UnionType):
        return any(_matches_annotation(value, each) for each in inner)
    if origin is typing.Literal:
        return value in inner
    if origin is type:
        return isinstance(value, type) and (not inner or not isinstance(inner[0], type) or issubclass(value, inner[0]))
    if isinstance(hint, type) and origin is None:
        return isinstance(value, hint) or (hint in (int, float) and hasattr(type(value), "__index__"))
    if not isinstance(origin, type):
        return True
    if not isinstance(value, origin):
        return False
    if isinstance(value, Register) and inner and isinstance(inner[0], type) and issubclass(inner[0], Scalar):
        return issubclass(value.type, inner[0])
    if isinstance(value, tuple | list) and inner:
        return all(_matches_annotation(each, inner[0]) for each in value) or len(inner) > 1
    return True
