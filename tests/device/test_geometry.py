"""Launch geometries: extents, blocks and clusters, checked with the kernel and the limits of every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxkit.device import Geometry, LaunchError, Signature
from ptxkit.device.geometry import make_geometry

ANY = Signature("k", ())
FIXED = Signature("k", (), threads=(32, 2, 1), cluster=(2, 1, 1), dynamic_shared=64)


def test_omitted_extents_are_one() -> None:
    assert make_geometry(ANY, 4, 32) == Geometry((4, 1, 1), (32, 1, 1))
    assert make_geometry(ANY, (4, 2), (8, 8, 2), (2, 2), 12) == Geometry((4, 2, 1), (8, 8, 2), (2, 2, 1), 12)
    assert make_geometry(ANY, np.int64(4), (np.int32(8), 8)) == Geometry((4, 1, 1), (8, 8, 1))  # type: ignore[arg-type]


def test_declared_extents_need_not_be_repeated() -> None:
    assert make_geometry(FIXED, (4, 3)) == Geometry((4, 3, 1), (32, 2, 1), None, 64)
    assert make_geometry(FIXED, 4, (32, 2), 2, 100) == Geometry((4, 1, 1), (32, 2, 1), None, 100)


def test_a_grid_without_a_cta_is_empty() -> None:
    assert make_geometry(ANY, (3, 0), 32).is_empty
    assert not make_geometry(ANY, 3, 32).is_empty


@pytest.mark.parametrize(
    ("signature", "given", "message"),
    [
        (ANY, (1,), "'k' fixes no block; give block="),
        (ANY, (-1, 32), "grid is -1; its extents are 0 to 2147483647, 65535, 65535"),
        (ANY, ((1, 65536), 32), r"grid is \(1, 65536\)"),
        (ANY, (1, 0), "block is 0; its extents are 1 to 1024, 1024, 64"),
        (ANY, (1, (1, 1, 65)), r"block is \(1, 1, 65\)"),
        (ANY, (1, (32, 33)), "a block has at most 1024 threads, not 1056"),
        (ANY, (1, (8, 8, 2, 1)), "block is an integer, or a tuple of one to three integers"),
        (ANY, (1.5, 8), "grid is an integer, or a tuple of one to three integers, not 1.5"),
        (ANY, ("4", 8), "grid is an integer, or a tuple of one to three integers, not '4'"),
        (ANY, ((), 8), "grid is an integer, or a tuple of one to three integers"),
        (ANY, (64, 8, 17), "cluster is 17"),
        (ANY, (64, 8, (8, 4)), "a cluster has at most 16 CTAs, not 32"),
        (ANY, (5, 8, 2), r"has clusters of \(2, 1, 1\), and the grid \(5, 1, 1\) is not a multiple of that"),
        (FIXED, (3,), r"has clusters of \(2, 1, 1\), and the grid \(3, 1, 1\) is not a multiple of that"),
        (FIXED, (4, 64), r"is written for \(32, 2, 1\) threads, not 64"),
        (FIXED, (4, None, 4), r"is written for clusters of \(2, 1, 1\), not 4"),
        (FIXED, (4, None, None, 63), "needs 64 bytes of launch-sized shared memory, not 63"),
    ],
)
def test_an_impossible_launch_is_reported_in_one_sentence(
    signature: Signature, given: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(LaunchError, match=message) as caught:
        make_geometry(signature, *given)
    assert "\n" not in str(caught.value)
