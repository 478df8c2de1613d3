"""Instructions on registers, and their results on the reference machine.

A variant is a form with a choice of modifiers. It reads the lowest bits of 64-bit patterns, and writes its results to
64 bits each. The patterns of an operand depend on its type and index only, so many variants share them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from random import Random
from typing import Any

import numpy as np

from ptxkit.emulator.core import semantics_registry
from ptxkit.emulator.core.address_windows import AddressWindow, AddressWindows
from ptxkit.emulator.core.dtypes import constant_bits, unsigned_dtype, width_of
from ptxkit.emulator.core.value_ops import ExpressionCompiler
from ptxkit.isa import table
from ptxkit.isa.binding import bind_form
from ptxkit.isa.constant_folding import fold, is_true
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, OperandRole
from ptxkit.isa.forms import Form, Match, OperandForm
from ptxkit.isa.operand_spellings import instruction_spellings, register_type
from ptxkit.isa.targets import parse_target, unmet_gates
from ptxkit.isa.value_semantics import Semantics
from ptxkit.testing.limits import MAX_COMBINATIONS

CHAPTERS = (
    *("Integer Arithmetic", "Extended-Precision", "Floating Point", "Half Precision", "Mixed Precision"),
    *("Alternate Floating", "Comparison and Selection", "Logic and Shift", "Video", "Scalar Video", "SIMD Video"),
    *("Data Movement and Conversion Instructions: cvt", "Data Movement and Conversion Instructions: prmt"),
    "Data Movement and Conversion Instructions: szext",
)
"""Chapters, or sections, whose forms compute results in registers from registers."""

_EXCLUDED_SECTIONS = frozenset({"Data Movement and Conversion Instructions: cvta"})
_NO_WINDOWS = AddressWindows(*(AddressWindow(0, 0) for _ in range(5)))

Arrays = dict[str, Any]
"""The patterns of each role, in the unsigned type of its width, or a tuple for the elements of a vector."""


@dataclass(frozen=True, slots=True)
class RegisterOperand:
    """A register: its number in the block, its declared type, and the type that the instruction uses."""

    role: str
    number: int
    declared: str
    type: str

    @property
    def name(self) -> str:
        return f"%r{self.number}"


@dataclass(frozen=True, slots=True)
class FormVariant:
    """A form with its modifiers. text: the instruction; inputs and outputs: its registers; fixed: its constants.

    parts: the selectors of operands that have one; minus: operands that are negated.
    """

    match: Match
    text: str
    inputs: tuple[RegisterOperand, ...]
    outputs: tuple[RegisterOperand, ...]
    constants: tuple[tuple[str, int], ...]
    selectors: tuple[tuple[str, str], ...] = ()
    negated: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        return self.match.form.syntax.removeprefix("form ").split(" ")[0]

    @property
    def approximation_key(self) -> str | None:
        """The name of its approximation in `numbers.bounds`, or None if it is exact."""
        for meaning in table().semantics_of(self.match):
            if meaning.function == "approximately":
                return f"{meaning.named_arguments['function']}.approx"
            if meaning.function == "divide_approximately":
                return "div.full" if meaning.named_arguments.get("full") else "div.approx"
        return None


def variants(version: tuple[int, int], target: str, most: int, seed: int) -> Iterator[FormVariant]:
    """Yields variants of every form that this version and target support, at most `most` of each."""
    aimed = parse_target(target)
    random = Random(seed)
    known = table()
    for name in known.names:
        for form in known.forms(name):
            if form.tolerated or form.section in _EXCLUDED_SECTIONS or not form.section.startswith(CHAPTERS):
                continue
            made = 0
            for match in matches_of(form, random):
                if unmet_gates(tuple(match.gates), version, aimed):
                    continue
                found = _variant(match, random)
                if found is not None:
                    yield found
                    made += 1
                if made == most:
                    break


def matches_of(form: Form, random: Random) -> Iterator[Match]:
    """Yields matches with different modifiers: first one for each value, then random ones."""
    values = [(None, *slot.values) if slot.optional else slot.values for slot in form.modifiers]
    names = [slot.name for slot in form.modifiers]
    combinations = list(islice(product(*values), MAX_COMBINATIONS))
    random.shuffle(combinations)
    legal = [
        combination for combination in combinations if satisfies_rules(form, dict(zip(names, combination, strict=True)))
    ]
    missing = {(at, value) for at, each in enumerate(values) for value in each}
    first = []
    for combination in legal:
        if covered := missing & set(enumerate(combination)):
            missing -= covered
            first.append(combination)
    for combination in dict.fromkeys([*first, *legal]):
        yield from bind_form(form, dict(zip(names, combination, strict=True)), table().value_gates)


def satisfies_rules(form: Form, chosen: dict[str, str | None]) -> bool:
    return all(is_true(fold(rule.condition, form, chosen)) for rule in form.rules)


def _variant(match: Match, random: Random) -> FormVariant | None:
    """Returns the instruction with its own registers, or None if an operand is not a register or the semantics are
    unknown.
    """
    writer = _OperandAllocator(match, random)
    words = [writer.spell_operand(operand) for operand in match.operands]
    if None in words or not writer.outputs:
        return None
    if _is_miscompiled(match, writer.selectors):
        return None
    text = f"{match.canonical} {', '.join(map(str, words))};"
    cells = tuple(writer.inputs), tuple(writer.outputs), tuple(writer.constants.items())
    found = FormVariant(match, text, *cells, tuple(writer.selectors.items()), frozenset(writer.negated))
    return found if evaluation(found) is not None else None


def _is_miscompiled(match: Match, parts: dict[str, str]) -> bool:
    """Returns whether ptxas is known to compile an instruction in a way that contradicts the manual.

    It implements scalar video instructions by several others, which is wrong for vmad if it saturates, compares with
    the third operand, or merges the result into the upper half of the third operand.
    """
    chosen = match.modifiers
    return match.form.section.startswith("Scalar Video") and bool(
        match.canonical.startswith("vmad")
        or chosen.get("sat")
        or chosen.get("op") in ("min", "max")
        or parts.get("d") == "h1"
    )


class _OperandAllocator:
    """Allocates registers for the operands of a match, and records them."""

    def __init__(self, match: Match, random: Random) -> None:
        self.match, self.random = match, random
        self.inputs: list[RegisterOperand] = []
        self.outputs: list[RegisterOperand] = []
        self.constants: dict[str, int] = {}
        self.selectors: dict[str, str] = {}
        self.negated: set[str] = set()

    def spell_operand(self, form: OperandForm) -> str | None:
        """Returns the text of an operand, or None if this program supports no such operand."""
        match form.kind:
            case "register" if isinstance(form.type, ConstantExpr):
                return self._register(form, form.role)
            case "pair":
                parts = [self.spell_operand(each) for each in form.elements]
                return None if None in parts else "|".join(map(str, parts))
            case "vector" if form.elements:
                parts = [self.spell_operand(each) for each in form.elements]
                return None if None in parts else f"{{{', '.join(map(str, parts))}}}"
            case "vector" if isinstance(form.count, ConstantExpr):
                names = [self._register(form, form.role) for _ in range(int(form.count.value or 0))]
                return f"{{{', '.join(names)}}}"
            case "immediate":
                plain = instruction_spellings([form], self.random)[0]["plain"]
                self.constants[form.role] = int(plain, 0)
                return plain
        return None

    def _register(self, form: OperandForm, role: str) -> str:
        assert isinstance(form.type, ConstantExpr)
        cells = self.outputs if role in self.match.results else self.inputs
        cell = RegisterOperand(role, len(self.inputs) + len(self.outputs), register_type(form), str(form.type.value))
        cells.append(cell)
        return self._decorate_register(form, role, cell.name)

    def _decorate_register(self, form: OperandForm, role: str, name: str) -> str:
        """Returns a register with its selector or negation."""
        if form.parts and (not form.whole or self.random.random() < 0.6):
            patterns = form.parts
            part = re.sub(r"\[(.)-(.)\]", self._expand_digit, self.random.choice(patterns))
            self.selectors[role], name = part, f"{name}.{part}"
        if form.minus and self.random.random() < 0.5:
            self.negated.add(role)
            name = f"-{name}"
        return name

    def _expand_digit(self, found: re.Match[str]) -> str:
        return str(self.random.randint(int(found[1]), int(found[2])))


# ------------------------------------------------------------------------------------------- results on the machine

Evaluation = Callable[[Arrays], Arrays]


def evaluation(variant: FormVariant) -> Evaluation | None:
    """Returns the machine's functions for a variant, or None if it has none or needs more than registers."""
    match = variant.match
    try:
        meanings = table().semantics_of(match)
    except ValueError:
        return None
    if any(meaning.function not in semantics_registry.value_semantics_table() for meaning in meanings):
        return None
    steps = [_compose_evaluation(meaning, variant) for meaning in meanings]
    given = {role for meaning in meanings for role in meaning.results}
    for effect in match.effects:
        if not isinstance(effect, Value):
            return None
        if effect.result not in given:
            step = _value_evaluation(variant, effect)
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


