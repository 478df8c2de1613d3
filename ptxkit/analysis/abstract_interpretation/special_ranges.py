"""What special registers may hold in any launch that a kernel's directives and the GPU allow.

Source: PTX ISA, "Special Registers", "Performance-Tuning Directives: .maxntid", ".reqntid",
".reqnctapercluster"; CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
"""

from __future__ import annotations

from math import prod

from ptxkit.analysis.abstract_interpretation.strided_ranges import StridedRange, full_range, make_range
from ptxkit.isa import table
from ptxkit.isa.functions import bits
from ptxkit.limits import MAX_CTA_THREADS
from ptxkit.semantics.value_ops import integer_type
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.launch_extents import launch_extents
from ptxkit.syntax.tree import Function

#: The largest numbers of threads of a block, of CTAs of a grid, and of CTAs of a cluster, in each dimension.
_MOST_THREADS = (MAX_CTA_THREADS, MAX_CTA_THREADS, 64)
_MOST_CTAS = ((1 << 31) - 1, 65535, 65535)
_MOST_CLUSTER_CTAS = 16
_AXES = "xyz"


class SpecialRanges:
    """The ranges of the special registers in one kernel.

    function: the kernel; None if the function may be called by any kernel.
    """

    def __init__(self, function: Function | None) -> None:
        exact = launch_extents(function, "reqntid") if function is not None else None
        most = launch_extents(function, "maxntid") if function is not None else None
        cluster = launch_extents(function, "reqnctapercluster") if function is not None else None
        self._exact = exact if exact is not None and min(exact) > 0 else None
        # `.maxntid` bounds only the product of the extents.
        self._threads = min(prod(most), MAX_CTA_THREADS) if most is not None and min(most) > 0 else MAX_CTA_THREADS
        self._cluster = cluster if cluster is not None and min(cluster) > 0 else None

    def find(self, name: str) -> StridedRange | None:
        """Returns the range of a special register; None if there is no such register, or its value is no integer."""
        special = table().special(name)
        if special is None:
            return None
        bounds = self._bounds(name)
        type_ = integer_type(special.type)
        width = bits(special.type)
        if bounds is None:
            return full_range(width) if type_ is not None else None
        return make_range(width, *bounds, 1)

    def _bounds(self, name: str) -> tuple[int, int] | None:
        register, _, axis = name.partition(".")
        if axis and axis not in _AXES:
            return None
        place = _AXES.index(axis) if axis else 0
        match register:
            case "%tid" if axis:
                return 0, self._block(place) - 1
            case "%ntid" if axis:
                return (self._exact[place],) * 2 if self._exact is not None else (1, self._block(place))
            case "%ctaid" | "%nctaid" | "%clusterid" | "%nclusterid" if axis:
                return (0, _MOST_CTAS[place] - 1) if register.endswith("id") and "%n" not in register else (
                    1, _MOST_CTAS[place]
                )  # fmt: skip
            case "%cluster_ctaid" | "%cluster_nctaid" if axis:
                most = self._cluster[place] if self._cluster is not None else _MOST_CLUSTER_CTAS
                if register == "%cluster_ctaid":
                    return 0, most - 1
                return (most, most) if self._cluster is not None else (1, most)
            case "%cluster_ctarank":
                return 0, (prod(self._cluster) if self._cluster is not None else _MOST_CLUSTER_CTAS) - 1
            case "%cluster_nctarank":
                return (prod(self._cluster),) * 2 if self._cluster is not None else (1, _MOST_CLUSTER_CTAS)
            case "%laneid":
                return 0, WARP_SIZE - 1
            case "WARP_SZ":
                return WARP_SIZE, WARP_SIZE
        return None

    def _block(self, place: int) -> int:
        return self._exact[place] if self._exact is not None else min(self._threads, _MOST_THREADS[place])
