"""Derives the launch contracts of the kernels of one text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ptxkit.diagnostics import Verdict
from ptxkit.file_survey import survey_file
from ptxkit.model.launch_contract import LaunchContract
from ptxkit.model.survey import Survey
from ptxkit.settings.model import DEFAULT, Settings
from ptxkit.source import SourceFile
from ptxkit.syntax.tree import Function, Module

if TYPE_CHECKING:
    from ptxkit.analysis.context.kernel_facts import KernelFacts
    from ptxkit.diagnostics.obligation import JudgedObligation


def survey_contracts(source: SourceFile, settings: Settings = DEFAULT) -> Survey[LaunchContract]:
    """Returns the contracts of the kernels of a file, with the sufficient conditions, too."""
    return survey_file(source, settings, _derive_both)


def _derive_both(module: Module) -> Iterator[LaunchContract]:
    """Yields the contract of each kernel, with the conditions that suffice for what the rules leave open."""
    from ptxkit.rules import analyze
    from ptxkit.rules.sufficient_conditions import add_sufficient_conditions

    explored: dict[str, KernelFacts] = {}
    judged: list[JudgedObligation] = []
    questions = analyze(module, explored=explored, judged=judged).undecided
    for kernel in _kernels_of(module):
        contract = derive_kernel_contract(module, kernel, explored.get(kernel.name))
        yield add_sufficient_conditions(module, kernel, contract, questions, judged)


def _kernels_of(module: Module) -> Iterator[Function]:
    return (each for each in module.functions() if each.kind == "entry" and each.body is not None)


def derive_contracts(module: Module) -> tuple[LaunchContract, ...]:
    """Returns the contract of each kernel of a module that was parsed; kernels without a body have none."""
    return tuple(derive_kernel_contract(module, each) for each in _kernels_of(module))


def derive_kernel_contract(
    module: Module, kernel: Function, explored: KernelFacts | None = None, sizes: Sequence[int] | None = None
) -> LaunchContract:
    """Returns the contract of one kernel.

    explored: the kernel, if it was explored before. sizes: the numbers of threads to try first, where one that is
    possible suffices; all usual ones are tried for None, and none for an empty sequence.
    """
    from ptxkit.analysis.context.kernel_exploration import explore_kernel
    from ptxkit.rules import RULES
    from ptxkit.rules.launch_contracts import derive_contract

    return derive_contract(module, explored or explore_kernel(module, kernel), RULES, sizes)


def depends_on_thread_count(verdict: Verdict) -> bool:
    """Returns whether a finding or a question may occur with some numbers of threads only."""
    from ptxkit.rules.launch_contracts import THREAD_COUNT_CODES

    codes = {*(each.code for each in verdict.diagnostics), *(each.code for each in verdict.undecided)}
    return not codes.isdisjoint(THREAD_COUNT_CODES)
