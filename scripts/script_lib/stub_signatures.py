"""The signatures of instruction methods: types of operands and results, which are generic where a modifier is a type.

A type that the name leaves open is a type variable, which the first operand of that type determines: `k.max(a, b)` of
f32 values is an f32 value. The signatures accept all that the builder accepts; they may accept more.
"""

from __future__ import annotations

import keyword
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product

from ptxkit.build.instruction_docs import narrow_form, operands_by_role, type_words
from ptxkit.build.method_names import SPACES, VECTORS, MethodNameReading, find_readings
from ptxkit.build.number_formats import needs_register
from ptxkit.build.operand_assignment import find_result_roles, list_input_roles
from ptxkit.isa import table
from ptxkit.isa.binding import bind_form
from ptxkit.isa.constant_folding import fold, is_true
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression
from ptxkit.isa.forms import Form, Match, OperandForm
from ptxkit.isa.functions import bits, is_type
from ptxkit.kernel_model.scalar_types import SCALARS

MAX_CHOICES = 64
"""The number of choices of modifiers of a form that are examined for the operands that they require."""

MAX_OVERLOADS = 12
"""The number of overloads of a method; one with more takes any operands."""

ADDRESS_TYPES = {
    "shared": "Shared",
    "shared::cta": "Shared",
    "shared::cluster": "SharedCluster",
    "global": "Global",
    "local": "Local",
    "const": "Const",
    "param": "Param",
    "param::entry": "Param",
    "param::func": "Param",
    "generic": "Generic",
}
NUMBERS = ("int", "float")


@dataclass(frozen=True)
class StubOperand:
    """An operand of a signature: its name, its possible annotations in order, and whether it may be omitted."""

    role: str
    kinds: tuple[str, ...]
    optional: bool = False


@dataclass(frozen=True)
class Overload:
    """One signature. `types` are the types of its variables, which annotations name by `§` and their index.

    `vector` is the modifier that the caller must give as a keyword, with its values, where the result is a vector.
    """

    operands: tuple[StubOperand, ...]
    result: str
    types: tuple[tuple[str, ...], ...] = ()
    vector: tuple[str, tuple[str, ...]] | None = None


@dataclass
class TypeVariables:
    """The type variables of the stub: one for each set of types."""

    names: dict[tuple[str, ...], str] = field(default_factory=dict)

    def resolve(self, overload: Overload, text: str) -> str:
        """Returns an annotation with the names of variables, or of a type where a variable has only one."""
        for index, words in enumerate(overload.types):
            key = tuple(sorted(set(words), key=list(SCALARS).index))
            name = key[0] if len(key) == 1 else self.names.setdefault(key, f"T{len(self.names) + 1}")
            text = text.replace(f"§{index}", name)
        return text

    def definitions(self) -> Iterator[str]:
        """Yields the definitions."""
        for words, name in self.names.items():
            yield f'{name} = TypeVar("{name}", {", ".join(words)})'


def list_overloads(name: str) -> list[Overload]:
    """Returns the signatures of a method, or an empty list if there are too many."""
    found: dict[Overload, None] = {}
    for reading in find_readings(name):
        form = narrow_form(reading)
        if not has_valid_choice(form):
            continue
        for match in _list_matches(reading):
            found[_overload(match, form, name)] = None
    merged = _merge(list(found))
    return merged if len(merged) <= MAX_OVERLOADS else []


def is_valid_name(name: str) -> bool:
    """Returns whether the rules of some form allow the modifiers that a name spells out."""
    return any(has_valid_choice(narrow_form(reading)) for reading in find_readings(name))


def list_keywords(name: str) -> dict[str, dict[str, None]]:
    """Returns the modifiers that the name leaves open, with their values."""
    slots: dict[str, dict[str, None]] = defaultdict(dict)
    for reading in find_readings(name):
        for slot, word in zip(reading.form.modifiers, reading.explicit_words, strict=True):
            is_parameter = word is None and (len(slot.values) > 1 or slot.optional) and not slot.stem
            if is_parameter and slot.name.isidentifier() and not keyword.iskeyword(slot.name):
                slots[slot.name].update(dict.fromkeys(slot.values))
    return slots


