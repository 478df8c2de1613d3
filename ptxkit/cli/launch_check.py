"""Compares a launch with the contract of its kernel, for commands that run kernels with any launch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from ptxkit.contract_survey import derive_kernel_contract
from ptxkit.diagnostics.catalogue import contract_words
from ptxkit.emulator import TensorMapArgument
from ptxkit.emulator.engine.launch_args import to_dim3
from ptxkit.model.launch_contract import PassedMap, ProposedLaunch
from ptxkit.syntax.tree import Function, Module


def find_broken_conditions(
    module: Module,
    kernel: Function,
    *,
    block: Sequence[int] | None,
    cluster: Sequence[int] | None,
    shared: int,
    arguments: Sequence[Any],
) -> Iterator[str]:
    """Yields a sentence for each condition of a kernel's contract that a launch does not satisfy.

    The alignment of arrays is not compared, because the machine chooses their addresses.
    """
    is_declared = kernel.directive("reqnctapercluster") is not None
    launch = ProposedLaunch(
        None if block is None else to_dim3(block, "block"),
        None if cluster is None and is_declared else to_dim3(cluster or 1, "cluster"),
        shared,
        {(at, 0): int(value) for at, value in enumerate(arguments) if isinstance(value, int)},
        {(at, 0): _passed_map(value) for at, value in enumerate(arguments) if isinstance(value, TensorMapArgument)},
    )
    sizes = [prod(block)] if block is not None else []
    contract = derive_kernel_contract(module, kernel, sizes=sizes)
    for each in contract.not_satisfied_by(launch):
        yield contract_words.NOT_SATISFIED(kernel=contract.kernel, line=each.line, condition=each.sentence)


def _passed_map(argument: TensorMapArgument) -> PassedMap:
    fields = argument.fields
    return PassedMap(fields.rank, fields.mode, prod(fields.box) * fields.element_size if fields.box else None)
