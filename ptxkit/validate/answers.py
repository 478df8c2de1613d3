"""What is known of instructions by their opcode and the classes of their operands: the form, and what is wrong.

A program of 300,000 instructions asks for a few thousand answers, and the modules of one version and target share them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import count

from ptxkit.isa import table
from ptxkit.isa.forms import Gate, Match
from ptxkit.isa.shapes import Shape, fit_all, shape_of
from ptxkit.isa.table import Mismatch
from ptxkit.isa.targets import Target, remedy, stated, unmet
from ptxkit.isa.words import operand_words
from ptxkit.limits import MAX_KEPT_ANSWERS
from ptxkit.records import dataclass, replace
from ptxkit.syntax.tree import Instruction, Operand
from ptxkit.validate.addresses import misplaced, outgoing_parameter
from ptxkit.validate.alignment import is_static
from ptxkit.validate.brackets import regrouped
from ptxkit.validate.calls import is_call
from ptxkit.validate.constants import has_limits
from ptxkit.validate.loose import beyond_manual, is_taken_loosely
from ptxkit.validate.problems import Problem
from ptxkit.validate.registers import wrong_name
from ptxkit.validate.scopes import Scope
from ptxkit.validate.sinks import without_sink
from ptxkit.validate.typed_shapes import TypedShape, is_strange, typed
from ptxkit.validate.types import misfit, oddity, tolerance


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of all instructions with the same opcode and operand classes.

    limited: constants must be looked at. strange: some name is declared by nothing, or is a special register.
    misplaced: the operand whose symbol cannot stand there, and what would be right. is_call: arguments
    must be looked at. rivals: other forms that the operands fit, which may take the constants that this one does not,
    each with what keeps it from being used or makes it odd. static: an offset from a variable must be looked at.
    outgoing: the operand that is a parameter of a call, which no guard may stand before. beside_sink: all this is of
    the instruction without the sink beside its first operand. particular: any of these.
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
    beside_sink: bool = False


class Answers:
    """The answers for modules of one version and target.

    A class of operands has a number: a key of small numbers is found sooner than one of nested tuples.
    """

    def __init__(self, version: tuple[int, int] | None, target: Target | None) -> None:
        self._table, self._version, self._target = table(), version, target
        self._kept: dict[tuple[object, ...], Answer] = {}
        self._numbers: dict[TypedShape, int] = {}
        self._next = count()

    def of(self, instruction: Instruction, scope: Scope) -> Answer:
        """What is known of the instruction in this scope."""
        # An operand that is new to the scope has no number yet, and then the key is none.
        answer = self._kept.get((instruction.opcode, *map(scope.shapes.get, map(id, instruction.operands))))
        return self._learned(instruction, scope) if answer is None else answer

    def _learned(self, instruction: Instruction, scope: Scope) -> Answer:
        key = (instruction.opcode, *[self._number(operand, scope) for operand in instruction.operands])
        answer = self._kept.get(key)
        if answer is None:
            if len(self._kept) >= MAX_KEPT_ANSWERS:
                self._kept.clear()
            shapes = tuple(typed(operand, scope) for operand in instruction.operands)
            answer = self._answer(instruction, shapes)
            if answer.match is None or answer.misplaced is not None:
                other = self._with_other_brackets(instruction, scope) or self._without_sink(instruction, scope)
                answer = other or answer
            self._kept[key] = answer
        return answer

    def _with_other_brackets(self, instruction: Instruction, scope: Scope) -> Answer | None:
        """The warning about an instruction that would be right with its brackets elsewhere, where assemblers do not
        look for them; None where it would not."""
        for other, candidates in regrouped(instruction, self._table.candidates(instruction.opcode)):
            found = self._best(other, tuple(typed(operand, scope) for operand in other.operands), candidates)
            if (
                found is None
                or found.match is None
                or found.misplaced is not None
                or any(each.certain for each in found.problems)
            ):
                continue
            reason = f"`{instruction.opcode}` is tolerated: {table().tolerance('misplaced_brackets')}"
            warning = Problem("PTX104", reason, None, found.match.form, certain=False)
            return Answer(None, (warning,), strange=found.strange, particular=found.strange)
        return None

    def _without_sink(self, instruction: Instruction, scope: Scope) -> Answer | None:
        """The answer for the instruction without a sink beside its result, with a warning; None where that is no
        better, and for calls, which assemblers read in their own way."""
        other = without_sink(instruction)
        if other is None:
            return None
        found = self._answer(other, tuple(typed(operand, scope) for operand in other.operands))
        if found.match is None or found.is_call:
            return None
        reason = f"`{instruction.opcode}` is tolerated: {table().tolerance('sink_beside_result')}"
        warning = Problem("PTX104", reason, 0, found.match.form, certain=False)
        return replace(found, problems=(warning, *found.problems), beside_sink=True, particular=True)

    def _number(self, operand: Operand, scope: Scope) -> int:
        """The number of the operand's class, kept with the scope: the parser shares equal operands."""
        number = scope.shapes.get(id(operand))
        if number is None:
            shape = typed(operand, scope)
            number = self._numbers.get(shape)
            if number is None:
                number = self._numbers.setdefault(shape, next(self._next))
            scope.shapes[id(operand)] = number
        return number

    def _answer(self, instruction: Instruction, typed: tuple[TypedShape, ...]) -> Answer:
        found = self._best(instruction, typed, self._table.candidates(instruction.opcode))
        if found is not None:
            return found
        strange = is_strange(typed)
        return Answer(None, (self._mismatch(instruction),), strange=strange, particular=strange)

    def _best(
        self, instruction: Instruction, typed: tuple[TypedShape, ...], candidates: tuple[Match, ...]
    ) -> Answer | None:
        """The answer of the first of these forms that takes the operands, or what is wrong with them in the nearest;
        None where none has operands of these kinds."""
        shapes = tuple(shape_of(operand) for operand in instruction.operands)
        wrong: Problem | None = None
        locked: Problem | None = None
        elsewhere: tuple[Match, tuple[int, str]] | None = None
        for place, match in enumerate(candidates):
            if not fit_all(match.operands, shapes):
                continue
            found = _type_problem(match, typed)
            if found is not None and found.certain:
                wrong = wrong or found
                continue
            misplacement = misplaced(match, typed)
            if misplacement is not None:
                index, words, tolerated = misplacement
                if not tolerated:
                    elsewhere = elsewhere or (match, (index, words))
                    continue
                found = found or _overlooked(match, index, words, tolerated)
            closed = unmet(match.gates, self._version, self._target)
            if not closed:
                others = candidates[:place] + candidates[place + 1 :] if has_limits(match) else ()
                rivals = tuple(self._rivals(instruction, others, shapes, typed))
                return _about(match, _oddities(instruction, match, found), typed, rivals)
            if not (match.tolerated and wrong):  # nobody should want the version or target that tolerates it
                locked = locked or _gate_problem(match, closed, self._version, self._target)
        if elsewhere is not None and locked is None:
            return _about_misplaced(*elsewhere, typed)
        problem = locked or wrong
        strange = is_strange(typed)
        return Answer(None, (problem,), strange=strange, particular=strange) if problem else None

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
            if not fit_all(match.operands, shapes):
                continue
            misplacement = misplaced(match, typed)
            if misplacement is not None and not misplacement[2]:
                continue
            found = _type_problem(match, typed)
            if found is not None and found.certain:
                continue
            closed = unmet(match.gates, self._version, self._target)
            if closed:
                locked.append((match, (_gate_problem(match, closed, self._version, self._target),)))
            else:
                yield match, _oddities(instruction, match, found)
        yield from locked

    def _mismatch(self, instruction: Instruction) -> Problem:
        found = self._table.match(instruction)
        assert isinstance(found, Mismatch), instruction
        code = {"unknown-opcode": "PTX102", "modifiers": "PTX103", "operands": "PTX104"}[found.kind]
        help_ = f"the nearest form is `{found.nearest.syntax.removeprefix('form ')}`" if found.nearest else None
        return Problem(code, found.message, found.operand, found.nearest, help_)


