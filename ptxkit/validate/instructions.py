"""Checks one instruction against the table: cached facts about its kind, and properties of the individual
instruction.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.diagnostics import Message, Severity
from ptxkit.diagnostics.catalogue import declaration_helps, ptx1xx, ptx2xx, ptx8xx
from ptxkit.isa import table
from ptxkit.isa.forms import Gate, Match
from ptxkit.isa.targets import Target, suggest_target, target_words, unmet_gates
from ptxkit.isa.wording import clip_text
from ptxkit.semantics.symbols import is_symbol
from ptxkit.syntax.tree import Function, Instruction, operand_names
from ptxkit.validate.alignment import misalignment_problems
from ptxkit.validate.calls import call_problems
from ptxkit.validate.constants import illegal_constants
from ptxkit.validate.match_cache import CachedMatch, match_cache_for, tolerance_reason
from ptxkit.validate.name_problems import describe_class, undeclared_problem
from ptxkit.validate.problem import Problem
from ptxkit.validate.sink_operands import without_sink
from ptxkit.validate.typed_scope import SPECIAL, UNKNOWN, TypedScope


class InstructionChecker:
    """Checks instructions of one module."""

    def __init__(self, version: tuple[int, int] | None, target: Target | None) -> None:
        self._version, self._target = version, target
        self._match_cache = match_cache_for(version, target)
        self._is_kernel = False
        self._directives: frozenset[str] = frozenset()

    def enter(self, function: Function) -> None:
        """Begins the instructions of a function."""
        self._is_kernel = function.kind == "entry"
        self._directives = frozenset(directive.name for directive in function.directives)

    def problems(self, instruction: Instruction, scope: TypedScope) -> tuple[Problem, ...]:
        """Returns all errors of the instruction; an empty list for most."""
        answer = self._match_cache.lookup(instruction, scope)
        guard = instruction.guard
        if not (answer.needs_checks or (guard is not None and scope.type_of(guard.predicate) != "pred")):
            return answer.problems
        return (*answer.problems, *self._specific_problems(instruction, scope, answer))

    def is_call(self, instruction: Instruction, scope: TypedScope) -> bool:
        """Returns whether the instruction is a call."""
        return self._match_cache.lookup(instruction, scope).is_call

    def _specific_problems(self, instruction: Instruction, scope: TypedScope, answer: CachedMatch) -> Iterator[Problem]:
        """Yields the problems that depend on more than the opcode and the operands' classes."""
        if answer.ignores_sink:
            instruction = without_sink(instruction) or instruction
        if instruction.guard is not None:
            yield from self._guard_problems(instruction.guard.predicate, scope)
            if answer.outgoing_parameter is not None:
                message = ptx1xx.GUARDED_PARAMETER_ACCESS(opcode=instruction.opcode)
                help_ = declaration_helps.GUARD_CALL()
                yield Problem(message, answer.outgoing_parameter, None, help_)
        if answer.has_unresolved_names:
            yield from self._name_problems(instruction, scope)
        if answer.has_limited_constants and answer.match is not None:
            yield from _constant_range_problems(answer, instruction)
        if answer.has_static_address and answer.match is not None:
            yield from misalignment_problems(answer.match, instruction, scope)
        if answer.is_call and answer.match is not None:
            yield from call_problems(answer.match, instruction, scope)
        if answer.misplaced is not None and answer.match is not None:
            yield _misplaced_problem(answer.match, answer.misplaced, instruction, scope)

    def _guard_problems(self, name: str, scope: TypedScope) -> Iterator[Problem]:
        found = scope.type_of(name)
        if found == UNKNOWN:
            yield undeclared_problem(name, scope, role=declaration_helps.THE_GUARD())
        elif found != "pred":
            register = table().special(name) if found == SPECIAL else None
            if register is None or register.type != "pred":
                yield Problem(ptx1xx.GUARD_NO_PREDICATE(name=clip_text(name), kind=describe_class(found)))

    def _name_problems(self, instruction: Instruction, scope: TypedScope) -> Iterator[Problem]:
        """Yields undeclared names, and special registers that the module's version or target lacks, each once."""
        reported: set[str] = set()
        for index, operand in enumerate(instruction.operands):
            for name in operand_names(operand):
                if name in reported:
                    continue
                reported.add(name)
                found = scope.type_of(name)
                if found == UNKNOWN:
                    yield undeclared_problem(name, scope, index)
                elif found == SPECIAL:
                    yield from self._special_register_problems(name, index)

    def _special_register_problems(self, name: str, index: int) -> Iterator[Problem]:
        register = table().special(name)
        missing = [each for each in register.companions if each not in self._directives] if register else []
        if missing and self._is_kernel:
            message = ptx1xx.SPECIAL_REGISTER_NEEDS_DIRECTIVE(name=name, directive=missing[0])
            yield Problem(message, index, None, declaration_helps.ADD_TO_KERNEL(directive=missing[0]))
        if register is not None and register.requirements:
            closed = unmet_gates((Gate(register.name, register.requirements),), self._version, self._target)
            if closed:
                needed = suggest_target(closed, self._version, self._target)
                have = target_words(self._version, self._target)
                message = ptx8xx.NEEDS_HEADING(subject=register.name, needed=needed, have=have)
                yield Problem(message, index, None, declaration_helps.RAISE_MODULE(needed=needed), payload=needed)


def _constant_range_problems(answer: CachedMatch, instruction: Instruction) -> Iterator[Problem]:
    """Yields the errors in the constants, unless another form of the same operands accepts them."""
    assert answer.match is not None
    constants = illegal_constants(answer.match, instruction)
    for rival, problems in answer.alternatives if constants else ():
        if not illegal_constants(rival, instruction):
            yield from problems
            return
    yield from _constant_problems(answer.match, instruction, constants)


def _misplaced_problem(
    match: Match, wrong: tuple[int, Message], instruction: Instruction, scope: TypedScope
) -> Problem:
    """Returns the problem of a symbol whose state space or kind is not allowed there, with its declaration."""
    index, words = wrong
    symbols = [name for name in operand_names(instruction.operands[index]) if is_symbol(scope.type_of(name))]
    shown = (
        declaration_helps.SYMBOL_IS(name=clip_text(symbols[0]), kind=describe_class(scope.type_of(symbols[0])))
        if symbols
        else ""
    )
    named = scope.find(symbols[0]) if symbols else None
    return Problem(
        ptx2xx.SYMBOL_OF_WRONG_SPACE(operand=index + 1, opcode=match.canonical, reason=words, symbol=shown),
        index,
        match.form,
        declaration_helps.NAME_FITTING_SYMBOL(),
        related=(named, declaration_helps.DECLARED_HERE()) if named is not None else None,
    )


def _constant_problems(
    match: Match, instruction: Instruction, constants: list[tuple[int | None, Message, bool]]
) -> Iterator[Problem]:
    for index, text, tolerated in constants:
        what = (
            declaration_helps.OPERAND_OF(operand=index + 1, opcode=instruction.opcode)
            if index is not None
            else f"`{match.canonical}`"
        )
        reason = tolerance_reason("beyond_range") if tolerated else ""
        yield Problem(
            ptx1xx.CONSTANT_NOT_ALLOWED(operand=what, reason=text, tolerance=reason),
            index,
            match.form,
            severity=Severity.WARNING if tolerated else None,
        )
