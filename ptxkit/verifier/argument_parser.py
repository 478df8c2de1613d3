"""Parser of arguments on the command line: `x=f32[1024]:random`, `table=table.npy`, `n=37`.

After an array, `:box=64x64` makes it a tensor map with these boxes (innermost dimension first), with `:swizzle=128`,
`:interleave=16`, `:oob=nan`, `:steps=2x1`; `:lower=-1x-1:upper=-1x-1:channels=16:pixels=64` makes it one with im2col
boxes. The prefix `2*` of an array or a map makes a table of two in memory: of addresses, or of the maps' bytes. The
prefixes `texture:`, `surface:` and `sampler:` are described in `image_arguments`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from ptxkit.emulator import InvalidLaunchError, TensorMapArgument
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.refusal import RefusedError
from ptxkit.verifier import image_arguments
from ptxkit.verifier.limits import MAX_ARGUMENT_BYTES

TYPES = {
    **{f"{kind}{bits}": f"{name}{bits}" for kind, name in (("u", "uint"), ("s", "int")) for bits in (8, 16, 32, 64)},
    **{f"b{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "bf16": "uint16",
}
"""PTX's types of array elements, with the numpy type of an array that holds them; `bf16` is held as bits."""

FILLS = ("random", "zeros", "ones", "iota")
_ARRAY_PATTERN = re.compile(r"(?:(?P<count>\d+)\*)?(?P<type>[a-z]+\d+)\[(?P<shape>[\d, ]+)\](?P<more>(?::[\w=-]+)*)")
_TILED_FIELDS = ("box", "swizzle", "interleave", "oob", "steps")
_IM2COL_FIELDS = ("lower", "upper", "channels", "pixels", "swizzle", "interleave", "oob", "steps")
_SCALAR_FIELDS = ("swizzle", "interleave", "channels", "pixels")
_FIELD_ALIASES = {"oob": "oob_fill", "steps": "element_strides"}
_BFLOAT16_SHIFT = 16


class ArgumentSpecError(RefusedError):
    """An argument that cannot be parsed; the message describes the valid syntax."""


@dataclass(frozen=True, slots=True)
class ArgumentSpec:
    """The value of one parameter.

    text: the argument as it was written. value: a number, an array, or None where `fill` determines it. type, shape:
    those of an array to be created. map: the fields of a tensor map of the array, named as in `TensorMap`, or those of
    an `image` (`texture`, `surface`). count: the number of elements of a table; 0 for no table.
    """

    text: str
    value: Any = None
    type: str = ""
    shape: tuple[int, ...] = ()
    fill: str = "random"
    map: Mapping[str, Any] = field(default_factory=dict)
    count: int = 0
    image: str = ""

    def make_value(self, chance: numpy.random.Generator) -> Any:
        """Returns the argument: a number, a new array, a tensor map of one, or a list of these."""
        if self.value is not None:
            return self.value.copy() if isinstance(self.value, numpy.ndarray) else self.value
        return [self._make_one(chance) for _ in range(self.count)] if self.count else self._make_one(chance)

    def _make_one(self, chance: numpy.random.Generator) -> Any:
        array = make_filled_array(self.type, self.shape, self.fill, chance)
        if self.image:
            return image_arguments.make_image(self.image, array, self.map)
        if not self.map:
            return array
        element = None if self.type.startswith("b") and self.type != "bf16" else self.type
        return (TensorMapArgument.im2col if "pixels" in self.map else TensorMapArgument.tiled)(
            array, element=element, **self.map
        )


def parse_argument(text: str) -> tuple[str, ArgumentSpec]:
    """Returns (parameter, value) of `NAME=VALUE`.

    Raises ArgumentSpecError if the text is not valid.
    """
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise ArgumentSpecError(
            f"`{text}` is not an argument", "write NAME=VALUE, such as `n=37` or `x=f32[1024]:random`"
        )
    kind, colon, rest = value.partition(":")
    if colon and kind in image_arguments.IMAGE_KINDS:
        return name, _parse_image(value, kind, rest)
    array = _ARRAY_PATTERN.fullmatch(value)
    if array is not None:
        return name, _parse_array(value, array)
    if value.endswith(".npy"):
        try:
            return name, ArgumentSpec(value, numpy.load(value, allow_pickle=False))
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or error
            what = f"`{name}`: `{value}` cannot be read as an array of numpy: {reason}"
            raise ArgumentSpecError(what, "name a file that `numpy.save` wrote") from error
    try:
        return name, ArgumentSpec(value, int(value, 0))
    except ValueError:
        pass
    try:
        return name, ArgumentSpec(value, float(value))
    except ValueError:
        message = f"`{name}`: `{value}` is not a number, a .npy file or TYPE[SHAPE]"
        remedy = f"write `{name}=37` or `{name}=f32[64]:{FILLS[0]}`; an array may also be {', '.join(FILLS[1:])}"
        raise ArgumentSpecError(message, remedy) from None