def _compose_evaluation(meaning: Semantics, variant: FormVariant) -> Evaluation:
    parts = dict(variant.selectors)

    def spell(question: CallExpr) -> str | bool | None:
        (role,) = question.arguments
        assert isinstance(role, OperandRole)
        return role.name in variant.negated if question.function == "minus" else parts.get(role.name)

    function = semantics_registry.value_semantics_table()[meaning.function](**meaning.named_arguments)

    def step(operands: Arrays) -> Arrays:
        given = [
            operands[each.name]
            if isinstance(each, OperandRole)
            else spell(each)
            if isinstance(each, CallExpr)
            else each.value
            for each in meaning.operands
        ]
        found = function(*given)
        found = found if isinstance(found, tuple) else (found,)
        return {role: value for role, value in zip(meaning.results, found, strict=True) if role is not None}

    return step


def _value_evaluation(variant: FormVariant, effect: Value) -> Evaluation | None:
    cells = (*variant.inputs, *variant.outputs)
    widths = {cell.role: width_of(cell.type) for cell in cells} | dict.fromkeys(dict(variant.constants), 32)
    evaluator = ExpressionCompiler(_NO_WINDOWS, widths, dict(variant.constants))
    try:
        function = evaluator.compile(effect.value, widths[effect.result])
    except (LookupError, ValueError, TypeError):
        return None
    if function is None or not set(evaluator.roles) <= {cell.role for cell in variant.inputs} | set(
        dict(variant.constants)
    ):
        return None
    return lambda operands: {effect.result: function(*[operands[role] for role in evaluator.roles])}


def operands_of(variant: FormVariant, patterns: Callable[[str, int], Any]) -> Arrays:
    """Returns the operands as arrays. patterns: a function of a type and an index, with results of 64 bits each."""
    found: dict[str, list[Any]] = {}
    for cell, place in zip(variant.inputs, input_positions(variant), strict=True):
        kind = unsigned_dtype(width_of(cell.type))
        raw = patterns(cell.type, place)
        found.setdefault(cell.role, []).append((raw & np.uint64(1)) != 0 if kind is np.bool_ else raw.astype(kind))
    vectors = {form.role for form in variant.match.operands if form.kind == "vector" and not form.elements}
    arrays: Arrays = {role: tuple(each) if role in vectors else each[0] for role, each in found.items()}
    for role, value in variant.constants:
        arrays[role] = constant_bits(value, 32)
    return arrays


def input_positions(variant: FormVariant) -> Sequence[int]:
    """Returns, for each input, the number of inputs before it."""
    return range(len(variant.inputs))
