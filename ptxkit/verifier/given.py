"""Arguments as the command line gives them: `x=f32[1024]:random`, `table=table.npy`, `n=37`."""

from __future__ import annotations

import re
from typing import Any

import numpy

from ptxkit.records import dataclass

TYPES = {
    **{f"{kind}{bits}": f"{name}{bits}" for kind, name in (("u", "uint"), ("s", "int")) for bits in (8, 16, 32, 64)},
    **{f"b{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "bf16": "uint16",
}
"""PTX's types of array elements, and what numpy calls an array that holds them; `bf16` as bits."""

FILLS = ("random", "zeros", "ones", "iota")
_ARRAY = re.compile(r"(?P<type>[a-z]+\d+)\[(?P<shape>[\d, ]+)\](?::(?P<fill>\w+))?")
_BFLOAT16_SHIFT = 16


class GivenError(ValueError):
    """An argument that cannot be read; the message says what would be right."""


@dataclass(frozen=True, slots=True)
class Given:
    """The value of one parameter. text: as it was written. value: a number, an array, or None where `fill` makes it.

    type, shape: of an array to be made.
    """

    text: str
    value: Any = None
    type: str = ""
    shape: tuple[int, ...] = ()
    fill: str = "random"

    def made(self, chance: numpy.random.Generator) -> Any:
        """The argument: a number, or an array that is nobody else's."""
        if self.value is not None:
            return self.value.copy() if isinstance(self.value, numpy.ndarray) else self.value
        return filled(self.type, self.shape, self.fill, chance)


def given_argument(text: str) -> tuple[str, Given]:
    """(parameter, value) of `NAME=VALUE`. Raises GivenError."""
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise GivenError(f"{text!r} is no argument: write NAME=VALUE, such as n=37 or x=f32[1024]:random")
    array = _ARRAY.fullmatch(value)
    if array is not None:
        return name, _array(value, array)
    if value.endswith(".npy"):
        try:
            return name, Given(value, numpy.load(value, allow_pickle=False))
        except (OSError, ValueError) as error:
            raise GivenError(f"{name}: {value} cannot be read as an array of numpy: {error}") from error
    try:
        return name, Given(value, int(value, 0))
    except ValueError:
        pass
    try:
        return name, Given(value, float(value))
    except ValueError:
        message = f"{name}: {value!r} is no number, no .npy file and no TYPE[SHAPE] with :{', :'.join(FILLS)} behind it"
        raise GivenError(message) from None


def _array(text: str, found: re.Match[str]) -> Given:
    if found["type"] not in TYPES:
        raise GivenError(f"there is no type {found['type']!r} of array elements; known: {', '.join(TYPES)}")
    fill = found["fill"] or "zeros"
    if fill not in FILLS:
        raise GivenError(f"an array cannot be filled with {fill!r}; known: {', '.join(FILLS)}")
    shape = tuple(int(each) for each in found["shape"].split(","))
    return Given(text, None, found["type"], shape, fill)


def filled(type_: str, shape: tuple[int, ...], fill: str, chance: numpy.random.Generator) -> Any:
    """An array of a PTX type. random: floating-point numbers from -1 to 1; integers of all values."""
    dtype = numpy.dtype(TYPES[type_])
    if fill == "zeros":
        return numpy.zeros(shape, dtype)
    count = int(numpy.prod(shape))
    if type_ == "bf16":
        whole = filled("f32", shape, fill, chance)
        return (whole.view(numpy.uint32) >> _BFLOAT16_SHIFT).astype(numpy.uint16)
    if fill == "ones":
        return numpy.ones(shape, dtype)
    if fill == "iota":
        return numpy.arange(count).astype(dtype).reshape(shape)
    if dtype.kind == "f":
        return chance.uniform(-1, 1, shape).astype(dtype)
    return numpy.frombuffer(chance.bytes(count * dtype.itemsize), dtype).reshape(shape).copy()
