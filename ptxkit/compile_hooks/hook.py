"""What a hook is, and how it wraps functions of a compiler so that no fault of it reaches the program."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

from ptxkit.fast_dataclasses import dataclass


class UnsupportedCompilerError(Exception):
    """The compiler does not have the interface that its hook uses. The text names what is missing."""


class TextSink(Protocol):
    """Receives the PTX that hooks find."""

    def submit(self, name: str, text: str | bytes | Callable[[], str]) -> None:
        """Accepts a text for a check. name: of the text in findings. A function makes the text later, in a thread."""

    def complain(self, message: str) -> None:
        """Prints a message, once."""


@dataclass(frozen=True, slots=True)
class CompileHook:
    """The hook of one compiler. module: after the import of this module, `install(module, sink)` is called once.

    compiler: its name in messages. install raises UnsupportedCompilerError.
    """

    compiler: str
    module: str
    install: Callable[[ModuleType, TextSink], None]


def attribute_of(owner: object, name: str) -> Any:
    """Returns an attribute that the hook needs. Raises UnsupportedCompilerError. name: may have dots."""
    found = owner
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            where = getattr(owner, "__name__", type(owner).__name__)
            raise UnsupportedCompilerError(f"`{where}.{name}` does not exist")
    return found


def call_after(owner: Any, name: str, sink: TextSink, after: Callable[..., None]) -> None:
    """Makes each call of `owner.name` also call `after(result, *arguments)`. Raises UnsupportedCompilerError."""
    original = attribute_of(owner, name)

    @functools.wraps(original)
    def call_both(*arguments: Any, **named: Any) -> Any:
        result = original(*arguments, **named)
        call_safely(sink, after, result, *arguments, **named)
        return result

    setattr(owner, name, call_both)


def call_safely(sink: TextSink, function: Callable[..., None], *arguments: Any, **named: Any) -> None:
    """Calls a function of a hook; an exception becomes a message."""
    try:
        function(*arguments, **named)
    except Exception as error:
        where = function.__module__.rpartition(".")[2]
        sink.complain(f"a kernel was not checked: {where}: {type(error).__name__}: {error}")
