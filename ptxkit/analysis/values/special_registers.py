"""The special registers whose values a launch determines.

Source: PTX ISA, "Special Registers". The grid has two clusters in x; the executed CTAs are in the first of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ptxkit.analysis.values.scenario import LaunchConfig, ParameterKey
from ptxkit.analysis.values.symbolic_values import GroupValue, group_value_of, lift
from ptxkit.semantics.value_ops import bit_mask
from ptxkit.syntax.constants import WARP_SIZE

#: The bytes of dynamic shared memory that a launch requests, and of all shared memory of a CTA.
_DYNAMIC, _TOTAL = 96 << 10, 128 << 10

#: The value of each register in a thread, given its linear number and the launch.
_OF_THREAD: dict[str, Callable[[int, LaunchConfig], int]] = {
    "%laneid": lambda tid, _: tid % WARP_SIZE,
    "%warpid": lambda tid, _: tid // WARP_SIZE,
    "%lanemask_eq": lambda tid, _: 1 << tid % WARP_SIZE,
    "%lanemask_lt": lambda tid, _: bit_mask(tid % WARP_SIZE),
    "%lanemask_le": lambda tid, _: bit_mask(tid % WARP_SIZE + 1),
    "%lanemask_gt": lambda tid, _: bit_mask(WARP_SIZE) & ~bit_mask(tid % WARP_SIZE + 1),
    "%lanemask_ge": lambda tid, _: bit_mask(WARP_SIZE) & ~bit_mask(tid % WARP_SIZE),
    "%tid.x": lambda tid, launch: tid % launch.block[0],
    "%tid.y": lambda tid, launch: tid // launch.block[0] % launch.block[1],
    "%tid.z": lambda tid, launch: tid // (launch.block[0] * launch.block[1]),
}


class SpecialRegisters:
    """Special registers as the threads `tids` of CTA `rank` of a cluster of the grid read them."""

    def __init__(
        self,
        launch: LaunchConfig,
        rank: int,
        tids: tuple[int, ...],
        cluster: int = 0,
        overrides: Iterable[tuple[ParameterKey, int]] = (),
    ) -> None:
        """Takes the values of parameters and registers that the launch has, and that differ from the usual ones."""
        self._launch = launch
        self._threads = group_value_of(tids)
        given = {name: value for (name, _), value in overrides}
        self._known: dict[str, GroupValue] = dict(_of_cta(launch, rank, cluster, given))

    def get(self, name: str) -> GroupValue | None:
        """Returns the value of a register; None where the launch does not determine it."""
        known = self._known.get(name)
        if known is None and name in _OF_THREAD:
            known = self._known[name] = lift(_OF_THREAD[name], self._threads, self._launch)
        return known


def _of_cta(launch: LaunchConfig, rank: int, cluster: int, given: Mapping[str, int]) -> dict[str, int]:
    """Returns the registers that all threads of a CTA share.

    given: the number of the CTA, by register, if set, and then maybe the lengths of the grid.
    """
    cx, cy, cz = launch.cluster
    size = launch.cluster_size
    place = (rank % cx, rank // cx % cy, rank // (cx * cy))
    known = {
        "%nwarpid": -(-launch.threads // WARP_SIZE), "WARP_SZ": WARP_SIZE,
        "%cluster_ctarank": rank, "%cluster_nctarank": size, "%is_explicit_cluster": int(size > 1),
        "%dynamic_smem_size": _DYNAMIC, "%total_smem_size": _TOTAL, "%gridid": 1, "%smid": 0, "%nsmid": 1,
    }  # fmt: skip
    vectors = {
        "%ntid": launch.block,
        "%ctaid": (place[0] + cluster * cx, *place[1:]),
        "%nctaid": (2 * cx, cy, cz),
        "%cluster_ctaid": place,
        "%cluster_nctaid": launch.cluster,
        "%clusterid": (cluster, 0, 0),
        "%nclusterid": (2, 1, 1),
    }
    for name, parts in vectors.items():
        known.update({f"{name}.{axis}": part for axis, part in zip("xyz", parts, strict=True)})
    for axis in "xyz":
        number, length = given.get(f"%ctaid.{axis}", 0), f"%nctaid.{axis}"
        if number > 0:
            known[f"%ctaid.{axis}"] = number
        known[length] = given.get(length, max(number + 1, known[length]))
    return known