@lru_cache(maxsize=64)
def answers(version: tuple[int, int] | None, target: Target | None) -> Answers:
    """The answers for modules of this version and target."""
    return Answers(version, target)


def _about(
    match: Match,
    problems: tuple[Problem, ...],
    typed: tuple[TypedShape, ...],
    rivals: tuple[tuple[Match, tuple[Problem, ...]], ...],
) -> Answer:
    """The answer that names the form, and what of the instruction must be looked at each time."""
    limited, strange, static = has_limits(match), is_strange(typed), is_static(match, typed)
    calls, outgoing = is_call(match), outgoing_parameter(match, typed)
    particular = limited or strange or static or calls or outgoing is not None
    return Answer(match, problems, limited, strange, None, calls, rivals, static, outgoing, particular)


def _about_misplaced(match: Match, wrong: tuple[int, str], typed: tuple[TypedShape, ...]) -> Answer:
    """The answer for a symbol that cannot stand where it does, in the only forms that the operands fit."""
    return Answer(
        match,
        (),
        strange=is_strange(typed),
        misplaced=wrong,
        static=is_static(match, typed),
        outgoing=outgoing_parameter(match, typed),
        particular=True,
    )


def _oddities(instruction: Instruction, match: Match, found: Problem | None) -> tuple[Problem, ...]:
    """The warning about a form or an operand that assemblers only tolerate."""
    if match.tolerated:
        return (_tolerated(instruction, match),)
    return () if found is None else (found,)


