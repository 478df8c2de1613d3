"""One instruction against the table: which form it is, and what keeps it from being one.

Answers are kept by opcode and by the classes of the operands, of which a program of 300,000 instructions has a few
thousand; only constants with a range are looked at each time.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.isa import table
from ptxkit.isa.forms import Gate, Match
from ptxkit.isa.shapes import Shape, fit_all, shape_of
from ptxkit.isa.table import Mismatch, Table
from ptxkit.isa.targets import Target, remedy, stated, unmet
from ptxkit.isa.words import clip, operand_words
from ptxkit.records import dataclass, replace
from ptxkit.syntax.tree import Function, Instruction
from ptxkit.validate.addresses import OPAQUE, misplaced, outgoing_parameter
from ptxkit.validate.alignment import is_static, misaligned
from ptxkit.validate.calls import call_problems, is_call
from ptxkit.validate.constants import has_limits, illegal_constants
from ptxkit.validate.loose import beyond_manual, is_taken_loosely
from ptxkit.validate.names import class_words, undeclared
from ptxkit.validate.problems import Problem
from ptxkit.validate.scopes import SPECIAL, UNKNOWN, Scope, is_symbol
from ptxkit.validate.typed_shapes import TypedShape, is_strange, names_in, remember
from ptxkit.validate.types import misfit, oddity, tolerance


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is known of all instructions with the same opcode and operand classes.

    limited: constants must be looked at. strange: some name is declared by nothing, or is a special register.
    misplaced: the operand whose symbol cannot stand there, and what would be right. is_call: arguments
    must be looked at. rivals: other forms that the operands fit, which may take the constants that this one does not,
    each with what keeps it from being used or makes it odd. static: an offset from a variable must be looked at.
    outgoing: the operand that is a parameter of a call, which no guard may stand before. particular: any of these.
    """

    match: Match | None
    problems: tuple[Problem, ...]
    limited: bool = False
    strange: bool = False
    misplaced: tuple[int, str] | None = None
    is_call: bool = False
    rivals: tuple[tuple[Match, tuple[Problem, ...]], ...] = ()
    static: bool = False
    outgoing: int | None = None
    particular: bool = False


