"""The kinds of operands, spelled with the names that `ptxkit.isa.harness_module` declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random

from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import Immediates, OperandForm
from ptxkit.isa.functions import bits, kind
from ptxkit.isa.harness_module import REGISTERS, VECTORS

DECLARABLE = (
    *("pred", "b8", "u8", "s8", "b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "f16x2"),
    *("b64", "u64", "s64", "f64", "b128"),
)
"""The types that a register can have."""

_VARIABLES = {
    "global": "global_",
    "const": "const_",
    "shared::cta": "shared_",
    "shared::cluster": "shared_",
    "local": "local_",
    "param": "parameter",
}
_ELSEWHERE = ("global_", "shared_+16", "const_", "local_")
_FLOATS = {"f32": ("0f3F800000", "1.5", "0f7FC00000"), "f64": ("0d3FF0000000000000", "2.0", "-1e3")}

Spellings = Mapping[str, str]
"""The text by variation (`plain`, `constant`, `symbol`...), empty if the harness module has no such operand."""


def operand_spellings(operand: OperandForm, random: Random) -> Spellings:
    """Returns every kind of a bound operand once, including `plain`."""
    maker = _MAKERS.get(operand.kind)
    return maker(operand, random) if maker is not None else _FIXED.get(operand.kind, {})


def instruction_spellings(operands: Sequence[OperandForm], random: Random) -> list[Spellings]:
    """Returns the spellings of all operands of an instruction, which agree with each other if it names a function."""
    places = [place for place, operand in enumerate(operands) if operand.kind == "function"]
    if not places:
        return [
            _filter_by_position(operand_spellings(operand, random), place) for place, operand in enumerate(operands)
        ]
    (place,) = places
    results, rest = list(operands[:place]), list(operands[place + 1 :])
    callee = "callee" + "_in" * any(each.kind == "arguments" for each in rest) + "_out" * bool(results)
    is_indirect = any(each.kind == "label" for each in rest)
    found: dict[str, Spellings] = {
        "function": {"plain": "%b64_1", "as u64": "%u64_2"} if is_indirect else {"plain": callee},
        "label": {"plain": f"prototype_{callee}", "list": f"functions_{callee}"},
    }
    parameters = {"plain": "(argument_)", "register": "(%b32_1)", "of floats": "(%f32_1)", "constant": "(7)"}
    received = {"plain": "(result_)", "register": "(%b32_2)"}
    return [received for _ in results] + [found["function"]] + [found.get(each.kind, parameters) for each in rest]


def _filter_by_position(found: Spellings, place: int) -> Spellings:
    """Removes invalid spellings: the first operand is stored to, so the address of a parameter is that of a call."""
    if place or found.get("plain") != "[parameter]":
        return found
    return {**found, "plain": "[outgoing]", "own": "[parameter]"}


def register_type(operand: OperandForm) -> str:
    """Returns a declarable type for an operand: narrow and packed types are stored in untyped registers."""
    wanted = operand.type.value if isinstance(operand.type, ConstantExpr) else "b32"
    if wanted in DECLARABLE:
        return str(wanted)
    return f"b{max(bits(wanted), 8)}"


def _register_name(kind_: str, random: Random) -> str:
    return f"%{kind_}_{random.randrange(REGISTERS)}"


def _register(operand: OperandForm, random: Random) -> Spellings:
    own = register_type(operand)
    found = {"plain": _register_name(own, random)}
    if own != "pred":
        width = bits(own)
        relatives = [
            each for each in DECLARABLE if each != "pred" and bits(each) == width and _is_compatible_type(each, own)
        ]
        relatives = [each for each in relatives if _allows_type(each, operand)]
        found |= {f"as {each}": _register_name(each, random) for each in relatives if each != own}
        if width in (16, 32, 64) and not operand.scalar:
            found["component"] = f"%v2{own}_{random.randrange(VECTORS)}.{random.choice('xy')}"
        if operand.wider:
            wider = [each for each in ("b16", "b32", "b64") if bits(each) > width]
            found |= {f"in {each}": _register_name(each, random) for each in wider}
        if operand.narrower:
            narrower = [each for each in ("b8", "b16", "b32") if bits(each) < width]
            found |= {f"in {each}": _register_name(each, random) for each in narrower}
    if operand.sink:
        found["sink"] = "_"
    if operand.negatable:
        found["negated"] = f"!{_register_name(own, random)}"
    if operand.minus:
        found["with a minus"] = f"-{_register_name(own, random)}"
    if operand.negative:
        return {"plain": found["with a minus"]}
    found |= {
        f"part {index}": f"{_register_name(own, random)}.{_selector(each, random)}"
        for index, each in enumerate(operand.parts)
    }
    if not operand.whole:
        found["plain"] = found["part 0"]
    if operand.symbol:
        found |= {"symbol": "global_", "symbol and offset": "shared_+4", "function": "callee"}
    if operand.immediates is not None:
        found |= _constants_of_type(operand, own, random)
    return found


def _selector(pattern: str, random: Random) -> str:
    """Returns a selector that a pattern such as `h[0-3][0-3]` allows."""
    return re.sub(r"\[(\d)-(\d)\]", lambda ends: str(random.randint(int(ends[1]), int(ends[2]))), pattern)


def _allows_type(found: str, operand: OperandForm) -> bool:
    """Returns whether the form accepts a register of another type."""
    if operand.exact:
        return kind(found) == "b"
    if operand.halves:
        return kind(found) == "b" or found == "f16x2"
    return not (operand.integer and kind(found) == "f")


def _is_compatible_type(found: str, wanted: str) -> bool:
    kinds = {kind(found), kind(wanted)}
    return "b" in kinds or kinds <= {"u", "s"} or found == wanted


def _constants_of_type(operand: OperandForm, own: str, random: Random) -> Spellings:
    limits = operand.immediates or Immediates()
    if limits == Immediates() and kind(own) == "f":
        return {f"constant {index}": word for index, word in enumerate(_FLOATS.get(own, ()))}
    if own in ("pred", "b128"):
        return {}
    return _constants(limits, random)


def _immediate(operand: OperandForm, random: Random) -> Spellings:
    found = dict(_constants(operand.immediates or Immediates(), random))
    return {"plain": found.pop("constant"), **found}


def _constants(limits: Immediates, random: Random) -> Spellings:
    if limits.members is not None:
        return {"constant": str(random.choice(limits.members)), "last": str(limits.members[-1])}
    low = 0 if limits.low is None else limits.low
    high = low + 4 * limits.step if limits.high is None else limits.high
    found = {"constant": str(random.choice(range(low, high + 1, limits.step))), "lowest": str(low)}
    if limits.high is not None:
        found["highest"] = hex(range(low, high + 1, limits.step)[-1])
    if limits.low is None:
        found["negative"] = "-3"
    return found


def _vector(operand: OperandForm, random: Random) -> Spellings:
    if operand.elements:
        return _container_spellings(operand, random, "{{{}}}".format)
    assert isinstance(operand.count, ConstantExpr)
    count, own = int(operand.count.value or 0), register_type(operand)
    first = random.randrange(4)
    if operand.bare:
        return {"plain": f"%v{count}{own}_{random.randrange(VECTORS)}"}
    names = [f"%{own}_{first + index}" for index in range(count)]
    found = {"plain": _in_braces(names)}
    if not operand.braced and count in (2, 4) and bits(own) * count <= 128 and own != "pred":
        found["vector register"] = f"%v{count}{own}_{random.randrange(VECTORS)}"
    if count and own != "pred":
        for each in DECLARABLE:
            if not _allows_type(each, operand):
                continue
            if each not in (own, "pred") and bits(each) == bits(own) and _is_compatible_type(each, own):
                found[f"as {each}"] = _in_braces(f"%{each}_{first + index}" for index in range(count))
    if operand.sink and count > 1:
        found["sink"] = _in_braces([*names[:-1], "_"])
    if operand.immediates is not None and count:
        found |= {
            variant: _in_braces([word, *names[1:]])
            for variant, word in _constants_of_type(operand, own, random).items()
        }
    return found


def _in_braces(names: object) -> str:
    return "{" + ", ".join(names) + "}"  # type: ignore[arg-type]


def _container_spellings(
    operand: OperandForm, random: Random, wrap: Callable[[str], str], joint: str = ", "
) -> Spellings:
    """Returns a container with each of its elements varied in turn, the others plain."""
    offered = [operand_spellings(element, random) for element in operand.elements]
    if not all(offered):
        return {}
    plain = [spellings["plain"] for spellings in offered]
    found = {"plain": wrap(joint.join(plain))}
    for place, spellings in enumerate(offered):
        for variant, word in spellings.items():
            if variant != "plain":
                words = [*plain[:place], word, *plain[place + 1 :]]
                found[f"{operand.elements[place].role} {variant}"] = wrap(joint.join(words))
    return found


def _pair(operand: OperandForm, random: Random) -> Spellings:
    return _container_spellings(operand, random, str, "|")


def _address(operand: OperandForm, random: Random) -> Spellings:
    place = str(operand.space.value) if isinstance(operand.space, ConstantExpr) else "generic"
    bases = _bases(place, operand, random)
    if not operand.elements:
        array = _VARIABLES.get(place) if operand.symbol and place != "param" else None
        elements = (
            {"element": f"{array}[16]", "counted element": f"{array}[{_register_name('b32', random)}+16]"}
            if array
            else {}
        )
        return {variant: f"[{base}]" for variant, base in bases.items()} | elements
    inner = _container_spellings(operand, random, str)
    if not inner:
        return {}
    # An offset cannot be combined with an index.
    bases = {variant: base for variant, base in bases.items() if "+" not in base}
    found = {variant: f"[{base}, {inner['plain']}]" for variant, base in bases.items()}
    return found | {
        f"index {variant}": f"[{bases['plain']}, {rest}]" for variant, rest in inner.items() if variant != "plain"
    }


def _bases(place: str, operand: OperandForm, random: Random) -> Spellings:
    alignment = operand.alignment.value if isinstance(operand.alignment, ConstantExpr) else 16
    step = max(int(alignment or 16), 16)
    if place in ("tensor", "fabric"):
        return {"plain": _register_name("b32", random)} | (
            {} if operand.exact else {"as u32": _register_name("u32", random)}
        )
    found = {
        "plain": _register_name("b64", random),
        "as u64": _register_name("u64", random),
        "as s64": _register_name("s64", random),
    }
    variable = _VARIABLES.get(place)
    if place == "param" and variable is not None:
        found = {"plain": variable, "of a function": "incoming", "of a call": "outgoing+16", "result": "returned"}
    elif place in ("shared::cta", "local"):
        found["as b32"] = _register_name("b32", random)
    if variable is not None:
        found |= {"symbol": variable, "symbol and offset": f"{variable}+{step}"}
    found |= {"absolute": "16", "in b32": _register_name("b32", random), "of another space": random.choice(_ELSEWHERE)}
    if place != "param":
        found |= {"offset": f"{found['plain']}+{step}", "negative offset": f"{found['plain']}+-{step}"}
    return found


_MAKERS: Mapping[str, Callable[[OperandForm, Random], Spellings]] = {
    "register": _register,
    "immediate": _immediate,
    "vector": _vector,
    "pair": _pair,
    "address": _address,
}

# Operands that have the same text in every form.
_FIXED: Mapping[str, Spellings] = {
    "label": {"plain": "target"},
    "sink": {"plain": "_"},
    "texture": {"plain": "texture_", "register": "%b64_1"},
    "surface": {"plain": "surface_", "register": "%b64_1"},
    "sampler": {"plain": "sampler_", "register": "%b64_1"},
    "any": {"plain": "%b32_1", "as u32": "%u32_1"},
}
