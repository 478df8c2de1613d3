"""The kernel that a command runs, and its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ptxkit.cli.usage_errors import CommandLineError
from ptxkit.mangled_names import distinct_short_names, names_meant, short_name
from ptxkit.syntax.tree import Function, Module
from ptxkit.verifier import ArgumentSpec
from ptxkit.verifier.parameter_names import (
    by_parameter,
    choose_parameter,
    display_names,
    find_parameter,
    parameter_names,
)


def choose_kernel(module: Module, entry: str | None, path: str) -> Function:
    """Returns the kernel of a name, or the only one. Raises CommandLineError."""
    kernels = {each.name: each for each in module.functions() if each.kind == "entry" and each.body is not None}
    names = list(kernels) if entry is None else names_meant(entry, kernels)
    if len(names) == 1:
        return kernels[names[0]]
    if entry is None:
        what = f"`{path}` has {len(names)} kernels, but one is required"
    elif names:
        what = f"`{path}` has several kernels `{entry}`"
    else:
        raise CommandLineError(
            f"there is no kernel `{entry}` in `{path}`", _choices("the kernels are", distinct_short_names(kernels))
        )
    raise CommandLineError(what, _choices("choose one by `--entry`", names))


def _choices(introduction: str, names: Sequence[str]) -> str:
    return f"{introduction} {', '.join(f'`{each}`' for each in names) or 'none'}"


def require_block(kernel: Function, block: tuple[int, ...] | None) -> None:
    """Raises CommandLineError if neither the kernel nor the command line states the number of threads of a CTA."""
    if block is None and kernel.directive("reqntid") is None:
        what = f"the kernel `{kernel.name}` has no .reqntid, so the number of threads of a CTA is unknown"
        raise CommandLineError(what, "write `--block 128`, for example")


def bind_arguments(kernel: Function, given: dict[str, ArgumentSpec], seed: int) -> list[Any]:
    """Returns the arguments in the order of the parameters. seed: of random contents. Raises CommandLineError."""
    try:
        return _bind_arguments(kernel, given, seed)
    except MemoryError as error:
        raise CommandLineError(f"an argument does not fit into memory: {error}", "write a smaller shape") from error


def _bind_arguments(kernel: Function, given: dict[str, ArgumentSpec], seed: int) -> list[Any]:
    chance = numpy.random.default_rng(seed)
    for text in given:
        if find_parameter(text, kernel) is None:
            what = f"the kernel `{short_name(kernel.name)}` has no parameter `{text}`"
            raise CommandLineError(what, choose_parameter([kernel]))
    bound = by_parameter(given, kernel)
    names = parameter_names(kernel)
    missing = [shown for name, shown in zip(names, display_names(kernel), strict=True) if name not in bound]
    if missing:
        what = _choices(f"the kernel `{short_name(kernel.name)}` requires a value for each of", missing)
        raise CommandLineError(what, f"write `--arg {missing[0]}=VALUE`")
    return [bound[name].make_value(chance) for name in names]
