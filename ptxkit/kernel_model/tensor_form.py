"""The requirements of a kernel on a tensor map that is passed to it.

Source: PTX ISA, "Tensors".
"""

from __future__ import annotations

from math import prod

from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.scalar_types import Scalar

TENSOR_MAP_BYTES, TENSOR_MAP_ALIGNMENT = 128, 64
"""The size and the alignment of a tensor map, in bytes."""


@dataclass(frozen=True, slots=True)
class TensorForm:
    """The requirements of a kernel on a tensor map.

    `rank` is the number of dimensions of the tensor. `box` is the number of elements of a copy in each dimension, the
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
        """The size in bytes of a whole box, which a copy reports even if a part of it is outside of the tensor."""
        return prod(self.box) * self.element.size()
