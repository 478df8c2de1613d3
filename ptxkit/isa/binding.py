"""Binding of a form to an opcode's modifiers: expressions are folded, and optional operands selected.

The product of a form's modifiers is never expanded; only opcodes that occur are bound, each once (see `table`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType

from ptxkit.fast_dataclasses import replace
from ptxkit.isa.constant_folding import Assignment, fold, is_true
from ptxkit.isa.effect_binding import bind_effect
from ptxkit.isa.effects import AsyncRegisters, Effect, MbarrierArrive, MbarrierWait, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import Constraint, Form, Gate, Match, OperandForm
from ptxkit.isa.functions import space


def bind_form(
    form: Form, modifiers: Assignment, value_gates: Mapping[str, tuple[Gate, ...]], *, tolerated: str = ""
) -> tuple[Match, ...]:
    """Returns the matches of a form: one for each choice of optional operands, with most operands last."""
    shared = MappingProxyType(dict(modifiers))
    canonical = ".".join([form.name, *(str(modifiers[s.name]) for s in form.modifiers if modifiers.get(s.name))])
    present = [
        replace(operand, elements=tuple(_present_operands(operand, form, modifiers))) if operand.elements else operand
        for operand in form.operands
        if operand.condition is None or is_true(fold(operand.condition, form, modifiers))
    ]
    matches = []
    for operands in _operand_choices(present):
        roles, paths = _roles(operands)
        bound = tuple(_bind_operand(operand, form, modifiers, roles) for operand in operands)
        needs = _needs(form, modifiers, roles)
        if any(isinstance(need.condition, ConstantExpr) and not need.condition.value for need in needs):
            continue  # these operands exclude each other
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
                needs=tuple(need for need in needs if not isinstance(need.condition, ConstantExpr)),
                results=_results(effects),
                tolerated=tolerated or _tolerance(form, modifiers, roles),
            )
        )
    return tuple(matches)


def _tolerance(form: Form, modifiers: Assignment, roles: Mapping[str, int]) -> str:
    """Returns why these modifiers are only tolerated in this form, or an empty text if the manual has them."""
    applying = (each.text for each in form.tolerances if is_true(fold(each.condition, form, modifiers, roles)))
    return next(applying, "")


def _gates(
    form: Form, modifiers: Assignment, value_gates: Mapping[str, tuple[Gate, ...]], roles: Mapping[str, int]
) -> Iterator[Gate]:
    """Returns the form's gates that apply, then those of its modifier values, unless the form has its own for the
    value.
    """
    values = {f".{value}" for value in modifiers.values() if value is not None}
    own = {gate.subject for gate in form.gates if gate.subject.startswith(".")}
    head = ".".join([form.name, *(slot.name for slot in form.modifiers if slot.stem)])
    for gate in form.gates:
        if gate.subject in own and gate.subject not in values:
            continue
        if gate.condition is None or is_true(fold(gate.condition, form, modifiers, roles)):
            yield gate if gate.subject else replace(gate, subject=head)
    for value in sorted(values - own):
        yield from value_gates.get(value[1:], ())


def _operand_choices(operands: Sequence[OperandForm]) -> Iterator[tuple[OperandForm, ...]]:
    """Yields each choice of optional parts to omit; an inner part requires the part around it."""
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


def _bind_operand(operand: OperandForm, form: Form, modifiers: Assignment, roles: Mapping[str, int]) -> OperandForm:
    def fold_known(expression: Expression | None) -> Expression | None:
        return None if expression is None else fold(expression, form, modifiers, roles)

    kind, count, place = operand.kind, fold_known(operand.count), fold_known(operand.space)
    sink = operand.sink
    if kind == "vector_or_register" and operand.more:
        kind = "vector"
    elif kind == "vector_or_register":  # the sink is valid for elements of a vector, not for the whole vector
        kind, sink = ("register", False) if count == ConstantExpr(1) else ("vector", sink)
    if kind == "address":
        place = ConstantExpr(space(place.value if isinstance(place, ConstantExpr) else None))
    refused = [mark for mark, condition in operand.allowed_if if not is_true(fold(condition, form, modifiers, roles))]
    return replace(
        operand,
        kind=kind,
        sink=sink and "sink" not in refused,
        wide=operand.wide and "wide" not in refused,
        long=operand.long and "long" not in refused,
        in_register=operand.in_register and "in_register" not in refused,
        wider=operand.wider and "wider" not in refused,
        narrower=operand.narrower and "narrower" not in refused,
        integer=operand.integer and "integer" not in refused,
        halves=operand.halves and "halves" not in refused,
        exact=operand.exact and "exact" not in refused,
        negatable=operand.negatable and "negatable" not in refused,
        symbol=operand.symbol and "symbol" not in refused,
        special=operand.special and "special" not in refused,
        minus=operand.minus and "minus" not in refused,
        typed=operand.typed and "typed" not in refused,
        single=operand.single and "single" not in refused,
        nameless=operand.nameless and "nameless" not in refused,
        upto64=operand.upto64 and "upto64" not in refused,
        loose=operand.loose and "loose" not in refused,
        own=(operand.own and "own" not in refused) or not _is_type_in_opcode(operand, form),
        type=fold_known(operand.type),
        count=count,
        space=place,
        symbols=fold_known(operand.symbols),
        unhinted=operand.unhinted and "unhinted" not in refused,
        definite=operand.definite and "definite" not in refused,
        unlike=0 if "unlike" in refused else operand.unlike,
        alignment=fold_known(operand.alignment),
        condition=None,
        allowed_if=(),
        elements=tuple(
            _bind_operand(element, form, modifiers, roles) for element in _present_operands(operand, form, modifiers)
        ),
    )


def _is_type_in_opcode(operand: OperandForm, form: Form) -> bool:
    """Returns whether the opcode determines an operand's type: it is one of its words, or is derived from them, or the
    form states a word that every opcode of the form has.
    """
    if not isinstance(operand.type, ConstantExpr):
        return True
    return any(slot.is_literal and slot.name == operand.type.value for slot in form.modifiers)


def _present_operands(operand: OperandForm, form: Form, modifiers: Assignment) -> list[OperandForm]:
    return [e for e in operand.elements if e.condition is None or is_true(fold(e.condition, form, modifiers))]


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
        found.append(Value("d", CallExpr("unknown", ())))
    return tuple(found)


def _results(effects: Sequence[Effect]) -> tuple[str, ...]:
    """Returns the roles of registers that these effects write, each once."""
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


def _needs(form: Form, modifiers: Assignment, roles: Mapping[str, int]) -> tuple[Constraint, ...]:
    """Returns the rules between operands, without those that mention an omitted operand."""
    return tuple(
        replace(rule, condition=fold(rule.condition, form, modifiers, roles))
        for rule in form.needs
        if all(role in roles for role in _named_roles(rule.condition)) and not _mentions_absent_role(rule.condition)
    )


def _mentions_absent_role(expression: Expression) -> bool:
    """Returns whether a rule of a section mentions an operand that this form does not have."""
    if isinstance(expression, CallExpr):
        return any(_mentions_absent_role(argument) for argument in expression.arguments)
    return expression == ConstantExpr(None)


def _named_roles(expression: Expression) -> Iterator[str]:
    if isinstance(expression, OperandRole):
        yield expression.name
    elif isinstance(expression, CallExpr) and expression.function != "present":
        for argument in expression.arguments:
            yield from _named_roles(argument)


def _is_result(operands: Sequence[OperandForm]) -> bool:
    """Returns whether the role `d` is a register and not an address."""
    flat = [inner for operand in operands for inner in (operand, *operand.elements)]
    return any(each.role == "d" and each.kind in ("register", "vector") for each in flat)
