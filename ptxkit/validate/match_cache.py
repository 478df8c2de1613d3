"""A cache of the form and the problems of instructions, by their opcode and the classes of their operands.

A program of 300,000 instructions needs a few thousand entries, which the modules of one version and target share.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import count

from ptxkit.diagnostics import Message, Severity
from ptxkit.diagnostics.catalogue import declaration_helps, operand_reasons, ptx1xx, ptx2xx, ptx8xx
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa import table
from ptxkit.isa.forms import Gate, Match
from ptxkit.isa.operand_shapes import OperandShape, accept_shapes, shape_of
from ptxkit.isa.table import Mismatch
from ptxkit.isa.targets import Target, suggest_target, target_words, unmet_gates
from ptxkit.isa.wording import describe_operand
from ptxkit.syntax.tree import Instruction, Operand
from ptxkit.validate.addresses import find_misplaced, outgoing_parameter
from ptxkit.validate.alignment import is_static
from ptxkit.validate.calls import is_call
from ptxkit.validate.constants import has_limits
from ptxkit.validate.limits import MAX_CACHED_MATCHES
from ptxkit.validate.operand_types import mismatch_tolerance, tolerated_oddity, type_mismatch
from ptxkit.validate.problem import Problem
from ptxkit.validate.register_types import name_mismatch
from ptxkit.validate.sink_operands import without_sink
from ptxkit.validate.texture_brackets import regroup_brackets
from ptxkit.validate.tolerated_operands import is_tolerated_operand, manual_deviation
from ptxkit.validate.typed_operands import (
    TypedConstant,
    TypedName,
    TypedOperand,
    TypedPair,
    TypedSpecial,
    TypedVector,
)
from ptxkit.validate.typed_scope import TypedScope
from ptxkit.validate.typed_shapes import has_unresolved_name, typed_shape


@dataclass(frozen=True, slots=True)
class CachedMatch:
    """The facts about all instructions with the same opcode and operand classes.

    limited: constants must be checked. strange: some name is undeclared, or is a special register. misplaced: the
    operand whose symbol is not allowed there, and the valid operands. is_call: arguments must be checked. rivals: other
    forms that the operands fit, which may accept the constants that this one does not, each with the reason why it
    cannot be used or is unusual. static: an offset from a variable must be checked. outgoing: the operand that is a
    parameter of a call, which no guard may precede. alongside_sink: all facts concern the instruction without the sink
    next to its first operand. particular: any of these.
    """

    match: Match | None
    problems: tuple[Problem, ...]
    has_limited_constants: bool = False
    has_unresolved_names: bool = False
    misplaced: tuple[int, Message] | None = None
    is_call: bool = False
    alternatives: tuple[tuple[Match, tuple[Problem, ...]], ...] = ()
    has_static_address: bool = False
    outgoing_parameter: int | None = None
    needs_checks: bool = False
    ignores_sink: bool = False


class MatchCache:
    """The cache for modules of one version and target.

    A class of operands has a number, because a key of small numbers is found faster than one of nested classes.
    """

    def __init__(self, version: tuple[int, int] | None, target: Target | None) -> None:
        self._table, self._version, self._target = table(), version, target
        self._matches: dict[tuple[object, ...], CachedMatch] = {}
        self._numbers: dict[TypedOperand, int] = {}
        self._next = count()

    def lookup(self, instruction: Instruction, scope: TypedScope) -> CachedMatch:
        """Returns the facts about the instruction in this scope."""
        # An operand that is new to the scope has no number yet, so the key is not found.
        answer = self._matches.get((instruction.opcode, *map(scope.shapes.get, map(id, instruction.operands))))
        return self._compute(instruction, scope) if answer is None else answer

    def _compute(self, instruction: Instruction, scope: TypedScope) -> CachedMatch:
        key = (instruction.opcode, *[self._class_number(operand, scope) for operand in instruction.operands])
        answer = self._matches.get(key)
        if answer is None:
            if len(self._matches) >= MAX_CACHED_MATCHES:
                self._matches.clear()
            shapes = tuple(typed_shape(operand, scope) for operand in instruction.operands)
            answer = self._match_operands(instruction, shapes)
            if answer.match is None or answer.misplaced is not None:
                other = self._with_other_brackets(instruction, scope) or self._without_sink(instruction, scope)
                answer = other or answer
            self._matches[key] = answer
        return answer

    def _with_other_brackets(self, instruction: Instruction, scope: TypedScope) -> CachedMatch | None:
        """Returns the warning about an instruction that would be valid with other brackets, which assemblers do not
        check, or None.
        """
        for other, candidates in regroup_brackets(instruction, self._table.candidates(instruction.opcode)):
            found = self._best_match(
                other, tuple(typed_shape(operand, scope) for operand in other.operands), candidates
            )
            if (
                found is None
                or found.match is None
                or found.misplaced is not None
                or any(each.is_error for each in found.problems)
            ):
                continue
            reason = ptx1xx.OPCODE_TOLERATED(
                opcode=instruction.opcode, tolerance=table().tolerance("misplaced_brackets")
            )
            warning = Problem(reason, None, found.match.form, severity=Severity.WARNING)
            return CachedMatch(
                None,
                (warning,),
                has_unresolved_names=found.has_unresolved_names,
                needs_checks=found.has_unresolved_names,
            )
        return None

    def _without_sink(self, instruction: Instruction, scope: TypedScope) -> CachedMatch | None:
        """Returns the entry of the instruction without a sink next to its result, with a warning.

        Returns None if that is not better, and for calls, which assemblers parse differently.
        """
        other = without_sink(instruction)
        if other is None:
            return None
        found = self._match_operands(other, tuple(typed_shape(operand, scope) for operand in other.operands))
        if found.match is None or found.is_call:
            return None
        reason = ptx1xx.OPCODE_TOLERATED(opcode=instruction.opcode, tolerance=table().tolerance("sink_after_result"))
        warning = Problem(reason, 0, found.match.form, severity=Severity.WARNING)
        return replace(found, problems=(warning, *found.problems), ignores_sink=True, needs_checks=True)

    def _class_number(self, operand: Operand, scope: TypedScope) -> int:
        """Returns the number of the operand's class, which the scope caches: the parser shares equal operands."""
        number = scope.shapes.get(id(operand))
        if number is None:
            shape = typed_shape(operand, scope)
            number = self._numbers.get(shape)
            if number is None:
                number = self._numbers.setdefault(shape, next(self._next))
            scope.shapes[id(operand)] = number
        return number

    def _match_operands(self, instruction: Instruction, typed: tuple[TypedOperand, ...]) -> CachedMatch:
        found = self._best_match(instruction, typed, self._table.candidates(instruction.opcode))
        if found is not None:
            return found
        strange = any(map(has_unresolved_name, typed))
        return CachedMatch(None, (self._mismatch(instruction),), has_unresolved_names=strange, needs_checks=strange)

    def _best_match(
        self, instruction: Instruction, typed: tuple[TypedOperand, ...], candidates: tuple[Match, ...]
    ) -> CachedMatch | None:
        """Returns the entry of the first of these forms that accepts the operands, or the errors of the nearest one.

        Returns None if no form has operands of these kinds.
        """
        shapes = tuple(shape_of(operand) for operand in instruction.operands)
        wrong: Problem | None = None
        locked: Problem | None = None
        elsewhere: tuple[Match, tuple[int, Message]] | None = None
        for place, match in enumerate(candidates):
            if not accept_shapes(match.operands, shapes):
                continue
            found = _type_problem(match, typed)
            if found is not None and found.is_error:
                wrong = wrong or found
                continue
            misplacement = find_misplaced(match, typed)
            if misplacement is not None:
                index, words, tolerated = misplacement
                if not tolerated:
                    elsewhere = elsewhere or (match, (index, words))
                    continue
                found = found or _overlooked_warning(match, index, words, tolerated)
            closed = unmet_gates(match.gates, self._version, self._target)
            if not closed:
                others = candidates[:place] + candidates[place + 1 :] if has_limits(match) else ()
                rivals = tuple(self._find_alternatives(instruction, others, shapes, typed))
                return _cached_match(match, _tolerance_warnings(instruction, match, found), typed, rivals)
            if not (match.tolerated and wrong):  # the version or target that tolerates it is not recommended
                locked = locked or _gate_problem(match, closed, self._version, self._target)
        if elsewhere is not None and locked is None:
            return _misplaced_match(*elsewhere, typed)
        problem = locked or wrong
        strange = any(map(has_unresolved_name, typed))
        return CachedMatch(None, (problem,), has_unresolved_names=strange, needs_checks=strange) if problem else None

    def _find_alternatives(
        self,
        instruction: Instruction,
        candidates: tuple[Match, ...],
        shapes: tuple[OperandShape, ...],
        typed: tuple[TypedOperand, ...],
    ) -> Iterator[tuple[Match, tuple[Problem, ...]]]:
        """Returns the other forms that the operands fit: available ones first, each with its warning or its gate's
        problem.
        """
        locked = []
        for match in candidates:
            if not accept_shapes(match.operands, shapes):
                continue
            misplacement = find_misplaced(match, typed)
            if misplacement is not None and not misplacement[2]:
                continue
            found = _type_problem(match, typed)
            if found is not None and found.is_error:
                continue
            closed = unmet_gates(match.gates, self._version, self._target)
            if closed:
                locked.append((match, (_gate_problem(match, closed, self._version, self._target),)))
            else:
                yield match, _tolerance_warnings(instruction, match, found)
        yield from locked

    def _mismatch(self, instruction: Instruction) -> Problem:
        found = self._table.match(instruction)
        assert isinstance(found, Mismatch), instruction
        help_ = (
            declaration_helps.NEAREST_FORM(form=found.nearest.syntax.removeprefix("form ")) if found.nearest else None
        )
        return Problem(found.message, found.operand, found.nearest, help_)


