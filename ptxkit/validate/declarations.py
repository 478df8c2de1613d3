"""Everything in a module but its instructions: heading, variables, functions' headers, directives."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.diagnostics import Severity
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
from ptxkit.validate.debugging import DebugChecker
from ptxkit.validate.directives import directive_forms, header_findings, prototype_findings, statement_findings
from ptxkit.validate.findings import Finding, Gatekeeper
from ptxkit.validate.initialisers import initial_findings
from ptxkit.validate.scopes import Scope
from ptxkit.validate.targets import heading_findings, samplers, texture_mode
from ptxkit.validate.unsupported import wrong_targets
from ptxkit.validate.variables import parameters_findings, prototype_parameters, variable_findings

_HEADING = frozenset({"version", "target", "address_size"})


class DeclarationChecker:
    """Checks the declarations and directives of one module, in their order."""

    def __init__(self, module: Module, gates: Gatekeeper) -> None:
        self._module, self._gates = module, gates
        self._aliases = AliasChecker()
        self._debug = DebugChecker(gates)
        self._texture_mode = texture_mode(module)

    def module(self) -> Iterator[Finding]:
        """`.version`, `.target` and `.address_size`, and what can never be linked."""
        yield from heading_findings(self._module, self._gates)
        yield from wrong_targets(self._module, self._gates)

    def item(self, item: Item, start: int, scope: Scope) -> Iterator[Finding]:
        """One item; of a function its header. scope: the names that are declared, those of the item included."""
        match item:
            case Declaration():
                yield from self._variable(item, "module", start, scope)
            case Function():
                yield from header_findings(item, start, self._gates)
                yield from parameters_findings(item, start, self._gates)
                for declaration in item.parameters:
                    yield from samplers(declaration, self._texture_mode, start)
            case Directive(name="alias"):
                yield from statement_findings(item, "module", start, self._gates)
                yield from self._aliases.check(item, start, scope)
            case Directive(name="@@DWARF"):
                yield from self._gates.feature("dwarf", start)
            case Directive(name="file"):
                yield from self._debug.file(item, start)
            case Directive(name=name) if name not in _HEADING:
                yield from statement_findings(item, "module", start, self._gates)
            case Section(name=name):
                yield from statement_findings(
                    Directive("section" if name[0] == "." else name), "module", start, self._gates
                )
                if name[0] == ".":
                    yield from self._debug.section(item, start)
            case _:
                pass

    def inner(self, function: Function, start: int, scope: Scope) -> Iterator[Finding]:
        """A function that is declared in the body of another."""
        message = "a function is declared in the body of another, as only some assemblers take"
        yield Finding(
            "PTX107", message, start, ".func", help="move it in front of the function", severity=Severity.WARNING
        )
        yield from self.item(function, start, scope)

    def statement(self, statement: Statement, function: Function, start: int, scope: Scope) -> Iterator[Finding]:
        """One statement of a body that is no instruction. scope: the names declared so far."""
        match statement:
            case Directive(name="loc"):
                yield from self._debug.loc(statement, start)
            case Declaration():
                yield from self._variable(statement, "body", start, scope)
            case Directive(name="alias"):
                message = "`.alias` stands in the body of a function, as only some assemblers take"
                help_ = "move it outside of functions"
                yield Finding("PTX107", message, start, ".alias", help=help_, severity=Severity.WARNING)
                yield from self._gates.check(directive_forms()["alias"].gates, "`.alias`", start, ".alias")
                yield from self._aliases.check(statement, start, scope)
            case Directive():
                yield from statement_findings(statement, f"{function.kind}_body", start, self._gates)
            case Prototype():
                yield from prototype_findings(statement, start, self._gates)
                yield from prototype_parameters(statement, start)
            case _:
                pass

    def _variable(self, declaration: Declaration, where: str, start: int, scope: Scope) -> Iterator[Finding]:
        yield from variable_findings(declaration, where, start, self._gates)
        yield from initial_findings(declaration, start, scope, self._gates)
        if declaration.declarators:
            yield from samplers(declaration, self._texture_mode, start)