def _parse_image(text: str, kind: str, rest: str) -> ArgumentSpec:
    """Returns a texture, a surface or a sampler, which is created once in order to report errors."""
    head, _, more = rest.partition(":") if kind != "sampler" else ("", "", rest)
    words = more.split(":") if more else []
    plain = ":".join([head, *(each for each in words if "=" not in each)])
    array = _ARRAY_PATTERN.fullmatch(plain)
    if kind != "sampler" and array is None:
        what = f"`{text}`: `{kind}:` must be followed by an array, and then its fields"
        raise ArgumentSpecError(what, f"write `{kind}:f32[48,64]:random`")
    try:
        field_texts = image_arguments.parse_fields(kind, [each.partition("=") for each in words if "=" in each])
        if array is None:
            return ArgumentSpec(text, image_arguments.make_sampler(field_texts))
        made = replace(_parse_array(text, array), map=field_texts, image=kind)
        made.make_value(numpy.random.default_rng(0))
    except (InvalidLaunchError, ValueError, TypeError) as error:
        raise ArgumentSpecError(f"`{text}`: {error}") from error
    return made


def _parse_array(text: str, found: re.Match[str]) -> ArgumentSpec:
    if found["type"] not in TYPES:
        what = f"there is no type `{found['type']}` of array elements"
        raise ArgumentSpecError(what, f"the types are {', '.join(TYPES)}")
    words = found["more"].split(":")[1:]
    fill, field_texts = "zeros", [each.partition("=") for each in words if "=" in each]
    for word in words:
        if "=" not in word:
            fill = word
    if fill not in FILLS:
        raise ArgumentSpecError(f"an array cannot be filled with `{fill}`", f"the contents are {', '.join(FILLS)}")
    shape = _parse_shape(text, found["shape"])
    count = int(found["count"] or 0)
    size = max(count, 1) * numpy.dtype(TYPES[found["type"]]).itemsize * math.prod(shape)
    if size > MAX_ARGUMENT_BYTES:
        what = f"`{text}` would have {size:,} bytes"
        raise ArgumentSpecError(what, f"an argument has at most {MAX_ARGUMENT_BYTES:,} bytes")
    return ArgumentSpec(
        text, None, found["type"], shape, fill, _parse_map_fields(text, field_texts, found["type"], shape), count
    )


def _parse_shape(text: str, extents: str) -> tuple[int, ...]:
    try:
        return tuple(int(each) for each in extents.split(","))
    except ValueError:
        what = f"`{text}`: `[{extents}]` is not a shape"
        raise ArgumentSpecError(what, "write `f32[64]` or `f32[48,64]`") from None


def _parse_map_fields(
    text: str, field_texts: Sequence[tuple[str, str, str]], type_: str, shape: tuple[int, ...]
) -> dict[str, int | str | tuple[int, ...]]:
    """Returns the specified fields of a tensor map.

    The map is created once in order to report errors before anything runs.
    """
    if not field_texts:
        return {}
    known = _IM2COL_FIELDS if any(name == "pixels" for name, _, _ in field_texts) else _TILED_FIELDS
    made: dict[str, Any] = {}
    for name, _, value in field_texts:
        if name not in known:
            what = f"`{text}`: a tensor map has no field `{name}`"
            raise ArgumentSpecError(what, f"its fields are {', '.join(known)}")
        try:
            made[_FIELD_ALIASES.get(name, name)] = (
                value if name == "oob" else int(value) if name in _SCALAR_FIELDS else _parse_extents(value)
            )
        except ValueError:
            what = f"`{text}`: `{name}` takes integers, not `{value}`"
            raise ArgumentSpecError(what, f"write `{name}=64` or `{name}=64x8`") from None
    try:
        ArgumentSpec(text, None, type_, shape, "zeros", made).make_value(numpy.random.default_rng(0))
    except (InvalidLaunchError, TypeError) as error:
        raise ArgumentSpecError(f"`{text}` is not a tensor map: {error}") from error
    return made


def _parse_extents(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split("x"))


def make_filled_array(type_: str, shape: tuple[int, ...], fill: str, chance: numpy.random.Generator) -> Any:
    """Returns an array of a PTX type.

    `random` fills it with floating-point numbers from -1 to 1, or with integers of the whole range.
    """
    dtype = numpy.dtype(TYPES[type_])
    if fill == "zeros":
        return numpy.zeros(shape, dtype)
    count = int(numpy.prod(shape))
    if type_ == "bf16":
        whole = make_filled_array("f32", shape, fill, chance)
        return (whole.view(numpy.uint32) >> _BFLOAT16_SHIFT).astype(numpy.uint16)
    if fill == "ones":
        return numpy.ones(shape, dtype)
    if fill == "iota":
        return numpy.arange(count).astype(dtype).reshape(shape)
    if dtype.kind == "f":
        return chance.uniform(-1, 1, shape).astype(dtype)
    return numpy.frombuffer(chance.bytes(count * dtype.itemsize), dtype).reshape(shape).copy()
