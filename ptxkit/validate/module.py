"""What an assembler checks in a module, instruction by instruction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ptxkit.diagnostics import Diagnostic, Severity, Verdict
from ptxkit.isa import table
from ptxkit.isa.targets import parse_target
from ptxkit.source import SourceFile, Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.tree import Block, Body, Instruction, Module
from ptxkit.validate.instructions import InstructionChecker, Problem
from ptxkit.validate.scopes import Scope, function_scope, module_scope

# The newest version whose instructions the table describes: beyond it, what has no form may be new.
NEWEST_VERSION = (9, 4)


def validate(module: Module) -> Verdict:
    """Check every instruction: forms, operands, constants, and what `.version` and `.target` allow.

    Codes: PTX102 (note, once for each unknown opcode), PTX103 modifiers, PTX104 operands, PTX105 constants,
    PTX801 version and target.
    """
    return Verdict(tuple(_Validation(module).diagnostics()))


class _Validation:
    def __init__(self, module: Module) -> None:
        targets = [target for target in map(parse_target, module.targets) if target is not None]
        self.module = module
        self.source = module.source or SourceFile("<built>", "")
        self.checker = InstructionChecker(table(), module.version, targets[0] if targets else None)
        self.is_newer = (module.version or (1, 0)) > NEWEST_VERSION
        self.unknown: Counter[str] = Counter()
        self.first_unknown: dict[str, tuple[Problem, int]] = {}

    def diagnostics(self) -> Iterator[Diagnostic]:
        outer = module_scope(self.module)
        for function in self.module.functions():
            if function.body is not None:
                yield from self._body(function.body, function_scope(function, outer))
        for name, (problem, start) in self.first_unknown.items():
            yield self._unknown(name, problem, start)

    def _body(self, body: Body, scope: Scope) -> Iterator[Diagnostic]:
        check = self.checker.problems
        for statement, start in body.located():
            if isinstance(statement, Instruction):
                for problem in check(statement, scope):
                    yield from self._report(statement, problem, start)
            elif isinstance(statement, Block):
                inner = Scope(scope)
                inner.enter(statement.body)
                yield from self._body(statement.body, inner)

    def _report(self, instruction: Instruction, problem: Problem, start: int) -> Iterator[Diagnostic]:
        if problem.code == "PTX102":
            self.unknown[instruction.name] += 1
            self.first_unknown.setdefault(instruction.name, (problem, start))
            return
        may_be_new = self.is_newer and problem.code in ("PTX103", "PTX104") and not problem.typed
        uncertain = may_be_new or not problem.certain
        spans = statement_spans(self.source, start) if self.source.text else None
        span = Span(start, start)
        if spans is not None:
            span = spans.opcode or spans.statement
            if problem.operand is not None and problem.operand < len(spans.operands):
                span = spans.operands[problem.operand]
        yield Diagnostic(
            problem.code,
            Severity.WARNING if uncertain else Severity.ERROR,
            problem.message,
            self.source,
            span,
            help=problem.help,
            isa=(problem.form.section,) if problem.form is not None and problem.form.section else (),
            properties={"opcode": instruction.opcode},
        )

    def _unknown(self, name: str, problem: Problem, start: int) -> Diagnostic:
        count = self.unknown[name]
        times = f" ({count} instructions in this file)" if count > 1 else ""
        spans = statement_spans(self.source, start) if self.source.text else None
        span = (spans.opcode or spans.statement) if spans else Span(start, start)
        return Diagnostic(
            "PTX102",
            Severity.NOTE,
            f"{problem.message}{times}; it is not checked",
            self.source,
            span,
            properties={"opcode": name, "count": count},
        )