# --------------------------------------------------------------------------------------------------- matches


@cache
def has_valid_choice(form: Form) -> bool:
    """Returns whether the form's rules allow some choice of its modifiers."""
    return next(_choices(form, frozenset()), None) is not None


def _list_matches(reading: MethodNameReading) -> tuple[Match, ...]:
    """Returns the form with the choices of modifiers that determine which operands there are."""
    relevant = _relevant_slots(reading.form)
    slots = zip(reading.form.modifiers, reading.explicit_words, strict=True)
    return _bind_representatives(reading.form, frozenset((s.name, word) for s, word in slots if s.name in relevant))


@cache
def _bind_representatives(form: Form, explicit: frozenset[tuple[str, str | None]]) -> tuple[Match, ...]:
    chosen = dict(explicit)
    slots = [
        slot if chosen.get(slot.name) is None else replace(slot, values=(chosen[slot.name],), optional=False)  # type: ignore[arg-type]
        for slot in form.modifiers
    ]
    narrowed = replace(form, modifiers=tuple(slots))
    open_slots = frozenset(name for name, word in explicit if word is None)
    found = [match for each in _choices(narrowed, open_slots) for match in bind_form(form, each, table().value_gates)]
    return tuple(found)


def _choices(form: Form, varied: frozenset[str]) -> Iterator[dict[str, str | None]]:
    """Yields choices of modifiers that the rules allow: one for each choice of the varied ones, if there are few."""
    names = [slot.name for slot in form.modifiers]
    values = [(*slot.values, None) if slot.optional else slot.values for slot in form.modifiers]
    seen: set[tuple[str | None, ...]] = set()
    ordered = [tuple(reversed(each)) if each[-1] is None else each for each in values]
    for number, words in enumerate(product(*ordered)):
        if number >= MAX_CHOICES * MAX_CHOICES or len(seen) >= MAX_CHOICES:
            return
        choice = dict(zip(names, words, strict=True))
        key = tuple(choice[name] for name in names if name in varied)
        if key not in seen and all(is_true(fold(rule.condition, form, choice)) for rule in form.rules):
            seen.add(key)
            yield choice


@cache
def _relevant_slots(form: Form) -> frozenset[str]:
    """Returns the modifiers in the conditions of operands, and those in their counts but for types and state spaces."""
    operands = [each for outer in form.operands for each in (outer, *outer.elements)]
    in_counts = _named_slots(form, [each.count for each in operands if each.count is not None])
    in_conditions = _named_slots(form, [each.condition for each in operands if each.condition is not None])
    plain = {slot.name for slot in form.modifiers if slot.name in in_counts and not _is_typing(slot.values)}
    return frozenset(plain | in_conditions)


def _named_slots(form: Form, expressions: list[Expression]) -> set[str]:
    """Returns the modifiers in expressions, and in what those define by `let`."""
    lets, found = dict(form.lets), set[str]()
    while expressions:
        match expressions.pop():
            case CallExpr("modifier", (ConstantExpr(value=str(name)),)):
                found.add(name)
            case CallExpr("let", (ConstantExpr(value=str(name)),)):
                expressions += [lets.pop(name)] if name in lets else []
            case CallExpr(_, arguments):
                expressions += arguments
    return found


def _is_typing(values: tuple[str, ...]) -> bool:
    return set(values) <= SPACES or any(map(is_type, values))


# ----------------------------------------------------------------------------------------------- annotations


