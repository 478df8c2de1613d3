"""Instances of forms: instruction texts that the table calls legal, for asking an assembler whether they are.

All are meant to stand in the one kernel that `scaffold` gives, which declares what they name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from ptxkit.isa.binding import bind
from ptxkit.isa.expressions import Const
from ptxkit.isa.folding import fold, fold_constants, truth
from ptxkit.isa.forms import Form, Gate, Immediates, Match, OperandForm
from ptxkit.isa.functions import bits, kind

_DECLARED = (
    "pred",
    "b8",
    "u8",
    "s8",
    "b16",
    "u16",
    "s16",
    "b32",
    "u32",
    "s32",
    "b64",
    "u64",
    "s64",
    "f32",
    "f64",
    "b128",
)
_REGISTERS = 260  # enough for the widest vector, that of wgmma and tcgen05
_TRIES = 60


@dataclass(frozen=True, slots=True)
class Instance:
    """An instruction text, without a line end, and the match it was made from."""

    text: str
    match: Match


def instances(
    form: Form, value_gates: Mapping[str, tuple[Gate, ...]], random: Random, count: int
) -> Iterator[Instance]:
    """Up to `count` instances of a form, with different modifiers and operands."""
    made = 0
    for _ in range(_TRIES * count):
        modifiers = _choose(form, random)
        if modifiers is None:
            continue
        match = random.choice(bind(form, modifiers, value_gates))
        text = spell(match, random)
        if text is not None:
            yield Instance(text, match)
            made += 1
            if made == count:
                return


def _choose(form: Form, random: Random) -> dict[str, str | None] | None:
    """Random values for the modifiers, or None where they break a rule of the form."""
    chosen: dict[str, str | None] = {}
    for slot in form.modifiers:
        if slot.name not in chosen:
            absent = slot.optional and random.random() < 0.5
            chosen[slot.name] = None if absent else random.choice(slot.values)
    if all(truth(fold(rule.condition, form, chosen)) for rule in form.rules):
        return chosen
    return None


def spell(match: Match, random: Random) -> str | None:
    """An instruction of this match, or None where an operand has no stand-in in the scaffold."""
    if match.form.name == "st" and any(o.space == Const("param") for o in match.operands):
        return None  # legal only between the braces of a call
    words = [_operand(operand, random) for operand in match.operands]
    if any(word is None for word in words) or not _keeps_needs(match, words):
        return None
    return f"{match.canonical} {', '.join(word for word in words if word is not None)};"


def _keeps_needs(match: Match, words: Sequence[str | None]) -> bool:
    """Whether the constants among the operands keep the rules between operands."""
    values = {role: _integer(words[index]) for role, index in match.roles.items()}
    results = [fold_constants(need.condition, values) for need in match.needs]
    return all(not isinstance(result, Const) or bool(result.value) for result in results)


def _integer(word: str | None) -> int | None:
    return int(word) if word is not None and word.lstrip("-").isdigit() else None


def _operand(operand: OperandForm, random: Random) -> str | None:
    match operand.kind:
        case "register":
            return _register_or_constant(operand, random)
        case "immediate":
            return _constant(operand.immediates or Immediates(), random)
        case "vector":
            return _vector(operand, random)
        case "pair":
            return "|".join(_register(element, random) for element in operand.elements)
        case "address":
            return _address(operand, random)
        case "label":
            return "target"
        case "sink":
            return "_"
        case _:
            return None


def _type(operand: OperandForm) -> str:
    """A declarable register type for an operand: narrow and packed types stand in untyped registers."""
    wanted = operand.type.value if isinstance(operand.type, Const) else "b32"
    if wanted in _DECLARED:
        return str(wanted)
    return f"b{max(bits(wanted), 8)}"


def _register(operand: OperandForm, random: Random) -> str:
    return f"%{_type(operand)}_{random.randrange(_REGISTERS)}"


def _register_or_constant(operand: OperandForm, random: Random) -> str:
    if operand.immediates is not None and random.random() < 0.3:
        name = _type(operand)
        if operand.immediates == Immediates() and kind(name) == "f":
            return "0f3F800000" if name == "f32" else "0d3FF0000000000000"
        if name not in ("pred", "b128"):
            return _constant(operand.immediates, random)
    text = _register(operand, random)
    return f"!{text}" if operand.negatable and random.random() < 0.2 else text


def _constant(immediates: Immediates, random: Random) -> str:
    if immediates.members is not None:
        return str(random.choice(immediates.members))
    low = 0 if immediates.low is None else immediates.low
    high = low + 4 * immediates.step if immediates.high is None else immediates.high
    return str(random.choice(range(low, high + 1, immediates.step)))


def _vector(operand: OperandForm, random: Random) -> str:
    if operand.elements:
        return "{" + ", ".join(_register(element, random) for element in operand.elements) + "}"
    assert isinstance(operand.count, Const)
    first = random.randrange(4)
    name = _type(operand)
    return "{" + ", ".join(f"%{name}_{first + index}" for index in range(int(operand.count.value or 0))) + "}"


def _address(operand: OperandForm, random: Random) -> str | None:
    place = operand.space.value if isinstance(operand.space, Const) else "generic"
    if place == "param":
        return "[parameter]"
    base = "%b32_0" if place == "tensor" else f"%b64_{random.randrange(8)}"
    rest = [_operand(element, random) for element in operand.elements]
    if any(word is None for word in rest):
        return None
    return f"[{', '.join([base, *[word for word in rest if word is not None]])}]"


def scaffold(texts: Sequence[str], version: tuple[int, int], target: str) -> str:
    """A module with one instruction a line, the first on line `FIRST_LINE`."""
    known = [name for name in _DECLARED if name != "b128" or version >= (8, 3)]
    registers = " ".join(f".reg .{name} %{name}_<{_REGISTERS}>;" for name in known)
    head = [
        f".version {version[0]}.{version[1]} .target {target} .address_size 64",
        f".visible .entry kernel(.param .align 16 .b8 parameter[256]) {{ {registers}",
    ]
    return "\n".join([*head, *texts, "target: ret;", "}", ""])


FIRST_LINE = 3