@lru_cache(maxsize=64)
def match_cache_for(version: tuple[int, int] | None, target: Target | None) -> MatchCache:
    """Returns the cache for modules of this version and target."""
    return MatchCache(version, target)


def _cached_match(
    match: Match,
    problems: tuple[Problem, ...],
    typed: tuple[TypedOperand, ...],
    rivals: tuple[tuple[Match, tuple[Problem, ...]], ...],
) -> CachedMatch:
    """Returns the entry with the form, and the properties of the instruction that must be checked each time."""
    limited, strange, static = has_limits(match), any(map(has_unresolved_name, typed)), is_static(match, typed)
    calls, outgoing = is_call(match), outgoing_parameter(match, typed)
    particular = limited or strange or static or calls or outgoing is not None
    return CachedMatch(match, problems, limited, strange, None, calls, rivals, static, outgoing, particular)


def _misplaced_match(match: Match, wrong: tuple[int, Message], typed: tuple[TypedOperand, ...]) -> CachedMatch:
    """Returns the entry for a symbol that is not allowed in the only forms that the operands fit."""
    return CachedMatch(
        match,
        (),
        has_unresolved_names=any(map(has_unresolved_name, typed)),
        misplaced=wrong,
        has_static_address=is_static(match, typed),
        outgoing_parameter=outgoing_parameter(match, typed),
        needs_checks=True,
    )