class _Signature:
    """The annotations of one match: `opened` has the variable of each type that operands before determine."""

    def __init__(self, match: Match, form: Form, name: str) -> None:
        self.match, self.form, self.named = match, form, set(name.split("_"))
        self.unbound = operands_by_role(form.operands)
        self.opened: dict[str, str] = {}
        self.types: list[tuple[str, ...]] = []
        self.element = self._open_element_type()

    def _open_element_type(self) -> str:
        """Returns the element type of addresses: the only type that the name leaves open, if there is one."""
        slots = [slot for slot in self.form.modifiers if len(slot.values) > 1 and any(map(is_type, slot.values))]
        if len(slots) != 1 or not any(each.kind == "address" for each in self.form.operands):
            return "Any"
        return self._open(slots[0].name, slots[0].values) or "Any"

    def _open(self, key: str, words: Sequence[str]) -> str:
        """Returns a new variable for a type, or an empty text if the builder has no such types."""
        accepted = accepted_types(words)
        if not accepted:
            return ""
        self.types.append(accepted)
        self.opened[key] = f"§{len(self.types) - 1}"
        return self.opened[key]

    def operand(self, operand: OperandForm) -> tuple[str, ...]:
        """Returns the annotations of an operand."""
        unbound = self.unbound.get(operand.role, operand)
        plain = {"immediate": "int", "label": "Label", "vector": "Sequence[Value]", "pair": "Sequence[Value]"}
        if operand.kind == "address":
            return self._address(operand, unbound)
        if operand.kind in plain:
            return (plain[operand.kind],)
        words = type_words(unbound.type, self.form)
        if words == ("pred",):
            return ("Register[pred]", *(("int",) if operand.immediates is not None else ()))
        key, untyped = type_key(unbound), any(SCALARS[word].family == "b" for word in words if word in SCALARS)
        known = self.opened.get(key)
        variable = "Any" if known and untyped else known or self._open(key, words)
        return (f"Register[{variable}]", *_numbers(operand, words)) if variable else ("Value",)

    def _address(self, operand: OperandForm, unbound: OperandForm) -> tuple[str, ...]:
        if operand.elements:
            return ("tuple[object, ...]",)
        words = ("generic",) if unbound.space is None else type_words(unbound.space, self.form)
        if any(slot.values == words and slot.optional for slot in self.form.modifiers):
            words = (*words, "generic")
        kinds = {ADDRESS_TYPES[word] for word in words if word in ADDRESS_TYPES}
        if "SharedCluster" in kinds:
            kinds.add("Shared")
        return tuple(f"{kind}[{self.element}]" for kind in sorted(kinds)) or (f"Address[{self.element}]",)

    def result(self, part: OperandForm) -> str:
        """Returns the type of a result: that of the operand of the same type, unless the name spells it out."""
        unbound = self.unbound.get(part.role, part)
        words = type_words(unbound.type, self.form)
        is_spelled = len(words) == 1 and words[0] in self.named
        if type_key(unbound) in self.opened and not is_spelled:
            return self.opened[type_key(unbound)]
        return words[0] if len(words) == 1 and words[0] in SCALARS else "Any"


def _overload(match: Match, form: Form, name: str) -> Overload:
    """Returns the signature for one match."""
    roles = find_result_roles(match)
    bound = operands_by_role(match.operands)
    signature = _Signature(match, form, name)
    operands = []
    for role in list_input_roles(match.operands, roles):
        kinds = signature.operand(bound[role]) if role in bound else ("Value",)
        operands.append(StubOperand(f"{role}_" if keyword.iskeyword(role) else role, kinds))
    results, vector = [], None
    for each in match.operands:
        for part in each.elements or (each,):
            if part.role in roles and part.kind in ("register", "vector"):
                register = f"Register[{signature.result(part)}]"
                results.append(register if part.kind == "register" else f"tuple[{register}, ...]")
                if part.kind == "vector":
                    vector = next((s for s in form.modifiers if s.optional and set(s.values) <= VECTORS), None)
    result = "None" if not results else results[0] if len(results) == 1 else f"tuple[{', '.join(results)}]"
    keyword_ = None if vector is None else (vector.name, vector.values)
    return Overload(tuple(operands), result, tuple(signature.types), keyword_)


