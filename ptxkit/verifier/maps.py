"""Tensor maps for parameters of which nobody said what they describe: their boxes have the bytes that are expected.

How a kernel's tensors look is the host's affair; this only guesses at a box, of halves, whose rows have 128 bytes where
there are so many. A kernel that wants another one reads other elements, or waits for ever.
"""

from __future__ import annotations

from math import prod
from typing import Any, TypeAlias

import numpy

from ptxkit.analysis.program import Program
from ptxkit.analysis.tensors import TensorUse, expected_bytes, tensor_places
from ptxkit.emulate import LaunchError, TensorMap
from ptxkit.emulate.launching import Structure
from ptxkit.emulate.scopes import bytes_of
from ptxkit.emulate.tensor_maps import ALIGNMENT, BYTES

ROW, SIZE, MOST = 64, 2, 256
"""Elements of a row of 128 bytes; bytes of an element; elements of a box in each dimension."""
COPIES = (1, 2, 4)
"""Copies by one map that may share the bytes of a phase."""

USUAL = 2048
"""Bytes of a box where no mbarrier expects any."""

Maps: TypeAlias = "dict[str, tuple[TensorMap | Structure, str]]"
"""By parameter: a map, or a structure that holds some, and words for it."""

_TIMES = 4
"""How many boxes a tensor has in its first two dimensions."""


def map_choices(program: Program) -> list[Maps]:
    """Maps for the parameters that are such, in several ways to try; one empty way where nothing is to be guessed.

    Nothing is where several maps bring boxes: how they share the bytes that are expected does not stand in the text.
    """
    sizes = _sizes(program)
    uses = {
        (name, offset): use
        for (name, offset), use in tensor_places(program).items()
        if 0 <= offset <= sizes[name] - BYTES and not offset % ALIGNMENT
    }
    expected = expected_bytes(program)
    if sum(use.brings for use in uses.values()) > 1:
        return [{}]
    found = []
    for copies in COPIES:
        made = {place: _map(use, (expected[0] if expected else USUAL) // copies) for place, use in uses.items()}
        if made and all(made.values()):
            found.append(_placed({place: each for place, each in made.items() if each is not None}, sizes))
    return found or [{}]


def is_expected(program: Program) -> bool:
    """Whether an mbarrier expects the bytes of the boxes that are brought: boxes of one size only let it go on."""
    return bool(expected_bytes(program)) and any(use.brings for use in tensor_places(program).values())


def _sizes(program: Program) -> dict[str, int]:
    """The bytes of each parameter."""
    parameters = program.function.parameters
    return {each.name: bytes_of(declared, each) for declared in parameters for each in declared.declarators}


def _placed(made: dict[tuple[str, int], tuple[TensorMap, str]], sizes: dict[str, int]) -> Maps:
    """What to pass for the parameters that hold maps; what else a structure holds is zeros."""
    found: Maps = {}
    for name in dict.fromkeys(name for name, _ in made):
        own = {offset: each for (other, offset), each in made.items() if other == name}
        if sizes[name] == BYTES:
            found[name] = own[0]
            continue
        words = "".join(f", {words} at {offset}" for offset, (_, words) in own.items())
        maps = {offset: each for offset, (each, _) in own.items()}
        found[name] = Structure(bytes(sizes[name]), maps), f"{sizes[name]} bytes of 0{words}"
    return found


def _map(use: TensorUse, octets: int) -> tuple[TensorMap, str] | None:
    count = octets // SIZE
    row = min(ROW, count)
    if count * SIZE != octets or row * SIZE % 16 or count % row:
        return None
    if use.is_im2col:
        return _told(use, row, count // row)
    box, left = [row], count // row
    for _ in range(use.rank - 1):
        extent = next((each for each in range(min(left, MOST), 0, -1) if left % each == 0), 1)
        box.append(extent)
        left //= extent
    if left == 1:
        extents = [each * _TIMES if at < 2 else each for at, each in enumerate(box)]
        array = _contents(extents[::-1])
        words = f"f16 {'x'.join(map(str, extents))} in boxes of {'x'.join(map(str, box))}"
        return TensorMap.tiled(array, box=box), words
    return None


def _told(use: TensorUse, channels: int, pixels: int) -> tuple[TensorMap, str] | None:
    corner = (0,) * (use.rank - 2)
    extents = [channels * 2, max(pixels, 8), *(4 for _ in corner)]
    try:
        made = TensorMap.im2col(_contents(extents[::-1]), lower=corner, upper=corner, channels=channels, pixels=pixels)
    except LaunchError:
        return None
    return made, f"f16 {'x'.join(map(str, extents))}, {pixels} pixels of {channels} channels"


def _contents(shape: list[int]) -> Any:
    return (numpy.arange(prod(shape)) % 29 - 14).astype(numpy.float16).reshape(shape)
