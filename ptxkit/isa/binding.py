"""Binding a form to an opcode string: modifiers get values, expressions are folded, optional operands decided.

The product of a form's modifiers is never expanded; only opcodes that occur are bound, each once (see `table`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType

from ptxkit.isa.effect_binding import bind_effect
from ptxkit.isa.effects import AsyncRegisters, Effect, MbarrierArrive, MbarrierWait, Value
from ptxkit.isa.expressions import Call, Const, Expression, Role
from ptxkit.isa.forms import Form, Gate, Match, Modifier, OperandForm, Rule
from ptxkit.isa.functions import FUNCTIONS, OPERATORS, is_type, space

Assignment = Mapping[str, str | None]

# Modifiers that ptxas takes twice without a word.
_REPEATABLE = frozenset({"sync", "sat", "satfinite", "NaN", "approx", "uni", "cc"})


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why an opcode is not of a form. score: how much of it did fit; higher is nearer."""

    form: Form
    score: int
    word: str | None = None
    missing: str | None = None
    rule: Rule | None = None


def assign(form: Form, words: Sequence[str], *, lax: bool = False) -> Assignment | Misfit:
    """The value of each modifier of `form` in an opcode with these words after its name, or why it does not fit.

    lax: as ptxas does for many instructions, let the words of the stem stand anywhere, and `.sync` stand twice.
    """
    if lax:
        return _assign(form, form.modifiers, (), _without_repeats(words))
    stem = [slot.name for slot in form.modifiers if slot.stem]
    if list(words[: len(stem)]) != stem:
        fitting = sum(1 for _ in _common_prefix(words, stem))
        wrong = words[fitting] if fitting < len(words) else None
        return Misfit(form, fitting - len(stem), word=wrong, missing=stem[fitting])
    return _assign(form, form.modifiers[len(stem) :], stem, words[len(stem) :])


def _assign(form: Form, slots: Sequence[Modifier], stem: Sequence[str], rest: Sequence[str]) -> Assignment | Misfit:
    if len(rest) > len(slots):
        return Misfit(form, len(stem), word=_surplus(slots, rest))
    for position, word in enumerate(rest):
        if not any(word in slot.values for slot in slots):
            return Misfit(form, len(stem) + position - 1, word=word)
    broken: Misfit | None = None
    for chosen in _placements(slots, rest, 0, ()):
        filled: dict[str, str | None] = {name: name for name in stem}
        missing = None
        for index, slot in enumerate(slots):
            value = rest[chosen.index(index)] if index in chosen else None
            if value is None and not slot.optional:
                missing = slot.name
                break
            if filled.get(slot.name, value) != value:
                missing = slot.name
                break
            filled[slot.name] = value
        if missing is not None:
            broken = broken or Misfit(form, len(stem) + len(rest), missing=missing)
            continue
        failing = next((rule for rule in form.rules if not truth(fold(rule.condition, form, filled))), None)
        if failing is None:
            return filled
        broken = Misfit(form, len(stem) + len(rest) + 1, rule=failing)
    return broken or Misfit(form, len(stem), word=rest[-1] if rest else None)


def _surplus(slots: Sequence[Modifier], words: Sequence[str]) -> str:
    """The word that is too many: one that no place takes, else one that stands twice, else the last."""
    legal = {value for slot in slots for value in slot.values}
    seen: set[str] = set()
    for word in words:
        if word not in legal or word in seen:
            return word
        seen.add(word)
    return words[-1]


def _without_repeats(words: Sequence[str]) -> list[str]:
    """The words, of the repeatable ones only the first of each."""
    seen: set[str] = set()
    kept = []
    for word in words:
        if word not in _REPEATABLE or word not in seen:
            kept.append(word)
        seen.add(word)
    return kept


def _common_prefix(words: Sequence[str], stem: Sequence[str]) -> Iterator[str]:
    for word, wanted in zip(words, stem, strict=False):
        if word != wanted:
            return
        yield word


