"""Instructions from registers to registers, and what the reference machine makes of them.

A variant is a form with its modifiers chosen. It reads patterns of 64 bits, of which it takes the lowest, and writes
its results to 64 bits each; the patterns of an operand depend on its type and place alone, so many variants share them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from random import Random
from typing import Any

import numpy as np

from ptxkit.emulate import registry
from ptxkit.emulate.values import Evaluator
from ptxkit.emulate.widths import constant, unsigned, width_of
from ptxkit.emulate.windows import Window, Windows
from ptxkit.isa import table
from ptxkit.isa.binding import bind
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import Call, Const, Role
from ptxkit.isa.folding import fold, truth
from ptxkit.isa.forms import Form, Match, OperandForm
from ptxkit.isa.meanings import Meaning
from ptxkit.isa.spellings import offers, register_type
from ptxkit.isa.targets import parse_target, unmet

CHAPTERS = (
    *("Integer Arithmetic", "Extended-Precision", "Floating Point", "Half Precision", "Mixed Precision"),
    *("Alternate Floating", "Comparison and Selection", "Logic and Shift", "Video", "Scalar Video", "SIMD Video"),
    *("Data Movement and Conversion Instructions: cvt", "Data Movement and Conversion Instructions: prmt"),
    "Data Movement and Conversion Instructions: szext",
)
"""Chapters, or sections, in which forms compute from registers to registers."""

_SHUT = frozenset({"Data Movement and Conversion Instructions: cvta"})
_WAYS = 20_000
_NOWHERE = Windows(*(Window(0, 0) for _ in range(5)))

Arrays = dict[str, Any]
"""Role -> its patterns, in the unsigned type of its width; a tuple of a vector's elements."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A register: its number in the block, what it is declared as, and the type that the instruction sees."""

    role: str
    number: int
    declared: str
    word: str

    @property
    def name(self) -> str:
        return f"%r{self.number}"


@dataclass(frozen=True, slots=True)
class Variant:
    """A form with its modifiers. text: the instruction; inputs and outputs: its registers; fixed: its constants.

    parts: the selectors of operands that have one; minus: operands with a minus before them.
    """

    match: Match
    text: str
    inputs: tuple[Cell, ...]
    outputs: tuple[Cell, ...]
    fixed: tuple[tuple[str, int], ...]
    parts: tuple[tuple[str, str], ...] = ()
    minus: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        return self.match.form.syntax.removeprefix("form ").split(" ")[0]

    @property
    def approximate(self) -> str | None:
        """What `numbers.bounds` knows it by, where it is not exact."""
        for meaning in table().meanings(self.match):
            if meaning.function == "approximately":
                return f"{meaning.words['function']}.approx"
            if meaning.function == "divide_approximately":
                return "div.full" if meaning.words.get("full") else "div.approx"
        return None


def variants(version: tuple[int, int], target: str, most: int, seed: int) -> Iterator[Variant]:
    """Variants of every form that this version and target have, at most so many of each."""
    aimed = parse_target(target)
    random = Random(seed)
    known = table()
    for name in known.names:
        for form in known.forms(name):
            if form.tolerated or form.section in _SHUT or not form.section.startswith(CHAPTERS):
                continue
            made = 0
            for match in matches_of(form, random):
                if unmet(tuple(match.gates), version, aimed):
                    continue
                found = _variant(match, random)
                if found is not None:
                    yield found
                    made += 1
                if made == most:
                    break


def matches_of(form: Form, random: Random) -> Iterator[Match]:
    """Matches with different modifiers: first one with each value, then any."""
    values = [(None, *slot.values) if slot.optional else slot.values for slot in form.modifiers]
    names = [slot.name for slot in form.modifiers]
    ways = list(islice(product(*values), _WAYS))
    random.shuffle(ways)
    legal = [way for way in ways if keeps_rules(form, dict(zip(names, way, strict=True)))]
    missing = {(at, value) for at, each in enumerate(values) for value in each}
    first = []
    for way in legal:
        if covered := missing & set(enumerate(way)):
            missing -= covered
            first.append(way)
    for way in dict.fromkeys([*first, *legal]):
        yield from bind(form, dict(zip(names, way, strict=True)), table().value_gates)


def keeps_rules(form: Form, chosen: dict[str, str | None]) -> bool:
    return all(truth(fold(rule.condition, form, chosen)) for rule in form.rules)


def _variant(match: Match, random: Random) -> Variant | None:
    """The instruction with its own registers; None where an operand is no register, or nothing says what it means."""
    writer = _Writer(match, random)
    words = [writer.word(operand) for operand in match.operands]
    if None in words or not writer.outputs:
        return None
    if _is_astray(match, writer.parts):
        return None
    text = f"{match.canonical} {', '.join(map(str, words))};"
    cells = tuple(writer.inputs), tuple(writer.outputs), tuple(writer.fixed.items())
    found = Variant(match, text, *cells, tuple(writer.parts.items()), frozenset(writer.minus))
    return found if evaluation(found) is not None else None


def _is_astray(match: Match, parts: dict[str, str]) -> bool:
    """Whether ptxas is known to make of an instruction what the manual does not say.

    It has scalar video instructions of several others, which go wrong for vmad, where it saturates, compares with the
    third operand, or puts the result into the upper half of that.
    """
    chosen = match.modifiers
    return match.form.section.startswith("Scalar Video") and bool(
        match.canonical.startswith("vmad")
        or chosen.get("sat")
        or chosen.get("op") in ("min", "max")
        or parts.get("d") == "h1"
    )


