"""The geometry of a launch: grid, block, cluster and shared memory, checked against the kernel and the device limits.

Source: CUDA C++ Programming Guide, "Compute Capabilities: Technical Specifications".
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from math import prod
from typing import TypeAlias

from ptxkit.device.errors import LaunchError
from ptxkit.device.limits import MAX_BLOCK, MAX_GRID
from ptxkit.device.signature import Signature
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.limits import MAX_CLUSTER_CTAS
from ptxkit.kernel_model.routines import Extents
from ptxkit.limits import MAX_CTA_THREADS

Shape: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Geometry:
    """The CTAs of the grid, the threads of a CTA, the CTAs of a requested cluster, and the bytes of launch-sized
    memory.
    """

    grid: Shape
    block: Shape
    cluster: Shape | None = None
    shared: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether the grid has no CTA."""
        return 0 in self.grid

    def __str__(self) -> str:
        cluster = "" if self.cluster is None else f", cluster {self.cluster}"
        return f"grid {self.grid}, block {self.block}{cluster}, {self.shared} bytes of launch-sized shared memory"


def make_geometry(
    signature: Signature,
    grid: Extents,
    block: Extents | None = None,
    cluster: Extents | None = None,
    shared: int | None = None,
) -> Geometry:
    """Returns the geometry. Raises `LaunchError` if the kernel or the hardware does not allow it."""
    found = Geometry(
        _normalize_extents("grid", grid, MAX_GRID, least=0),
        _resolve_block(signature, block),
        _resolve_cluster(signature, cluster),
        _resolve_shared(signature, shared),
    )
    together = found.cluster or signature.cluster or (1, 1, 1)
    if any(whole % part for whole, part in zip(found.grid, together, strict=True)):
        raise LaunchError(
            f"kernel {signature.name!r} has clusters of {together}, and the grid {found.grid} is not a multiple of that"
        )
    _check_limits(signature, found)
    return found


def _check_limits(signature: Signature, wanted: Geometry) -> None:
    """Raises `LaunchError` if the geometry violates a condition of the kernel's contract."""
    ctas = prod(wanted.cluster or signature.cluster or (1,))
    for kind, _, numbers, words in signature.limits:
        given = {"block": wanted.block, "cluster": ctas, "shared": wanted.shared}.get(kind)
        is_small = isinstance(given, int) and given < numbers[0]
        if is_small or given in [(number, 1, 1) for number in numbers]:
            raise LaunchError(f"kernel {signature.name!r}: {words}; the launch has {wanted}")


def _resolve_block(signature: Signature, block: Extents | None) -> Shape:
    wanted = signature.threads
    if block is None:
        if wanted is None:
            raise LaunchError(f"kernel {signature.name!r} fixes no block; give block=")
        return wanted
    given = _normalize_extents("block", block, MAX_BLOCK)
    if prod(given) > MAX_CTA_THREADS:
        raise LaunchError(f"a block has at most {MAX_CTA_THREADS} threads, not {prod(given)}")
    if wanted is not None and given != wanted:
        raise LaunchError(f"kernel {signature.name!r} is written for {wanted} threads, not {block}")
    return given


def _resolve_cluster(signature: Signature, cluster: Extents | None) -> Shape | None:
    """Returns the cluster to request, or None if the kernel is compiled for one, which must be the same."""
    if cluster is None:
        return None
    given = _normalize_extents("cluster", cluster, (MAX_CLUSTER_CTAS,) * 3)
    if prod(given) > MAX_CLUSTER_CTAS:
        raise LaunchError(f"a cluster has at most {MAX_CLUSTER_CTAS} CTAs, not {prod(given)}")
    if signature.cluster is None:
        return given
    if given != signature.cluster:
        raise LaunchError(f"kernel {signature.name!r} is written for clusters of {signature.cluster}, not {cluster}")
    return None


def _resolve_shared(signature: Signature, shared: int | None) -> int:
    least = signature.dynamic_shared
    size = least if shared is None else shared
    if size < least:
        raise LaunchError(f"kernel {signature.name!r} needs {least} bytes of launch-sized shared memory, not {size}")
    return size


def _normalize_extents(what: str, extents: Extents, most: Shape, least: int = 1) -> Shape:
    """Returns three extents; missing ones are 1."""
    given = tuple(extents) if isinstance(extents, Iterable) else (extents,)
    try:
        numbers = tuple(operator.index(each) for each in given)
    except TypeError:
        numbers = ()
    if not 1 <= len(numbers) <= 3:
        raise LaunchError(f"{what} is an integer, or a tuple of one to three integers, not {extents!r}")
    x, y, z = (*numbers, 1, 1)[:3]
    if any(not least <= each <= limit for each, limit in zip((x, y, z), most, strict=True)):
        raise LaunchError(f"{what} is {extents!r}; its extents are {least} to {', '.join(map(str, most))}")
    return x, y, z
