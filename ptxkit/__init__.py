"""ptxkit: parses, verifies, builds and runs PTX.

Most users need four names: `parse(text)` returns the module, `str(module)` its text, `lint(text_or_module)` the
verdict, and `parse` raises `PTXSyntaxError`. `link` links kernels with other modules, and `torch_op` makes an operator
of PyTorch from one. `watch` checks the kernels that the program compiles. The rest of the package is imported on first
use, so that `import ptxkit` takes no time.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` takes too long to import for a program that does little


if TYPE_CHECKING:
    from ptxkit.compile_hooks import watch
    from ptxkit.device import link, torch_op
    from ptxkit.diagnostics import Diagnostic, Label, Severity, Undecided, Verdict
    from ptxkit.linter import lint
    from ptxkit.source import SourceFile, Span
    from ptxkit.syntax import PTXSyntaxError, format_source, parse
    from ptxkit.syntax.tree import Module

    __version__: str

__all__ = [
    "Diagnostic",
    "Label",
    "Module",
    "PTXSyntaxError",
    "Severity",
    "SourceFile",
    "Span",
    "Undecided",
    "Verdict",
    "__version__",
    "format_source",
    "link",
    "lint",
    "parse",
    "torch_op",
    "watch",
]

_HOMES = {
    "Diagnostic": "ptxkit.diagnostics",
    "Label": "ptxkit.diagnostics",
    "Module": "ptxkit.syntax.tree",
    "PTXSyntaxError": "ptxkit.syntax",
    "Severity": "ptxkit.diagnostics",
    "SourceFile": "ptxkit.source",
    "Span": "ptxkit.source",
    "Undecided": "ptxkit.diagnostics",
    "Verdict": "ptxkit.diagnostics",
    "format_source": "ptxkit.syntax",
    "link": "ptxkit.device",
    "lint": "ptxkit.linter",
    "parse": "ptxkit.syntax",
    "torch_op": "ptxkit.device",
    "watch": "ptxkit.compile_hooks",
}
"""The module that defines each public name."""


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        value: object = version("ptxkit")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