def accepted_types(values: Sequence[str]) -> tuple[str, ...]:
    """Returns the builder's types that operands of these types may have.

    Untyped bits accept all of their width, and a type that the builder does not have is held by untyped bits.
    """
    found: dict[str, None] = {}
    for word in values:
        scalar = SCALARS.get(word)
        if scalar is None and f"b{bits(word)}" in SCALARS:
            found[f"b{bits(word)}"] = None
        elif scalar is not None:
            same = [each for each, other in SCALARS.items() if other.bits == scalar.bits and scalar.family == "b"]
            found.update(dict.fromkeys([word, *same]))
    return tuple(found)


def type_key(operand: OperandForm) -> str:
    """Returns the modifier that is an operand's type, or the type with a dot."""
    match operand.type:
        case CallExpr("modifier", (ConstantExpr(value=str(name)),)):
            return name
        case ConstantExpr(value=str(word)):
            return f".{word}"
    return ""


def _numbers(operand: OperandForm, words: Sequence[str]) -> tuple[str, ...]:
    """Returns the numbers that an operand may be instead of a register."""
    scalars = [SCALARS[word] for word in words if word in SCALARS]
    if any(each.family == "f" and (operand.immediates is not None or needs_register(each)) for each in scalars):
        return ("float",)
    return ("int",) if operand.immediates is not None else ()


# ------------------------------------------------------------------------------------------------- merging


def _merge(found: list[Overload]) -> list[Overload]:
    """Joins signatures that differ in the types of their variables, in one operand, or in operands at the end."""
    for join in (_join_types, _join_operand, _join_end):
        merged: list[Overload] = []
        for each in found:
            for at, other in enumerate(merged):
                joined = join(other, each)
                if joined is not None:
                    merged[at] = joined
                    break
            else:
                merged.append(each)
        found = merged
    ordered = sorted(found, key=lambda each: (each.vector is not None, each.result.count("Register")))
    parameters = [(each.operands, each.types, each.vector) for each in ordered]
    return [each for at, each in enumerate(ordered) if parameters[at] not in parameters[:at]]


def _join_types(one: Overload, other: Overload) -> Overload | None:
    shape = [(_registers(a), _registers(b)) for a, b in zip(one.operands, other.operands, strict=False)]
    if not _have_same_operands(one, other) or any(a != b for a, b in shape) or len(one.types) != len(other.types):
        return None
    types = tuple((*a, *b) for a, b in zip(one.types, other.types, strict=True))
    pairs = zip(one.operands, other.operands, strict=True)
    return replace(one, operands=tuple(_union(a, b) for a, b in pairs), types=types)


def _join_operand(one: Overload, other: Overload) -> Overload | None:
    differing = [a != b for a, b in zip(one.operands, other.operands, strict=False)]
    if not _have_same_operands(one, other) or one.types != other.types or sum(differing) > 1:
        return None
    return replace(one, operands=tuple(_union(a, b) for a, b in zip(one.operands, other.operands, strict=True)))


def _join_end(one: Overload, other: Overload) -> Overload | None:
    """Joins signatures of which one has more operands at the end, which may be omitted."""
    short, long = sorted((one, other), key=lambda each: len(each.operands))
    common = len(short.operands)
    same = short.result == long.result and short.vector == long.vector and long.types[: len(short.types)] == short.types
    if not same or [each.kinds for each in short.operands] != [each.kinds for each in long.operands[:common]]:
        return None
    return replace(long, operands=(*short.operands, *(replace(each, optional=True) for each in long.operands[common:])))


def _have_same_operands(one: Overload, other: Overload) -> bool:
    roles = [each.role for each in one.operands], [each.role for each in other.operands]
    return one.result == other.result and one.vector == other.vector and roles[0] == roles[1]


def _registers(operand: StubOperand) -> tuple[str, ...]:
    return tuple(kind for kind in operand.kinds if kind not in NUMBERS)


def _union(one: StubOperand, other: StubOperand) -> StubOperand:
    kinds = dict.fromkeys([*one.kinds, *other.kinds])
    if "float" in kinds:
        kinds.pop("int", None)
    return replace(one, kinds=tuple(kinds), optional=one.optional or other.optional)
