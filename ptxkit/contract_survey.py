"""Derives the launch contracts of one text: parses, validates, explores, and returns one contract for each kernel."""

from __future__ import annotations

from ptxkit.diagnostics import Severity
from ptxkit.linter import apply_overrides, failure_result
from ptxkit.model.launch_contract import FileContracts, LaunchContract
from ptxkit.settings.model import DEFAULT, Settings
from ptxkit.source import SourceFile
from ptxkit.syntax.tree import Module


def survey_contracts(source: SourceFile, settings: Settings = DEFAULT) -> FileContracts:
    """Returns the contracts of a file, or the diagnostics that state why none exist.

    Errors of a file that can be parsed are reported with its contracts. Of the settings, the launches and the heading
    are used.
    """
    from ptxkit.syntax import PTXSyntaxError, parse
    from ptxkit.validate import validate

    try:
        module, launched = apply_overrides(parse(source.text, source.path), settings)
        errors = [item for item in validate(module).diagnostics if item.severity == Severity.ERROR]
        contracts = derive_contracts(launched)
        return FileContracts(source.path, " ".join(module.targets), contracts, tuple(errors))
    except PTXSyntaxError as error:
        return FileContracts(source.path, diagnostics=error.diagnostics)
    except Exception as error:
        return FileContracts(source.path, diagnostics=failure_result(source.path, error).diagnostics)


def derive_contracts(module: Module) -> tuple[LaunchContract, ...]:
    """Returns the contract of each kernel of a module that was parsed; kernels without a body have none."""
    from ptxkit.analysis.context.kernel_facts import KernelFacts
    from ptxkit.analysis.ir.program import ModuleContext, flatten
    from ptxkit.analysis.symexec.explorer import Explorer
    from ptxkit.rules import RULES
    from ptxkit.rules.launch_contracts import derive_contract

    context, found = ModuleContext(module), []
    for function in module.functions():
        if function.kind != "entry" or function.body is None:
            continue
        explorer = Explorer(flatten(module, function, context, calls=True))
        if explorer.program.steps:
            explorer.run()
        found.append(derive_contract(module, KernelFacts(explorer), RULES))
    return tuple(found)