def _placements(
    slots: Sequence[Modifier], words: Sequence[str], position: int, chosen: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """Every way to give each word a place of its own, first places first.

    Two words keep their order where they could change places, and where both are types: there the order has meaning.
    """
    if position == len(words):
        yield chosen
        return
    word = words[position]
    for index, slot in enumerate(slots):
        if index in chosen or word not in slot.values:
            continue
        if all(_ordered(slots, words[k], chosen[k], word, index) for k in range(position)):
            yield from _placements(slots, words, position + 1, (*chosen, index))


def _ordered(slots: Sequence[Modifier], earlier: str, left: int, later: str, right: int) -> bool:
    if left < right:
        return True
    if is_type(earlier) and is_type(later):
        return False
    return not (later in slots[left].values and earlier in slots[right].values)


# ------------------------------------------------------------------------------------------------ folding


def fold(expression: Expression, form: Form, modifiers: Assignment, roles: Collection[str] | None = None) -> Expression:
    """The expression with modifiers and lets replaced and everything constant computed.

    roles: those present, for `present` and `default`; an absent one is None elsewhere too.
    """
    if isinstance(expression, Const):
        return expression
    if isinstance(expression, Role):
        return expression if roles is None or expression.name in roles else Const(None)
    name, arguments = expression.function, expression.arguments

    def part(index: int) -> Expression:
        return fold(arguments[index], form, modifiers, roles)

    match name:
        case "modifier":
            return Const(modifiers.get(_constant(arguments[0])))
        case "let":
            wanted = _constant(arguments[0])
            return fold(next(value for let, value in form.lets if let == wanted), form, modifiers, roles)
        case "present":
            return Const(part(0) != Const(None))
        case "default":
            return part(1) if part(0) == Const(None) else part(0)
        case "if":
            return part(1) if truth(part(0)) else part(2)
        case "implies":
            return part(1) if truth(part(0)) else Const(True)
        case "not" if len(arguments) == 1:
            return Const(not truth(part(0)))
        case "or" | "and" if not _is_operation(arguments):
            return _connect(name, [part(index) for index in range(len(arguments))])
    folded = tuple(part(index) for index in range(len(arguments)))
    return _apply(name, folded)


def _is_operation(arguments: Sequence[Expression]) -> bool:
    """`or(32, a, b)` is the value operation, whose first argument is a width; `a or b` the connective."""
    return len(arguments) == 3 and isinstance(arguments[1], Role) and isinstance(arguments[2], Role)


def _connect(name: str, parts: Sequence[Expression]) -> Expression:
    for found in parts[:-1]:
        known = not isinstance(found, Const) or bool(found.value)
        if known == (name == "or"):
            return found
    return parts[-1]


def _apply(name: str, arguments: tuple[Expression, ...]) -> Expression:
    values = [argument.value for argument in arguments if isinstance(argument, Const)]
    if len(values) == len(arguments):
        if name == "in":
            return Const(values[0] in values[1:])
        function = OPERATORS.get(name) or FUNCTIONS.get(name)
        if function is not None:
            return Const(function(*values))
    if name == "*" and Const(1) in arguments:
        return arguments[0] if arguments[1] == Const(1) else arguments[1]
    return Call(name, arguments)


def truth(value: Expression) -> bool:
    """A folded condition's truth; it may speak of modifiers only."""
    if not isinstance(value, Const):
        raise TypeError(f"a condition between modifiers depends on an operand: {value}")
    return bool(value.value)


def _constant(expression: Expression) -> str:
    assert isinstance(expression, Const)
    return str(expression.value)


# ------------------------------------------------------------------------------------------------ matches


def bind(
    form: Form, modifiers: Assignment, value_gates: Mapping[str, tuple[Gate, ...]], *, tolerated: bool = False
) -> tuple[Match, ...]:
    """The matches of a form: one for each choice of optional operands, most operands last."""
    shared = MappingProxyType(dict(modifiers))
    canonical = ".".join([form.name, *(str(modifiers[s.name]) for s in form.modifiers if modifiers.get(s.name))])
    present = [
        operand
        for operand in form.operands
        if operand.condition is None or truth(fold(operand.condition, form, modifiers))
    ]
    matches = []
    for operands in _choices(present):
        bound = tuple(_bind_operand(operand, form, modifiers) for operand in operands)
        roles, paths = _roles(bound)
        effects = _effects(form, modifiers, bound, roles)
        matches.append(
            Match(
                form=form,
                modifiers=shared,
                operands=bound,
                effects=effects,
                gates=tuple(_gates(form, modifiers, value_gates, roles)),
                canonical=canonical,
                roles=roles,
                paths=paths,
                needs=_needs(form, modifiers, roles),
                results=_results(effects),
                tolerated=tolerated,
            )
        )
    return tuple(matches)


def _gates(
    form: Form, modifiers: Assignment, value_gates: Mapping[str, tuple[Gate, ...]], roles: Mapping[str, int]
) -> Iterator[Gate]:
    """The form's gates that apply, then those of its modifier values, unless the form has its own for the value."""
    values = {f".{value}" for value in modifiers.values() if value is not None}
    own = {gate.subject for gate in form.gates if gate.subject.startswith(".")}
    head = ".".join([form.name, *(slot.name for slot in form.modifiers if slot.stem)])
    for gate in form.gates:
        if gate.subject in own and gate.subject not in values:
            continue
        if gate.condition is None or truth(fold(gate.condition, form, modifiers, roles)):
            yield gate if gate.subject else replace(gate, subject=head)
    for value in sorted(values - own):
        yield from value_gates.get(value[1:], ())


def _choices(operands: Sequence[OperandForm]) -> Iterator[tuple[OperandForm, ...]]:
    """Each way to leave optional parts out; an inner part is there only with the part around it."""
    parts = sorted({group[:depth] for group in (o.group for o in operands) for depth in range(1, len(group) + 1)})
    pairs = [index for index, operand in enumerate(operands) if operand.kind == "maybe_pair"]
    for chosen in product((False, True), repeat=len(parts)):
        there = {part for part, yes in zip(parts, chosen, strict=True) if yes}
        if any(len(part) > 1 and part[:-1] not in there for part in there):
            continue
        for paired in product((False, True), repeat=len(pairs)):
            wanted = dict(zip(pairs, paired, strict=True))
            yield tuple(
                _as_pair(operand, wanted[index]) if index in wanted else operand
                for index, operand in enumerate(operands)
                if not operand.group or operand.group in there
            )


def _as_pair(operand: OperandForm, paired: bool) -> OperandForm:
    return replace(operand, kind="pair") if paired else operand.elements[0]


def _bind_operand(operand: OperandForm, form: Form, modifiers: Assignment) -> OperandForm:
    def known(expression: Expression | None) -> Expression | None:
        return None if expression is None else fold(expression, form, modifiers)

    kind, count, place = operand.kind, known(operand.count), known(operand.space)
    if kind == "vector_or_register":
        kind = "register" if count == Const(1) else "vector"
    if kind == "address":
        place = Const(space(place.value if isinstance(place, Const) else None))
    return replace(
        operand,
        kind=kind,
        type=known(operand.type),
        count=count,
        space=place,
        alignment=known(operand.alignment),
        condition=None,
        elements=tuple(_bind_operand(element, form, modifiers) for element in _present(operand, form, modifiers)),
    )


def _present(operand: OperandForm, form: Form, modifiers: Assignment) -> list[OperandForm]:
    return [e for e in operand.elements if e.condition is None or truth(fold(e.condition, form, modifiers))]


def _roles(operands: Sequence[OperandForm]) -> tuple[Mapping[str, int], Mapping[str, tuple[int, ...]]]:
    roles: dict[str, int] = {}
    paths: dict[str, tuple[int, ...]] = {}

    def enter(operand: OperandForm, index: int, path: tuple[int, ...]) -> None:
        is_container = operand.kind in ("pair", "vector") and bool(operand.elements)
        if not is_container:
            roles[operand.role] = index
            if path:
                paths[operand.role] = path
        for step, element in enumerate(operand.elements):
            enter(element, index, (*path, step))

    for index, operand in enumerate(operands):
        enter(operand, index, ())
    return MappingProxyType(roles), MappingProxyType(paths)


def _effects(
    form: Form, modifiers: Assignment, operands: Sequence[OperandForm], roles: Mapping[str, int]
) -> tuple[Effect, ...]:
    found = []
    for effect in form.effects:
        bound = bind_effect(effect, lambda expression: fold(expression, form, modifiers, roles), roles)
        if bound is not None:
            found.append(bound)
    if "d" in roles and "d" not in _results(found) and _is_result(operands):
        found.append(Value("d", Call("unknown", ())))
    return tuple(found)


def _results(effects: Sequence[Effect]) -> tuple[str, ...]:
    """The roles of registers that these effects write, each once."""
    roles: dict[str, None] = {}
    for effect in effects:
        match effect:
            case Value(result=role) | MbarrierWait(result=role):
                roles[role] = None
            case MbarrierArrive(state=str() as role):
                roles[role] = None
            case AsyncRegisters(kind="write" | "update", operand=role):
                roles[role] = None
    return tuple(roles)


def _needs(form: Form, modifiers: Assignment, roles: Mapping[str, int]) -> tuple[Rule, ...]:
    """Rules between operands, without those that speak of an operand left out."""
    return tuple(
        replace(rule, condition=fold(rule.condition, form, modifiers))
        for rule in form.needs
        if all(role in roles for role in _named_roles(rule.condition)) and not _names_absent(rule.condition)
    )


def _names_absent(expression: Expression) -> bool:
    """Whether a rule common to a section speaks of an operand that this form does not have."""
    if isinstance(expression, Call):
        return any(_names_absent(argument) for argument in expression.arguments)
    return expression == Const(None)


def _named_roles(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Role):
        yield expression.name
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _named_roles(argument)


def _is_result(operands: Sequence[OperandForm]) -> bool:
    """Whether the role `d` is a register and not an address."""
    flat = [inner for operand in operands for inner in (operand, *operand.elements)]
    return any(each.role == "d" and each.kind in ("register", "vector") for each in flat)


def fold_constants(expression: Expression, values: Mapping[str, int | None]) -> Expression:
    """A bound expression with the operands' constants put in; it stays open where an operand is no constant."""
    if isinstance(expression, Role):
        value = values.get(expression.name)
        return expression if value is None else Const(value)
    if isinstance(expression, Call):
        return _apply(expression.function, tuple(fold_constants(part, values) for part in expression.arguments))
    return expression