def _unwritable(shape: object, *, takes_sink: bool, inside: bool = False, second: bool = False) -> str | None:
    """What stands in a result, or among its elements, that cannot be written; a special register inside a vector is
    tolerated (`oddity`) where the sink may stand, and a predicate as the second of a pair."""
    if not isinstance(shape, tuple):
        return None
    if shape[0] == "v":
        takes_sink = takes_sink or len(shape) == 2
        return next(filter(None, (_unwritable(part, takes_sink=takes_sink, inside=True) for part in shape[1:])), None)
    if shape[0] == "p":
        first = _unwritable(shape[1], takes_sink=takes_sink)
        return first or _unwritable(shape[2], takes_sink=takes_sink, second=True)
    things = {"s": "a special register", "c": "a constant"}
    if second and shape[:2] == ("s", "pred"):  # tolerated
        return None
    if shape[0] not in things or (inside and takes_sink and shape[0] == "s"):
        return None
    return f"has {things[shape[0]]}, which cannot be written"


def _type_problem(match: Match, typed: tuple[TypedShape, ...]) -> Problem | None:
    """The first operand that cannot be of the type it has, else the first that assemblers only tolerate."""
    tolerated: Problem | None = None
    for index, (operand, shape) in enumerate(zip(match.operands, typed, strict=True)):
        if (
            operand.kind == "register"
            and len(shape) == 2
            and shape[0] == "r"
            and not (operand.loose or operand.unhinted)
        ):
            wrong = wrong_name(operand, str(shape[1]))  # a plain register: nothing else can be odd about it
            if wrong is None:
                continue
        wrong = misfit(operand, shape) or beyond_manual(operand, shape)
        is_result = operand.role in match.results
        if is_result and operand.immediates is None and operand.kind != "arguments":
            takes_sink = operand.elements[0].sink if operand.kind == "pair" else operand.sink
            wrong = _unwritable(shape, takes_sink=takes_sink) or wrong
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
        reason = f"{message}{why(lenient)}"
        tolerated = tolerated or Problem("PTX104", reason, index, match.form, help_, certain=False, typed=True)
    return tolerated


def _overlooked(match: Match, index: int, words: str, tolerance: str) -> Problem:
    """A warning where assemblers do not look what a symbol is."""
    reason = f"operand {index + 1} of `{match.canonical}` {words}{why(tolerance)}"
    return Problem("PTX203", reason, index, match.form, certain=False, typed=True)


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


def why(tolerance: str) -> str:
    """The end of a warning about what assemblers take."""
    return f"; tolerated: {table().tolerance(tolerance)}"
