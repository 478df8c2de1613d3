"""One instruction against the table: which form it is, and what keeps it from being one.

Answers are kept by opcode and by the classes of the operands, of which a program of 300,000 instructions has a few
thousand; only constants with a range are looked at each time.
"""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit.isa.forms import Form, Gate, Match
from ptxkit.isa.shapes import Shape, fit_all, shape_of
from ptxkit.isa.table import Mismatch, Table
from ptxkit.isa.targets import Target, remedy, unmet
from ptxkit.isa.words import operand_words
from ptxkit.syntax.tree import Address, Float, Instruction, Name, Not, Operand, Pair, Vector
from ptxkit.validate.constants import has_limits, illegal_constants
from ptxkit.validate.scopes import Scope
from ptxkit.validate.types import TypedShape, misfit


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with an instruction. operand: the index of the operand to point at, None for the opcode.

    certain: an assembler refuses it; otherwise it is a warning.
    """

    code: str
    message: str
    operand: int | None = None
    form: Form | None = None
    help: str | None = None
    certain: bool = True


@dataclass(frozen=True, slots=True)
class _Answer:
    match: Match | None
    problems: tuple[Problem, ...]
    limited: bool = False


class InstructionChecker:
    """Checks instructions of one module."""

    def __init__(self, table: Table, version: tuple[int, int] | None, target: Target | None) -> None:
        self._table, self._version, self._target = table, version, target
        self._answers: dict[tuple[object, ...], _Answer] = {}

    def problems(self, instruction: Instruction, scope: Scope) -> tuple[Problem, ...]:
        """Everything wrong with the instruction: nothing, nearly always."""
        key = (instruction.opcode, *[_typed(operand, scope) for operand in instruction.operands])
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._answer(instruction, key[1:])
        if answer.limited and answer.match is not None:
            constants = illegal_constants(answer.match, instruction)
            if constants:
                return (*answer.problems, *_constant_problems(answer.match, instruction, constants))
        return answer.problems

    def _answer(self, instruction: Instruction, typed: tuple[TypedShape, ...]) -> _Answer:
        candidates = self._table.candidates(instruction.opcode)
        shapes = tuple(shape_of(operand) for operand in instruction.operands)
        wrong: Problem | None = None
        locked: Problem | None = None
        for match in candidates:
            if not fit_all(match.operands, shapes):
                continue
            found = _type_problem(match, typed)
            if found is not None:
                wrong = wrong or found
                continue
            closed = unmet(match.gates, self._version, self._target)
            if not closed:
                odd = (_odd_order(instruction, match),) if match.tolerated else ()
                return _Answer(match, odd, has_limits(match))
            locked = locked or _gate_problem(match, closed, self._version, self._target)
        if locked is not None or wrong is not None:
            return _Answer(None, (locked or wrong,))  # type: ignore[arg-type]
        return _Answer(None, (self._mismatch(instruction, shapes),))

    def _mismatch(self, instruction: Instruction, shapes: tuple[Shape, ...]) -> Problem:
        found = self._table.match(instruction)
        assert isinstance(found, Mismatch), shapes
        code = {"unknown-opcode": "PTX102", "modifiers": "PTX103", "operands": "PTX104"}[found.kind]
        help_ = f"the nearest form is `{found.nearest.syntax.removeprefix('form ')}`" if found.nearest else None
        return Problem(code, found.message, found.operand, found.nearest, help_)


def _type_problem(match: Match, typed: tuple[TypedShape, ...]) -> Problem | None:
    for index, (operand, shape) in enumerate(zip(match.operands, typed, strict=True)):
        wrong = misfit(operand, shape)
        if wrong is not None:
            message = f"operand {index + 1} of `{match.canonical}` {wrong}"
            return Problem("PTX104", message, index, match.form, f"it must be {operand_words(operand)}")
    return None


def _odd_order(instruction: Instruction, match: Match) -> Problem:
    message = f"`{instruction.opcode}` has its modifiers in an order, or twice, as only some assemblers allow"
    return Problem("PTX103", message, None, match.form, f"write `{match.canonical}`", certain=False)


def _gate_problem(match: Match, closed: list[Gate], version: tuple[int, int] | None, target: Target | None) -> Problem:
    needed = remedy(closed, version, target)
    subjects = ", ".join(dict.fromkeys(f"`{gate.subject}`" for gate in closed))
    have = " and ".join(
        part
        for part in (
            f"`.version {version[0]}.{version[1]}`" if version else "",
            f"`.target {target}`" if target else "",
        )
        if part
    )
    message = f"`{match.canonical}` needs {needed} (for {subjects}), and the module has {have}"
    return Problem("PTX801", message, None, match.form, f"raise the module to {needed}")


def _constant_problems(
    match: Match, instruction: Instruction, constants: list[tuple[int | None, str]]
) -> list[Problem]:
    return [
        Problem(
            "PTX105",
            f"operand {index + 1} of `{instruction.opcode}` {text}"
            if index is not None
            else f"`{match.canonical}` {text}",
            index,
            match.form,
        )
        for index, text in constants
    ]


def _typed(operand: Operand, scope: Scope) -> TypedShape:
    """The operand's shape with the types of its registers; constants keep no value."""
    if isinstance(operand, Name):
        return ("r", scope.type_of(operand.text)) if operand.text != "_" else "_"
    if isinstance(operand, Not):
        return ("n", scope.type_of(operand.operand.text))
    if isinstance(operand, Address):
        return ("a", _typed(operand.base, scope), *[_typed(part, scope) for part in operand.index])
    if isinstance(operand, Vector):
        return ("v", *[_typed(part, scope) for part in operand.elements])
    if isinstance(operand, Pair):
        return ("p", _typed(operand.first, scope), _typed(operand.second, scope))
    if isinstance(operand, Float):
        return "f"
    shape = shape_of(operand)
    return shape if isinstance(shape, str) else "other"
