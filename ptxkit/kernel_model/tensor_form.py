"""What a kernel says of a tensor map that is passed to it. Source: PTX ISA, "Tensors"."""

from __future__ import annotations

from math import prod

from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.scalar_types import Scalar

TENSOR_MAP_BYTES, TENSOR_MAP_ALIGNMENT = 128, 64
"""The size and the alignment of a tensor map."""


@dataclass(frozen=True, slots=True)
class TensorForm:
    """What a kernel says of a tensor map.

    `rank` counts the dimensions of the tensor. `box` holds the elements that a copy takes in each dimension, the
    innermost first; for an `im2col` map it holds channels and pixels. `swizzle` is the number of bytes that the swizzle
    spans. `mode` is `tiled` or `im2col`.
    """

    element: type[Scalar]
    rank: int
    box: tuple[int, ...]
    swizzle: int = 0
    mode: str = "tiled"

    @property
    def bytes(self) -> int:
        """The size of a whole box, which a copy reports also where a part of it lies outside of the tensor."""
        return prod(self.box) * self.element.size()
