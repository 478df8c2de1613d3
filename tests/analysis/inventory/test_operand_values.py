"""Descriptions of operands from executions: names of mbarriers instead of registers, numbers, and threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.analysis.inventory.operand_values import describe_threads
from ptxkit.source import SourceFile
from ptxkit.view_builder import build_file_view

KERNELS = Path(__file__).resolve().parents[3] / "corpus" / "kernels"
SAMPLE = (0, 1, 2, 32, 33, 64, 96, 127, 128, 129, 159)


@pytest.mark.parametrize(
    ("threads", "words"),
    [
        (SAMPLE, "all"),
        ((128,), "thread 128"),
        ((128, 129, 159), "warp 4"),
        ((0, 1, 2, 32, 33), "warps 0..1"),
        ((0, 1, 2, 128, 129, 159), "warps 0, 4"),
        ((0, 32, 64), "1 thread each of warps 0..2"),
        ((0, 1, 32, 33), "some threads of warps 0..1"),
    ],
)
def test_threads_are_named_by_their_warps(threads: tuple[int, ...], words: str) -> None:
    assert describe_threads(threads, SAMPLE) == words


def test_a_ring_has_names_numbers_and_roles() -> None:
    path = KERNELS / "wgmma_ring.sm_90a.ptx"
    (function,) = build_file_view(SourceFile(path.name, path.read_text("utf-8"))).functions
    reported = {each.description: each.threads for each in function.async_ops}
    assert reported["initializes mbarrier full[1] for 1 arrival a phase"] == "thread 0"
    assert reported["arrives at mbarrier full[0..2], which expects 9216 bytes"] == "thread 128"
    assert reported["arrives at mbarrier empty[0..2]"] == "1 thread each of warps 0..3"
    assert reported["waits until the wgmma groups are complete"] == "warps 0..3"
    assert reported["cta barrier 0: sync"] == "all"
    assert any(words.startswith("waits at mbarrier empty[0..2] for the phase of parity %") for words in reported)
