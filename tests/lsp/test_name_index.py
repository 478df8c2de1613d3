"""The declaration that the editor finds for a name: the visible one, or else a later one of its block."""

from __future__ import annotations

import re

import pytest

from ptxkit.lsp.name_index import NameIndex
from ptxkit.syntax import parse


@pytest.mark.parametrize(
    ("body", "declared", "uses"),
    [
        (".reg .b32 a; { mov.b32 _, a; .reg .b64 a; mov.b64 _, a; } mov.b32 _, a;", [0, 0, 2, 2, 0], [3, 2]),
        (".reg .b32 a; { .reg .b64 a; mov.b64 _, a; } mov.b32 _, a;", [0, 1, 1, 0], [2, 2]),
        ("mov.b32 _, a; .reg .b32 a;", [1, 1], [2]),
        ("a: { bra a; a: }", [0, 2, 2], [1, 2]),
        ("{ a: } bra a; a:", [0, 2, 2], [1, 2]),
    ],
)
def test_a_name_leads_to_its_declaration(body: str, declared: list[int], uses: list[int]) -> None:
    """declared: for each occurrence of the name, the occurrence that declares it.

    uses: of each declaration, how often.
    """
    text = f".version 9.0 .target sm_90 .address_size 64 .entry k() {{\n{body}\n}}\n"
    names = NameIndex(parse(text))
    places = [found.start() for found in re.finditer(r"\ba\b", text)]
    words = [word for place in places if (word := names.word_at(place)) is not None]
    meanings = [found for word in words if (found := names.resolve("a", word.statement)) is not None]
    assert [places.index(each.span.start) for each in meanings] == declared
    by_place = {each.span: each for each in meanings}
    assert [len(list(names.find_uses(by_place[span]))) for span in sorted(by_place)] == uses
