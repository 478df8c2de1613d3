"""Infers tensor maps for parameters that are not specified: their boxes have the bytes that mbarriers expect.

Only the host determines the shape of a kernel's tensors. This module guesses a box of 16-bit elements, whose rows have
128 bytes if the box is that large. A kernel that needs another box reads other elements, or deadlocks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod
from typing import Any, TypeAlias

import numpy

from ptxkit.analysis.inventory.copied_tensor_maps import copied_map_locations
from ptxkit.analysis.inventory.tensormap_params import TensorMapParameter, expected_bytes, tensor_map_locations
from ptxkit.analysis.ir.program import Program
from ptxkit.emulator import InvalidLaunchError, TensorMapArgument
from ptxkit.emulator.engine.launch_args import StructArgument
from ptxkit.model.launch_contract import LaunchContract, TensorMapUse
from ptxkit.semantics.layout import variable_of
from ptxkit.tensormap_limits import MAP_ALIGNMENT, MAP_BYTES
from ptxkit.verifier.limits import MAX_BOX_EXTENT

ROW_ELEMENTS, ELEMENT_BYTES = 64, 2
"""The number of elements of a row of 128 bytes, and the size of an element in bytes."""
_OTHER_ROWS = (128, 256, 32, 16, 8)
"""The numbers of elements of a row where a box cannot have rows of 128 bytes."""
COPIES_PER_PHASE = (1, 2, 4)
"""The numbers of copies by one map that may share the bytes of a phase."""

STORED_BOX_BYTES = 128
"""The largest size in bytes of a box that is only stored: nothing shows its size, and nearly all boxes have a row of as
many, so that whatever conflicts with these bytes does so with the box of the host.
"""

DEFAULT_BOX_BYTES = 2048
"""The size in bytes of a box where no mbarrier expects bytes."""

InferredMaps: TypeAlias = "dict[str, tuple[TensorMapArgument | StructArgument, str]]"
"""A map, or a structure that holds maps, with its description, by parameter."""

_BOXES_PER_DIMENSION = 4
"""The number of boxes of a tensor in each of its first two dimensions."""


def infer_maps(
    program: Program, unspecified: Collection[str], boxes: Mapping[tuple[str, int], int] | None = None
) -> list[InferredMaps]:
    """Returns alternative maps for the unspecified parameters; one empty alternative where nothing is guessed.

    boxes: the bytes of the boxes that are known, by the parameter and the byte in it. Nothing is guessed where several
    maps copy boxes, of which none is known: how these share the expected bytes is unknown.
    """
    boxes = boxes or {}
    sizes = _parameter_sizes(program)
    uses = {
        (name, offset): use
        for (name, offset), use in map_locations(program).items()
        if 0 <= offset <= sizes[name] - MAP_BYTES and not offset % MAP_ALIGNMENT
    }
    expected = expected_bytes(program)
    loaded = [place for place, use in uses.items() if use.is_loaded]
    is_known = bool(loaded) and boxes.keys() >= {*loaded}
    if len(loaded) > 1 and not boxes:
        return [{}]
    found = []
    for copies in (1,) if is_known else COPIES_PER_PHASE:
        usual = (expected[0] if expected else DEFAULT_BOX_BYTES) // copies
        sizes_of_boxes = {
            place: boxes.get(place, usual)
            if use.is_loaded
            else min(boxes.get(place, STORED_BOX_BYTES), STORED_BOX_BYTES)
            for place, use in uses.items()
            if place[0] in unspecified
        }
        made = {
            place: _infer_map(uses[place], size) or _infer_map(uses[place], DEFAULT_BOX_BYTES)
            for place, size in sizes_of_boxes.items()
        }
        if made and all(made.values()):
            found.append(_place_in_parameters({place: each for place, each in made.items() if each is not None}, sizes))
    return found or [{}]


def known_boxes(contract: LaunchContract) -> dict[tuple[str, int], int]:
    """Returns the bytes of the boxes that a contract states, by the parameter of the map and the byte in it."""
    uses = [each.requirement for each in contract.conditions if isinstance(each.requirement, TensorMapUse)]
    return {
        (use.parameter.symbol, use.parameter.offset): use.box_bytes
        for use in uses
        if use.box_bytes is not None and not use.is_pointer
    }


def is_expected(program: Program) -> bool:
    """Returns whether an mbarrier expects the bytes of the copied boxes, which determines their size."""
    return bool(expected_bytes(program)) and any(use.is_loaded for use in map_locations(program).values())


def map_locations(program: Program) -> dict[tuple[str, int], TensorMapParameter]:
    """Returns the tensor maps in parameters, including those that the kernel copies before it uses them."""
    return {**copied_map_locations(program), **tensor_map_locations(program)}


def _parameter_sizes(program: Program) -> dict[str, int]:
    parameters = program.function.parameters
    return {each.name: variable_of(declared, each).size for declared in parameters for each in declared.declarators}


def _place_in_parameters(
    made: dict[tuple[str, int], tuple[TensorMapArgument, str]], sizes: dict[str, int]
) -> InferredMaps:
    """Returns the arguments for the parameters that hold maps; all other parts of structures are zeros."""
    found: InferredMaps = {}
    for name in dict.fromkeys(name for name, _ in made):
        own = {offset: each for (other, offset), each in made.items() if other == name}
        if sizes[name] == MAP_BYTES:
            found[name] = own[0]
            continue
        words = "".join(f", {words} at {offset}" for offset, (_, words) in own.items())
        maps = {offset: each for offset, (each, _) in own.items()}
        found[name] = StructArgument(bytes(sizes[name]), maps), f"{sizes[name]} bytes of 0{words}"
    return found


def _infer_map(use: TensorMapParameter, octets: int) -> tuple[TensorMapArgument, str] | None:
    """Returns a map whose box has some bytes; None where no box has as many."""
    count = octets // ELEMENT_BYTES
    if count * ELEMENT_BYTES != octets:
        return None
    if use.is_im2col:
        row = min(ROW_ELEMENTS, count)
        return _infer_im2col_map(use, row, count // row) if not count % row else None
    for row in (ROW_ELEMENTS, *_OTHER_ROWS):
        box = _box_of(count, row, use.rank) if not count % row else None
        if box is not None:
            extents = [each * _BOXES_PER_DIMENSION if at < 2 else each for at, each in enumerate(box)]
            array = _default_contents(extents[::-1])
            words = f"f16 {'x'.join(map(str, extents))} in boxes of {'x'.join(map(str, box))}"
            return TensorMapArgument.tiled(array, box=box), words
    return None


def _box_of(count: int, row: int, rank: int) -> list[int] | None:
    """Returns the extents of a box of some elements, innermost first; None where it would be too large."""
    box, left = [row], count // row
    for _ in range(rank - 1):
        extent = next((each for each in range(min(left, MAX_BOX_EXTENT), 0, -1) if left % each == 0), 1)
        box.append(extent)
        left //= extent
    return box if left == 1 else None


def _infer_im2col_map(use: TensorMapParameter, channels: int, pixels: int) -> tuple[TensorMapArgument, str] | None:
    corner = (0,) * (use.rank - 2)
    extents = [channels * 2, max(pixels, 8), *(4 for _ in corner)]
    try:
        made = TensorMapArgument.im2col(
            _default_contents(extents[::-1]), lower=corner, upper=corner, channels=channels, pixels=pixels
        )
    except InvalidLaunchError:
        return None
    return made, f"f16 {'x'.join(map(str, extents))}, {pixels} pixels of {channels} channels"


def _default_contents(shape: list[int]) -> Any:
    return (numpy.arange(prod(shape)) % 29 - 14).astype(numpy.float16).reshape(shape)
