"""Functions of the notation that are evaluated when a form is bound to an opcode.

Arguments and results are values of a modifier or constant: an integer, a word such as `f32`, a truth value, or None for
an absent modifier. The functions of `value` effects are only names here; `ptxkit.semantics.value_ops` and the analyses
define their meaning.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import TypeAlias

Constant: TypeAlias = int | float | str | bool | None

_NARROW = {
    "e4m3": 8,
    "e5m2": 8,
    "ue8m0": 8,
    "ue4m3": 8,
    "ue5m3": 8,
    "e2m3": 8,
    "e3m2": 8,
    "e2m1": 4,
    "e2m1p4": 8,
    "s2f6": 8,
}
_PADDED = {"b6x16_p32": 128, "b4x16_p64": 128, "b6p2x16": 128}  # sixteen narrow numbers, and their padding
_SCALAR = re.compile(r"(bf|tf|[usbf])(\d+)")


def is_type(word: str) -> bool:
    """Returns whether a modifier names an operand type (`u32`, `bf16x2`, `e4m3`, `pred`)."""
    return word in _TYPE_WORDS


def bits(word: Constant) -> int:
    """Returns the width of a type in bits: 32 for `u32`, 32 for `f16x2`, 32 for `tf32`; 1 for `pred`."""
    if not isinstance(word, str):
        raise ValueError(f"{word!r} is no type")
    if word == "pred":
        return 1
    if word in _PADDED:
        return _PADDED[word]
    base, _, count = word.partition("x")
    times = int(count) if count else 1
    if base in _NARROW:
        return _NARROW[base] * times
    match = _SCALAR.fullmatch(base)
    if match is None:
        raise ValueError(f"{word!r} is no type")
    width = 32 if match[1] == "tf" else int(match[2])
    return width * times


def bytes_(word: Constant) -> int:
    """Returns the width of a type in bytes."""
    return bits(word) // 8


def kind(word: Constant) -> str:
    """Returns the kind of a type: `u`, `s`, `b`, `f`, or `pred`; every packed or narrow float is `f`."""
    if not isinstance(word, str):
        return ""
    if word == "pred":
        return "pred"
    if word in _NARROW or word.partition("x")[0] in _NARROW or word.startswith(("bf", "tf")):
        return "f"
    return word[0]


def is_narrow(word: Constant) -> bool:
    """Returns whether a type is a floating-point type of 8 bits or less, or several of these (`e4m3x4`)."""
    return isinstance(word, str) and word.partition("x")[0] in _NARROW


def is_declarable(word: str) -> bool:
    """Returns whether a register can have the type; packed and alternate types are stored in untyped registers."""
    return word in _DECLARABLE


def wide(word: Constant) -> str:
    """Returns the type of twice the width: `u64` for `u32`."""
    return f"{kind(word)}{2 * bits(word)}"


def as_bits(word: Constant) -> str:
    """Returns the untyped type of the same width: `b32` for `f16x2`."""
    return f"b{max(bits(word), 8)}"


def number(word: Constant) -> int:
    """Returns the number in a modifier: 4 for `v4`, `x4` and `4d`; the last one for `cta_group::2`; 1 if it is
    absent.
    """
    if word is None:
        return 1
    found = re.findall(r"\d+", str(word))
    if not found:
        raise ValueError(f"{word!r} holds no number")
    return int(found[-1])


def field(word: Constant, letter: Constant) -> int:
    """Returns the number after a letter: `field(.m64n8k16, .n)` is 8; for `16x64b`, `field(s, .x)` is 64."""
    match = re.search(rf"{letter}(\d+)", str(word))
    if match is None:
        raise ValueError(f"{word!r} has no field {letter!r}")
    return int(match[1])


def leading(word: Constant) -> int:
    """Returns the number that a modifier begins with: 16 for `16x64b`."""
    match = re.match(r"\d+", str(word))
    if match is None:
        raise ValueError(f"{word!r} begins with no number")
    return int(match[0])


def space(word: Constant) -> str:
    """Returns a state space in the form of effects: `shared::cta` for `shared`, `param` for `param::entry`, `generic`
    for none.
    """
    if word is None:
        return "generic"
    name = str(word)
    return {"shared": "shared::cta", "param::entry": "param", "param::func": "param"}.get(name, name)


def case(value: Constant, *pairs: Constant) -> Constant:
    """Returns, for `case(x, k1, v1, k2, v2, otherwise)`, the value after the first key that equals x."""
    for key, result in zip(pairs[::2], pairs[1::2], strict=False):
        if key == value:
            return result
    if len(pairs) % 2 == 0:
        raise ValueError(f"no case for {value!r}")
    return pairs[-1]


def starts(word: Constant, prefix: Constant) -> bool:
    """Returns whether a modifier is present and has a prefix: `starts(mode, .im2col)` holds for `im2col::w`."""
    return word is not None and str(word).startswith(str(prefix))


def word(*parts: Constant) -> str:
    """Returns a concatenation: `word(.b, 32)` is `b32`."""
    return "".join(str(part) for part in parts)


_DECLARABLE = frozenset(
    [f"{k}{n}" for k in "usb" for n in (8, 16, 32, 64)] + ["b128", "pred", "f16", "f32", "f64", "f16x2"]
)

_TYPE_WORDS = frozenset(
    [f"{k}{n}" for k in "usb" for n in (4, 8, 16, 32, 64)]
    + ["b1", "b128", "pred", "f16", "f32", "f64", "f16x2", "f32x2", "bf16", "bf16x2", "tf32", "u8x4", "s8x4", "u16x2"]
    + ["s16x2", "b6x16_p32", "b4x16_p64", "b8x16", "b4x16", "u2", "s2", "b6p2x16"]
    + [f"{base}{pack}" for base in _NARROW for pack in ("", "x2", "x4")]
)

FUNCTIONS: dict[str, Callable[..., Constant]] = {
    "bits": bits,
    "bytes": bytes_,
    "kind": kind,
    "wide": wide,
    "as_bits": as_bits,
    "number": number,
    "field": field,
    "leading": leading,
    "space": space,
    "case": case,
    "starts": starts,
    "word": word,
    "min_of": min,
    "max_of": max,
}

OPERATORS: dict[str, Callable[..., Constant]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "%": operator.mod,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

VALUE_OPERATIONS = {
    name: count
    for count, names in enumerate(
        (
            "elected float unknown",
            "ballot is_canceled",
            "pack unpack popc neg abs not clz copy to_generic from_generic is_space rank_of vote",
            "add sub mul and or xor shl convert combine map_rank load",
            "mul_wide mul_hi div rem min max shr lop3 prmt select compare shuffle redux",
            "funnel bfe bfi",
        )
    )
    for name in names.split()
}
"""The operations of `value` effects, with their numbers of arguments."""
