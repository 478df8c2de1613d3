"""Special registers.

Source: PTX ISA, "Special Registers".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.address_windows import RESERVED_SHARED
from ptxkit.emulator.core.dtypes import resize, unsigned_dtype
from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.syntax.constants import WARP_SIZE

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import CtaState
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

_AXES = {"x": 0, "y": 1, "z": 2, "w": 3}
_STEP_NANOSECONDS = 1_000
"""The time by which the global timer advances for each step of a warp. It is about the time that such a step takes on
the machine, so that a kernel with a timeout of some milliseconds neither ends at once nor runs endlessly.
"""


def constant_special_value(cta: CtaState, name: str, width: int) -> Bits:
    """Returns a special register that does not change while the CTA runs; those that only describe hardware are 0."""
    base, _, component = name.lstrip("%").partition(".")
    value = _special_value(cta, base)
    if component and isinstance(value, tuple):
        axis = _AXES[component]
        value = value[axis] if axis < 3 else 0
    if isinstance(value, tuple):
        value = value[0]
    shape = (cta.threads,)
    made: Bits = numpy.broadcast_to(numpy.asarray(value), shape)
    return made.astype(numpy.bool_) if width == 1 else made.astype(unsigned_dtype(width))


def _special_value(cta: CtaState, base: str) -> Any:  # noqa: PLR0912 (a table of registers)
    launch, cluster = cta.machine.launch, cta.cluster
    thread = cta.all_threads
    lane = thread % WARP_SIZE
    x, y, _ = cta.block
    match base:
        case "tid":
            return thread % x, thread // x % y, thread // (x * y)
        case "ntid":
            return cta.block
        case "ctaid":
            return cta.ctaid
        case "nctaid":
            return launch.grid
        case "laneid":
            return lane
        case "warpid":
            return thread // WARP_SIZE
        case "nwarpid":
            return 64
        case "smid":
            return cluster.number
        case "nsmid":
            return max(1, launch.cluster_count)
        case "gridid":
            return 1
        case "lanemask_eq":
            return 1 << lane
        case "lanemask_lt":
            return (1 << lane) - 1
        case "lanemask_le":
            return (2 << lane) - 1
        case "lanemask_gt":
            return (1 << WARP_SIZE) - (2 << lane)
        case "lanemask_ge":
            return (1 << WARP_SIZE) - (1 << lane)
        case "clusterid":
            return cluster.id
        case "nclusterid":
            return tuple(a // b for a, b in zip(launch.grid, launch.cluster, strict=True))
        case "cluster_ctaid":
            return tuple(a % b for a, b in zip(cta.ctaid, launch.cluster, strict=True))
        case "cluster_nctaid":
            return launch.cluster
        case "cluster_ctarank":
            return cta.rank
        case "cluster_nctarank":
            return cluster.size
        case "is_explicit_cluster":
            return int(cluster.size > 1)
        case "total_smem_size" | "aggr_smem_size":
            return cluster.span - RESERVED_SHARED
        case "dynamic_smem_size":
            return launch.shared
        case "reserved_smem_offset_end" | "reserved_smem_offset_cap":
            return RESERVED_SHARED
        case _:
            return 0


def changing_special_value(cta: CtaState, name: str, group: ThreadGroup) -> Bits:
    """Returns a clock, which counts steps of the machine, or a timer in nanoseconds. Runs with one seed read the same
    values.
    """
    now = cta.machine.read_clock() * (_STEP_NANOSECONDS if "timer" in name else 1)
    shift = 32 if name.endswith("_hi") else 0
    made = numpy.full(group.lanes.count, now >> shift, numpy.uint64)
    return made if name in ("%clock64", "%globaltimer") else resize(made, 32)