def _tolerance_warnings(instruction: Instruction, match: Match, found: Problem | None) -> tuple[Problem, ...]:
    """Returns the warning about a form or an operand that assemblers only tolerate."""
    if match.tolerated:
        return (_tolerated_warning(instruction, match),)
    return () if found is None else (found,)


def _find_unwritable(
    shape: TypedOperand, *, takes_sink: bool, inside: bool = False, second: bool = False
) -> Message | None:
    """Returns the error in a result, or in an element of it, that cannot be written, or None.

    A special register inside a vector is tolerated (`tolerated_oddity`) if the sink is allowed, and a predicate as the
    second of a pair.
    """
    match shape:
        case TypedVector(elements):
            takes_sink = takes_sink or len(elements) == 1
            found = (_find_unwritable(part, takes_sink=takes_sink, inside=True) for part in elements)
            return next(filter(None, found), None)
        case TypedPair(former, latter):
            wrong = _find_unwritable(former, takes_sink=takes_sink)
            return wrong or _find_unwritable(latter, takes_sink=takes_sink, second=True)
        case TypedSpecial(types) if not (second and types[0] == "pred") and not (inside and takes_sink):
            return operand_reasons.SPECIAL_REGISTER_NOT_WRITTEN()
        case TypedConstant():
            return operand_reasons.CONSTANT_NOT_WRITTEN()
    return None