class InstructionChecker:
    """Checks instructions of one module."""

    def __init__(self, table: Table, version: tuple[int, int] | None, target: Target | None) -> None:
        self._table, self._version, self._target = table, version, target
        self._answers: dict[tuple[object, ...], _Answer] = {}
        self._is_kernel = False
        self._directives: frozenset[str] = frozenset()

    def enter(self, function: Function) -> None:
        """The instructions that follow are those of this function."""
        self._is_kernel = function.kind == "entry"
        self._directives = frozenset(directive.name for directive in function.directives)

    def problems(self, instruction: Instruction, scope: Scope) -> tuple[Problem, ...]:
        """Everything wrong with the instruction: nothing, nearly always."""
        known = scope.shapes
        key = (
            instruction.opcode,
            *[known.get(id(operand)) or remember(operand, scope) for operand in instruction.operands],
        )
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answer(instruction, key[1:])
            strange = is_strange(key[1:])
            static = answer.match is not None and is_static(answer.match, key[1:])
            outgoing = outgoing_parameter(answer.match, key[1:]) if answer.match is not None else None
            particular = strange or static or answer.limited or answer.is_call or answer.misplaced is not None
            answer = replace(answer, strange=strange, static=static, outgoing=outgoing)
            answer = self._answers[key] = replace(answer, particular=particular or outgoing is not None)
        guard = instruction.guard
        if not (answer.particular or (guard is not None and scope.type_of(guard.predicate) != "pred")):
            return answer.problems
        return (*answer.problems, *self._particulars(instruction, scope, answer))

    def _particulars(self, instruction: Instruction, scope: Scope, answer: _Answer) -> Iterator[Problem]:
        """What depends on more than the opcode and the operands' classes."""
        if instruction.guard is not None:
            yield from self._guard(instruction.guard.predicate, scope)
            if answer.outgoing is not None:
                message = f"`{instruction.opcode}` reads or writes a parameter of a call, and has a guard"
                help_ = "guard the call itself, or move the value in a guarded instruction of its own"
                yield Problem("PTX104", message, answer.outgoing, None, help_)
        if answer.strange:
            yield from self._names(instruction, scope)
        if answer.limited and answer.match is not None:
            yield from _constants(answer, instruction)
        if answer.static and answer.match is not None:
            yield from misaligned(answer.match, instruction, scope)
        if answer.is_call and answer.match is not None:
            yield from call_problems(answer.match, instruction, scope)
        if answer.misplaced is not None and answer.match is not None:
            yield _misplaced_problem(answer.match, answer.misplaced, instruction, scope)

    def _guard(self, name: str, scope: Scope) -> Iterator[Problem]:
        found = scope.type_of(name)
        if found == UNKNOWN:
            yield undeclared(name, scope, role="the guard ")
        elif found != "pred":
            register = self._table.special(name) if found == SPECIAL else None
            if register is None or register.type != "pred":
                yield Problem("PTX104", f"the guard `{clip(name)}` is no predicate, but {class_words(found)}")

    def _names(self, instruction: Instruction, scope: Scope) -> Iterator[Problem]:
        """Names that nothing declares, and special registers that the module's version or target lacks."""
        for index, operand in enumerate(instruction.operands):
            for name in names_in(operand):
                found = scope.type_of(name)
                if found == UNKNOWN:
                    yield undeclared(name, scope, index)
                elif found == SPECIAL:
                    yield from self._special(name, index)

    def _special(self, name: str, index: int) -> Iterator[Problem]:
        register = self._table.special(name)
        missing = [each for each in register.companions if each not in self._directives] if register else []
        if missing and self._is_kernel:
            message = f"`{name}` is read only in a kernel with `.{missing[0]}`"
            yield Problem("PTX107", message, index, None, f"add `.{missing[0]}` to the kernel")
        if register is not None and register.requirements:
            closed = unmet((Gate(register.name, register.requirements),), self._version, self._target)
            if closed:
                needed = remedy(closed, self._version, self._target)
                have = stated(self._version, self._target)
                message = f"`{register.name}` needs {needed}, and the module has {have}"
                yield Problem("PTX801", message, index, None, f"raise the module to {needed}")

    def _answer(self, instruction: Instruction, typed: tuple[TypedShape, ...]) -> _Answer:
        candidates = self._table.candidates(instruction.opcode)
        shapes = tuple(shape_of(operand) for operand in instruction.operands)
        wrong: Problem | None = None
        locked: Problem | None = None
        elsewhere: _Answer | None = None
        for place, match in enumerate(candidates):
            if not fit_all(match.operands, shapes):
                continue
            found = _type_problem(match, typed)
            if found is not None and found.certain:
                wrong = wrong or found
                continue
            misplacement = misplaced(match, typed)
            if misplacement is not None:
                index, words, overlooked = misplacement
                if not overlooked:
                    elsewhere = elsewhere or _Answer(match, (), misplaced=(index, words))
                    continue
                found = found or _overlooked(match, index, words)
            closed = unmet(match.gates, self._version, self._target)
            if not closed:
                odd = (_tolerated(instruction, match),) if match.tolerated else () if found is None else (found,)
                limited = has_limits(match)
                rivals = self._rivals(instruction, candidates[:place] + candidates[place + 1 :], shapes, typed)
                return _Answer(match, odd, limited, is_call=is_call(match), rivals=tuple(rivals) if limited else ())
            if not (match.tolerated and wrong):  # nobody should want the version or target that tolerates it
                locked = locked or _gate_problem(match, closed, self._version, self._target)
        if elsewhere is not None and locked is None:
            return elsewhere
        if locked is not None or wrong is not None:
            return _Answer(None, (locked or wrong,))  # type: ignore[arg-type]
        return _Answer(None, (self._mismatch(instruction, shapes),))

    def _rivals(
        self,
        instruction: Instruction,
        candidates: tuple[Match, ...],
        shapes: tuple[Shape, ...],
        typed: tuple[TypedShape, ...],
    ) -> Iterator[tuple[Match, tuple[Problem, ...]]]:
        """The other forms that the operands fit: open ones first, each with its warning or its gate's problem."""
        locked = []
        for match in candidates:
            if not fit_all(match.operands, shapes) or misplaced(match, typed):
                continue
            found = _type_problem(match, typed)
            if found is not None and found.certain:
                continue
            closed = unmet(match.gates, self._version, self._target)
            if closed:
                locked.append((match, (_gate_problem(match, closed, self._version, self._target),)))
            else:
                yield match, (_tolerated(instruction, match),) if match.tolerated else () if found is None else (found,)
        yield from locked

    def _mismatch(self, instruction: Instruction, shapes: tuple[Shape, ...]) -> Problem:
        found = self._table.match(instruction)
        assert isinstance(found, Mismatch), shapes
        code = {"unknown-opcode": "PTX102", "modifiers": "PTX103", "operands": "PTX104"}[found.kind]
        help_ = f"the nearest form is `{found.nearest.syntax.removeprefix('form ')}`" if found.nearest else None
        return Problem(code, found.message, found.operand, found.nearest, help_)


def _constants(answer: _Answer, instruction: Instruction) -> Iterator[Problem]:
    """What is wrong with the constants, unless another form of the same operands takes them."""
    assert answer.match is not None
    constants = illegal_constants(answer.match, instruction)
    for rival, problems in answer.rivals if constants else ():
        if not illegal_constants(rival, instruction):
            yield from problems
            return
    yield from _constant_problems(answer.match, instruction, constants)


