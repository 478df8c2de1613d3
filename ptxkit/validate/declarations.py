"""Checks the parts of a module other than its instructions: heading, variables, functions' headers, directives."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import directive_helps, ptx1xx
from ptxkit.syntax.tree import (
    Declaration,
    Directive,
    Function,
    Item,
    Module,
    Prototype,
    Section,
    Statement,
)
from ptxkit.validate.aliases import AliasChecker
from ptxkit.validate.debug_info import DebugChecker
from ptxkit.validate.directives import directive_forms, directive_problems, header_problems, prototype_problems
from ptxkit.validate.gate_checker import GateChecker
from ptxkit.validate.heading import heading_problems, sampler_problems, texture_mode
from ptxkit.validate.initializers import initializer_problems
from ptxkit.validate.problem import Problem, WordLocation
from ptxkit.validate.typed_scope import TypedScope
from ptxkit.validate.unsupported_wrappers import wrong_target_problems
from ptxkit.validate.variables import parameter_problems, prototype_parameter_problems, variable_problems

_HEADING = frozenset({"version", "target", "address_size"})


class DeclarationChecker:
    """Checks the declarations and directives of one module, in their order."""

    def __init__(self, module: Module, gates: GateChecker) -> None:
        self._module, self._gates = module, gates
        self._aliases = AliasChecker()
        self._debug = DebugChecker(gates)
        self._texture_mode = texture_mode(module)

    def check_module(self) -> Iterator[Problem]:
        """Checks `.version`, `.target` and `.address_size`, and declarations that can never be linked."""
        yield from heading_problems(self._module, self._gates)
        yield from wrong_target_problems(self._module, self._gates)

    def check_item(self, item: Item, start: int, scope: TypedScope) -> Iterator[Problem]:
        """Checks one item, or the header of a function. scope: the declared names, including those of the item."""
        match item:
            case Declaration():
                yield from self._check_variable(item, "module", start, scope)
            case Function():
                yield from header_problems(item, start, self._gates)
                yield from parameter_problems(item, start, self._gates)
                for declaration in item.parameters:
                    yield from sampler_problems(declaration, self._texture_mode, start)
            case Directive(name="alias"):
                yield from directive_problems(item, "module", start, self._gates)
                yield from self._aliases.check(item, start, scope)
            case Directive(name="@@DWARF"):
                yield from self._gates.check_feature("dwarf", start)
            case Directive(name="file"):
                yield from self._debug.check_file(item, start)
            case Directive(name=name) if name not in _HEADING:
                yield from directive_problems(item, "module", start, self._gates)
            case Section(name=name):
                yield from directive_problems(
                    Directive("section" if name[0] == "." else name), "module", start, self._gates
                )
                if name[0] == ".":
                    yield from self._debug.check_section(item, start)
            case _:
                pass

    def check_nested_function(self, function: Function, start: int, scope: TypedScope) -> Iterator[Problem]:
        """Checks a function that is declared in the body of another."""
        message = ptx1xx.NESTED_FUNCTION_TOLERATED()
        yield Problem(
            message,
            WordLocation(start, ".func"),
            help=directive_helps.MOVE_BEFORE_FUNCTION(),
            severity=Severity.WARNING,
        )
        yield from self.check_item(function, start, scope)

    def check_statement(
        self, statement: Statement, function: Function, start: int, scope: TypedScope
    ) -> Iterator[Problem]:
        """Checks one statement of a body that is not an instruction. scope: the names declared so far."""
        match statement:
            case Directive(name="loc"):
                yield from self._debug.check_loc(statement, start)
            case Declaration():
                yield from self._check_variable(statement, "body", start, scope)
            case Directive(name="alias"):
                message = ptx1xx.NESTED_ALIAS_TOLERATED()
                help_ = directive_helps.MOVE_OUT_OF_FUNCTIONS()
                yield Problem(
                    message,
                    WordLocation(start, ".alias"),
                    help=help_,
                    severity=Severity.WARNING,
                )
                yield from self._gates.check(directive_forms()["alias"].gates, "`.alias`", start, ".alias")
                yield from self._aliases.check(statement, start, scope)
            case Directive():
                yield from directive_problems(statement, f"{function.kind}_body", start, self._gates)
            case Prototype():
                yield from prototype_problems(statement, start, self._gates)
                yield from prototype_parameter_problems(statement, start)
            case _:
                pass

    def _check_variable(self, declaration: Declaration, where: str, start: int, scope: TypedScope) -> Iterator[Problem]:
        yield from variable_problems(declaration, where, start, self._gates)
        yield from initializer_problems(declaration, start, scope, self._gates)
        if declaration.declarators:
            yield from sampler_problems(declaration, self._texture_mode, start)
