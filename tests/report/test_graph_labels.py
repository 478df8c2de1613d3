"""Labels overlap no block and no other label: by the widths of letters, without a browser."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path

import pytest

from ptxkit.report.graph_labels import is_over, place_labels
from ptxkit.report.graph_layering import layout_graph
from ptxkit.report.graph_routing import NodeBox
from ptxkit.report.text_metrics import text_width
from ptxkit.report.view_graph import GUARD_SIZE, SMALL_SIZE, TITLE_SIZE, draw_graph
from ptxkit.source import SourceFile
from ptxkit.view_builder import build_file_view

KERNELS = Path(__file__).resolve().parents[2] / "corpus" / "kernels"
SIZES = {"mono strong": TITLE_SIZE, "guard mono": GUARD_SIZE, "soft": SMALL_SIZE}


def labels(drawing: str, sizes: Mapping[str, float] = SIZES) -> list[tuple[str, NodeBox]]:
    """Returns the texts of a drawing with their rectangles: letters extend to 0.93 of their size above the baseline,
    and 0.24 below it."""
    found = []
    for attributes, markup in re.findall(r"<text ([^>]*)>([^<]*)</text>", drawing):
        given = dict(re.findall(r'([\w-]+)="([^"]*)"', attributes))
        sort = given["class"]
        size = sizes.get(sort) or sizes["soft" if "soft" in sort else ""]
        words = unescape(markup)
        width = text_width(words, size, is_mono="mono" in sort, is_strong="strong" in sort)
        x = float(given["x"]) - width * {"end": 1.0, "middle": 0.5}.get(given.get("text-anchor", ""), 0.0)
        found.append((words, NodeBox(x, float(given["y"]) - 0.8 * size, width, size)))
    return found


@pytest.mark.parametrize(
    "name", ["wgmma_ring.sm_90a", "ring_two_producers.sm_90a", "tcgen05_ring.sm_100a", "libcudacxx_pipeline.sm_80"]
)
def test_no_label_of_a_graph_overlaps_another(name: str) -> None:
    path = KERNELS / f"{name}.ptx"
    functions = build_file_view(SourceFile(path.name, path.read_text("utf-8"))).functions
    compared = 0
    for function in functions:
        for drawing in draw_graph(function).split("</svg>"):
            for (one, box), (other, place) in itertools.combinations(labels(drawing), 2):
                compared += 1
                assert not is_over(box, place), f"{one} over {other}"
    assert compared > 100


def test_labels_of_parallel_edges_do_not_overlap() -> None:
    layout = layout_graph([(60.0, 40.0)] * 4, [(0, 1), (0, 2), (0, 3), (0, 0)])
    places = place_labels(layout, [70.0] * 4)
    shown = [place for place in places if place is not None]
    assert len(shown) >= 2
    assert not any(is_over(one, other) for one, other in itertools.combinations([*shown, *layout.boxes], 2))


def test_an_edge_without_a_label_and_one_without_space_have_none() -> None:
    layout = layout_graph([(60.0, 40.0)] * 2, [(0, 1)])
    assert place_labels(layout, [0.0]) == [None]
    assert place_labels(layout, [10_000.0]) == [None]


def test_widths_grow_with_letters_and_fonts() -> None:
    assert text_width("", 12) == 0
    assert text_width("full[0]", 12, is_mono=True) == pytest.approx(7 * 0.603 * 12)
    assert text_width("lines 10", 24) == pytest.approx(2 * text_width("lines 10", 12))
    assert text_width("line", 12, is_strong=True) > text_width("line", 12)