def _type_problem(match: Match, typed: tuple[TypedOperand, ...]) -> Problem | None:
    """Returns the problem of the first operand with an invalid type, else of the first that assemblers only
    tolerate.
    """
    tolerated: Problem | None = None
    for index, (operand, shape) in enumerate(zip(match.operands, typed, strict=True)):
        if (
            operand.kind == "register"
            and isinstance(shape, TypedName)
            and not (shape.part or operand.loose or operand.unhinted)
        ):
            wrong = name_mismatch(operand, shape.type)  # a plain register, whose type is the only possible error
            if wrong is None:
                continue
        wrong = type_mismatch(operand, shape) or manual_deviation(operand, shape)
        is_result = operand.role in match.results
        if is_result and operand.immediates is None and operand.kind != "arguments":
            takes_sink = operand.elements[0].sink if operand.kind == "pair" else operand.sink
            wrong = _find_unwritable(shape, takes_sink=takes_sink) or wrong
        if wrong is None:
            strange = None if tolerated else tolerated_oddity(operand, shape, is_result=is_result)
            if strange is not None:
                reason = ptx1xx.OPERAND_TOLERATED(
                    operand=index + 1, opcode=match.canonical, tolerance=table().tolerance(strange)
                )
                tolerated = Problem(reason, index, match.form, severity=Severity.WARNING, has_known_form=True)
            continue
        help_ = declaration_helps.OPERAND_MUST_BE(expected=describe_operand(operand))
        message = ptx1xx.OPERAND_WRONG(operand=index + 1, opcode=match.canonical, reason=wrong)
        lenient = mismatch_tolerance(operand, shape, is_result=is_result)
        if is_tolerated_operand(operand, shape, is_result=is_result):
            lenient = "loose_operand"
        if lenient is None:
            return Problem(message, index, match.form, help_, has_known_form=True)
        reason = ptx1xx.OPERAND_WRONG_BUT_TOLERATED(problem=message, tolerance=tolerance_reason(lenient))
        tolerated = tolerated or Problem(
            reason, index, match.form, help_, severity=Severity.WARNING, has_known_form=True
        )
    return tolerated


def _overlooked_warning(match: Match, index: int, words: Message, tolerance: str) -> Problem:
    """Returns a warning if assemblers do not check what a symbol is."""
    reason = ptx2xx.SYMBOL_TOLERATED(
        operand=index + 1, opcode=match.canonical, reason=words, tolerance=tolerance_reason(tolerance)
    )
    return Problem(reason, index, match.form, severity=Severity.WARNING, has_known_form=True)


def _tolerated_warning(instruction: Instruction, match: Match) -> Problem:
    """Returns a warning if assemblers accept what the manual does not have."""
    help_ = declaration_helps.WRITE_OPCODE(opcode=match.canonical) if match.canonical != instruction.opcode else None
    message = ptx1xx.MODIFIERS_TOLERATED(opcode=instruction.opcode, tolerance=match.tolerated)
    return Problem(message, None, match.form, help_, severity=Severity.WARNING)


def _gate_problem(match: Match, closed: list[Gate], version: tuple[int, int] | None, target: Target | None) -> Problem:
    needed = suggest_target(closed, version, target)
    subjects = ", ".join(dict.fromkeys(f"`{gate.subject}`" for gate in closed))
    have = target_words(version, target)
    message = ptx8xx.OPCODE_NEEDS_HEADING(opcode=match.canonical, needed=needed, subjects=subjects, have=have)
    return Problem(message, None, match.form, declaration_helps.RAISE_MODULE(needed=needed), payload=needed)


def tolerance_reason(tolerance: str) -> Message:
    """Returns the end of a warning about what assemblers accept."""
    return declaration_helps.TOLERATED(tolerance=table().tolerance(tolerance))
