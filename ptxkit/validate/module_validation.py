"""Checks a module as an assembler does, instruction by instruction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ptxkit.diagnostics import Diagnostic, Label, Severity, Verdict
from ptxkit.diagnostics.catalogue import declaration_helps, ptx1xx
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.targets import canonical_target, parse_target
from ptxkit.source import SourceFile, Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.tree import Block, Body, Directive, Function, Instruction, Module
from ptxkit.validate.backslash import backslash_diagnostic, backslashed_instructions, find_backslashes
from ptxkit.validate.declarations import DeclarationChecker
from ptxkit.validate.gate_checker import GateChecker
from ptxkit.validate.instructions import InstructionChecker
from ptxkit.validate.name_problems import redeclared_problem
from ptxkit.validate.nul_characters import nul_diagnostics
from ptxkit.validate.problem import Problem, WordLocation
from ptxkit.validate.redeclarations import item_problems
from ptxkit.validate.target_lists import list_problems
from ptxkit.validate.typed_scope import TypedScope

# The newest version whose instructions the table describes: in a later one, an instruction without a form may be new.
NEWEST_VERSION = (9, 5)


def validate(module: Module) -> Verdict:
    """Checks every instruction: forms, operands, constants, and the requirements of `.version` and `.target`.

    Codes: PTX102 (once for each unknown opcode; a note if the version is newer than the table), PTX103 modifiers,
    PTX104 operands, PTX105 constants, PTX801 version and target.
    """
    return Verdict(tuple(_ModuleValidation(module).diagnostics()))


class _ModuleValidation:
    def __init__(self, module: Module) -> None:
        named = [name for name in map(canonical_target, module.targets) if name is not None]
        targets = [target for target in map(parse_target, named) if target is not None]
        self.module = module
        self.source = module.source or SourceFile("<built>", "")
        target = targets[0] if targets else None
        if target is not None and "texmode_independent" in module.targets:
            target = replace(target, texmode="independent")
        self.checker = InstructionChecker(module.version, target)
        self.declarations = DeclarationChecker(module, GateChecker(module.version, target))
        self.is_newer = (module.version or (1, 0)) > NEWEST_VERSION
        self.scope = TypedScope()
        self.backslashes = find_backslashes(self.source)
        self.unknown: Counter[str] = Counter()
        self.first_unknown: dict[str, tuple[Problem, int]] = {}

    def diagnostics(self) -> Iterator[Diagnostic]:
        yield from nul_diagnostics(self.source)
        yield from map(self._diagnostic, self.declarations.check_module())
        scope = self.scope
        for item, start in self.module.with_offsets():
            for problem in item_problems(item, start, scope):
                yield self._diagnostic(problem, start)
            yield from map(self._diagnostic, self.declarations.check_item(item, start, scope))
            if isinstance(item, Function) and item.body is not None:
                yield from self._check_function(item, TypedScope(scope), start)
        for name, (problem, start) in self.first_unknown.items():
            yield self._unknown_opcode_diagnostic(name, problem, start)

    def _check_function(self, function: Function, scope: TypedScope, start: int) -> Iterator[Diagnostic]:
        for clash in scope.enter_parameters(function, start):
            yield self._diagnostic(redeclared_problem(clash), start)
        if function.body is not None:
            self.checker.enter(function)
            yield from self._check_body(function.body, scope, function)

    def _check_body(self, body: Body, scope: TypedScope, function: Function) -> Iterator[Diagnostic]:
        check = self.checker.problems
        scope.enter_labels(body)
        for statement, start in body.with_offsets():
            if isinstance(statement, Instruction):
                for problem in check(statement, scope):
                    yield from self._report(statement, problem, start)
            elif isinstance(statement, Block):
                yield from self._check_body(statement.body, TypedScope(scope), function)
            elif isinstance(statement, Function):
                yield from self._check_nested_function(statement, scope, start)
            else:
                if not isinstance(statement, Directive) or statement.label is not None:
                    for clash in scope.enter(statement, start):
                        yield self._diagnostic(redeclared_problem(clash), start)
                yield from map(self._diagnostic, self.declarations.check_statement(statement, function, start, scope))
        for problem, start in list_problems(body, scope):
            yield self._diagnostic(problem, start)
        for instruction, place in (
            backslashed_instructions(body, self.source, self.backslashes) if self.backslashes else ()
        ):
            is_call = self.checker.is_call(instruction, scope)
            yield backslash_diagnostic(instruction, place, self.source, is_call=is_call)

    def _check_nested_function(self, function: Function, scope: TypedScope, start: int) -> Iterator[Diagnostic]:
        """Checks a function that is declared in the body of another, whose name is one of the module's."""
        for problem in item_problems(function, start, self.scope):
            yield self._diagnostic(problem, start)
        scope.clear_memo()
        yield from map(self._diagnostic, self.declarations.check_nested_function(function, start, scope))

    def _report(self, instruction: Instruction, problem: Problem, start: int) -> Iterator[Diagnostic]:
        if problem.code == ptx1xx.UNKNOWN_OPCODE:
            self.unknown[instruction.name] += 1
            self.first_unknown.setdefault(instruction.name, (problem, start))
            return
        may_be_new = (
            self.is_newer
            and problem.code in (ptx1xx.WRONG_MODIFIERS, ptx1xx.WRONG_OPERANDS)
            and not problem.has_known_form
        )
        problem = replace(problem, severity=Severity.WARNING) if may_be_new else problem
        yield self._diagnostic(problem, start, {"opcode": instruction.opcode})

    def _diagnostic(
        self, problem: Problem, start: int = 0, properties: Mapping[str, object] | None = None
    ) -> Diagnostic:
        """Returns the diagnostic of a problem. start: of its statement or item, if the problem does not state it."""
        span, opcode = self._locate(problem, start)
        section = problem.section or (problem.form.section if problem.form is not None else None)
        return Diagnostic(
            problem.code,
            problem.severity or problem.code.severity,
            str(problem.message),
            self.source,
            span,
            labels=self._problem_labels(problem),
            help=None if problem.help is None else str(problem.help),
            isa=(section,) if section else (),
            properties=properties or {},
            payload=problem.payload,
            facts=problem.message,
            wording=f"{opcode}: {problem.message}" if opcode else "",
        )

    def _locate(self, problem: Problem, start: int) -> tuple[Span, str]:
        """Returns the location of a problem, and the opcode of its instruction, or an empty text."""
        if isinstance(problem.location, WordLocation):
            return problem.location.span(self.source), ""
        if not self.source.text:
            return Span(start, start), ""
        spans = statement_spans(self.source, start)
        span = spans.opcode or spans.statement
        opcode = self.source.text[span.start : span.end] if spans.opcode else ""
        if problem.location is not None and problem.location < len(spans.operands):
            span = spans.operands[problem.location]
        return span, opcode

    def _problem_labels(self, problem: Problem) -> tuple[Label, ...]:
        if problem.related is None or not self.source.text:
            return ()
        named, words = problem.related
        return (Label(statement_spans(self.source, named.start).statement, str(words)),)

    def _unknown_opcode_diagnostic(self, name: str, problem: Problem, start: int) -> Diagnostic:
        count = self.unknown[name]
        times = declaration_helps.COUNT_IN_FILE(count=count) if count > 1 else ""
        spans = statement_spans(self.source, start) if self.source.text else None
        span = (spans.opcode or spans.statement) if spans else Span(start, start)
        return Diagnostic(
            ptx1xx.UNKNOWN_OPCODE,
            Severity.NOTE if self.is_newer else Severity.ERROR,
            f"{problem.message}{times}{declaration_helps.NOT_CHECKED() if self.is_newer else ''}",
            self.source,
            span,
            properties={"opcode": name, "count": count},
            facts=problem.message,
        )