def _unwritable(shape: object, *, inside: bool = False) -> str | None:
    """What stands in a result, or among its elements, that cannot be written; a special register inside a vector is
    tolerated (`oddity`)."""
    if not isinstance(shape, tuple):
        return None
    if shape[0] in ("v", "p"):
        return next(filter(None, (_unwritable(part, inside=shape[0] == "v") for part in shape[1:])), None)
    things = {"s": "a special register", "c": "a constant"}
    if shape[0] not in things or (inside and shape[0] == "s"):
        return None
    return f"has {things[shape[0]]}, which cannot be written"


def _type_problem(match: Match, typed: tuple[TypedShape, ...]) -> Problem | None:
    """The first operand that cannot be of the type it has, else the first that assemblers only tolerate."""
    tolerated: Problem | None = None
    for index, (operand, shape) in enumerate(zip(match.operands, typed, strict=True)):
        wrong = misfit(operand, shape) or beyond_manual(operand, shape)
        is_result = operand.role in match.results
        if is_result and operand.immediates is None:
            wrong = _unwritable(shape) or wrong
        if wrong is None:
            strange = None if tolerated else oddity(operand, shape, is_result=is_result)
            if strange is not None:
                reason = f"operand {index + 1} of `{match.canonical}` is tolerated: {table().tolerance(strange)}"
                tolerated = Problem("PTX104", reason, index, match.form, certain=False, typed=True)
            continue
        help_ = f"it must be {operand_words(operand)}"
        message = f"operand {index + 1} of `{match.canonical}` {wrong}"
        lenient = tolerance(operand, shape, is_result=is_result)
        if is_taken_loosely(operand, shape, is_result=is_result):
            lenient = "loose_operand"
        if lenient is None:
            return Problem("PTX104", message, index, match.form, help_, typed=True)
        reason = f"{message}{_why(lenient)}"
        tolerated = tolerated or Problem("PTX104", reason, index, match.form, help_, certain=False, typed=True)
    return tolerated


def _overlooked(match: Match, index: int, words: str) -> Problem:
    """A warning where assemblers do not look what an element is part of."""
    reason = f"operand {index + 1} of `{match.canonical}` {words}{_why('overlooked_array')}"
    return Problem("PTX203", reason, index, match.form, certain=False, typed=True)


def _misplaced_problem(match: Match, wrong: tuple[int, str], instruction: Instruction, scope: Scope) -> Problem:
    """The problem of a symbol in a place that its space or kind forbids, with its declaration."""
    index, words = wrong
    symbols = [name for name in names_in(instruction.operands[index]) if is_symbol(scope.type_of(name))]
    shown = f": `{clip(symbols[0])}` is {class_words(scope.type_of(symbols[0]))}" if symbols else ""
    named = scope.find(symbols[0]) if symbols else None
    is_overlooked = words == OPAQUE and named is not None and named.is_array(symbols[0])
    return Problem(
        "PTX203",
        f"operand {index + 1} of `{match.canonical}` {words}{shown}{_why('overlooked_array') if is_overlooked else ''}",
        index,
        match.form,
        "name a symbol that fits, or use the form of the instruction for this one's state space",
        certain=not is_overlooked,
        related=(named, "declared here") if named is not None else None,
    )


def _why(tolerance: str) -> str:
    """The end of a warning about what assemblers take."""
    return f"; tolerated: {table().tolerance(tolerance)}"


def _tolerated(instruction: Instruction, match: Match) -> Problem:
    """A warning where assemblers take what the manual does not have."""
    help_ = f"write `{match.canonical}`" if match.canonical != instruction.opcode else None
    message = f"`{instruction.opcode}` is tolerated: {match.tolerated}"
    return Problem("PTX103", message, None, match.form, help_, certain=False)


def _gate_problem(match: Match, closed: list[Gate], version: tuple[int, int] | None, target: Target | None) -> Problem:
    needed = remedy(closed, version, target)
    subjects = ", ".join(dict.fromkeys(f"`{gate.subject}`" for gate in closed))
    have = stated(version, target)
    message = f"`{match.canonical}` needs {needed} (for {subjects}), and the module has {have}"
    return Problem("PTX801", message, None, match.form, f"raise the module to {needed}")


def _constant_problems(
    match: Match, instruction: Instruction, constants: list[tuple[int | None, str, bool]]
) -> Iterator[Problem]:
    for index, text, tolerated in constants:
        what = f"operand {index + 1} of `{instruction.opcode}`" if index is not None else f"`{match.canonical}`"
        why = _why("beyond_range") if tolerated else ""
        yield Problem("PTX105", f"{what} {text}{why}", index, match.form, certain=not tolerated)