class _Writer:
    """Gives the operands of a match registers, and remembers which."""

    def __init__(self, match: Match, random: Random) -> None:
        self.match, self.random = match, random
        self.inputs: list[Cell] = []
        self.outputs: list[Cell] = []
        self.fixed: dict[str, int] = {}
        self.parts: dict[str, str] = {}
        self.minus: set[str] = set()

    def word(self, form: OperandForm) -> str | None:
        """How an operand is written, or None where this program has nothing for it."""
        match form.kind:
            case "register" if isinstance(form.type, Const):
                return self._register(form, form.role)
            case "pair":
                parts = [self.word(each) for each in form.elements]
                return None if None in parts else "|".join(map(str, parts))
            case "vector" if form.elements:
                parts = [self.word(each) for each in form.elements]
                return None if None in parts else f"{{{', '.join(map(str, parts))}}}"
            case "vector" if isinstance(form.count, Const):
                names = [self._register(form, form.role) for _ in range(int(form.count.value or 0))]
                return f"{{{', '.join(names)}}}"
            case "immediate":
                plain = offers([form], self.random)[0]["plain"]
                self.fixed[form.role] = int(plain, 0)
                return plain
        return None

    def _register(self, form: OperandForm, role: str) -> str:
        assert isinstance(form.type, Const)
        cells = self.outputs if role in self.match.results else self.inputs
        cell = Cell(role, len(self.inputs) + len(self.outputs), register_type(form), str(form.type.value))
        cells.append(cell)
        return self._taken(form, role, cell.name)

    def _taken(self, form: OperandForm, role: str, name: str) -> str:
        """A register, or a part of it, or what is negated."""
        if form.parts and (not form.whole or self.random.random() < 0.6):
            patterns = form.parts
            part = re.sub(r"\[(.)-(.)\]", self._digit, self.random.choice(patterns))
            self.parts[role], name = part, f"{name}.{part}"
        if form.minus and self.random.random() < 0.5:
            self.minus.add(role)
            name = f"-{name}"
        return name

    def _digit(self, found: re.Match[str]) -> str:
        return str(self.random.randint(int(found[1]), int(found[2])))


# ------------------------------------------------------------------------------------------- what the machine makes

Evaluation = Callable[[Arrays], Arrays]


def evaluation(variant: Variant) -> Evaluation | None:
    """The machine's functions for a variant; None where it has none, or needs more than registers."""
    match = variant.match
    try:
        meanings = table().meanings(match)
    except ValueError:
        return None
    if any(meaning.function not in registry.functions() for meaning in meanings):
        return None
    steps = [_meant(meaning, variant) for meaning in meanings]
    given = {role for meaning in meanings for role in meaning.results}
    for effect in match.effects:
        if not isinstance(effect, Value):
            return None
        if effect.result not in given:
            step = _valued(variant, effect)
            if step is None:
                return None
            steps.append(step)
    results = given | {effect.result for effect in match.effects if isinstance(effect, Value)}
    if not {cell.role for cell in variant.outputs} <= results:
        return None

    def evaluate(operands: Arrays) -> Arrays:
        results: Arrays = {}
        for step in steps:
            results |= step(operands)
        return results

    return evaluate


def _meant(meaning: Meaning, variant: Variant) -> Evaluation:
    parts = dict(variant.parts)

    def written(question: Call) -> str | bool | None:
        (role,) = question.arguments
        assert isinstance(role, Role)
        return role.name in variant.minus if question.function == "minus" else parts.get(role.name)

    function = registry.functions()[meaning.function](**meaning.words)

    def step(operands: Arrays) -> Arrays:
        given = [
            operands[each.name] if isinstance(each, Role) else written(each) if isinstance(each, Call) else each.value
            for each in meaning.operands
        ]
        found = function(*given)
        found = found if isinstance(found, tuple) else (found,)
        return {role: value for role, value in zip(meaning.results, found, strict=True) if role is not None}

    return step


def _valued(variant: Variant, effect: Value) -> Evaluation | None:
    cells = (*variant.inputs, *variant.outputs)
    widths = {cell.role: width_of(cell.word) for cell in cells} | dict.fromkeys(dict(variant.fixed), 32)
    evaluator = Evaluator(_NOWHERE, widths, dict(variant.fixed))
    try:
        function = evaluator.function(effect.value, widths[effect.result])
    except (LookupError, ValueError, TypeError):
        return None
    if function is None or not set(evaluator.roles) <= {cell.role for cell in variant.inputs} | set(
        dict(variant.fixed)
    ):
        return None
    return lambda operands: {effect.result: function(*[operands[role] for role in evaluator.roles])}


def operands_of(variant: Variant, patterns: Callable[[str, int], Any]) -> Arrays:
    """The operands as arrays. patterns: of a type and a place, 64 bits each."""
    found: dict[str, list[Any]] = {}
    for cell, place in zip(variant.inputs, places(variant), strict=True):
        kind = unsigned(width_of(cell.word))
        raw = patterns(cell.word, place)
        found.setdefault(cell.role, []).append((raw & np.uint64(1)) != 0 if kind is np.bool_ else raw.astype(kind))
    vectors = {form.role for form in variant.match.operands if form.kind == "vector" and not form.elements}
    arrays: Arrays = {role: tuple(each) if role in vectors else each[0] for role, each in found.items()}
    for role, value in variant.fixed:
        arrays[role] = constant(value, 32)
    return arrays


def places(variant: Variant) -> Sequence[int]:
    """For each input the number of inputs in front of it."""
    return range(len(variant.inputs))
