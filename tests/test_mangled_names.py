"""Names as their author wrote them."""

from __future__ import annotations

import pytest

from ptxkit.mangled_names import distinct_short_names, names_meant, short_name, short_names, with_short_names


def test_a_name_stands_for_itself_or_for_those_with_that_short_form() -> None:
    names = ["_Z3sumIfEvPT_", "_Z3sumIdEvPT_", "scan", "_Z4scanPi"]
    assert names_meant("_Z3sumIfEvPT_", names) == names[:1]
    assert names_meant("sum", names) == names[:2]
    assert names_meant("scan", names) == ["scan"]
    assert names_meant("su", names) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tile", "tile"),
        ("_ZZ12bulk_add_oneE4tile", "tile"),
        ("_ZZN4cuda4copyIiEEvPKT_E3bar", "bar"),
        ("_ZZ1fvE4ring_0", "ring"),
        ("_ZZ1fvE9tile", "_ZZ1fvE9tile"),
        ("_ZN9deep_gemm11smem_bufferE", "smem_buffer"),
        ("_ZNK3lib3foo3barEv", "bar"),
        ("_ZN3libIiE6bufferE", "_ZN3libIiE6bufferE"),
        ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "pad"),
        ("_Z9sum_tilesPK6float4PS_i", "sum_tiles"),
        ("_Z9sum_tilesPK6float4PS_i_param_0", "param_0"),
        ("_Z99short", "_Z99short"),
        ("_Z", "_Z"),
    ],
)
def test_a_name_is_extracted_from_its_mangled_form(name: str, expected: str) -> None:
    assert short_name(name) == expected


def test_two_names_that_would_be_equal_remain_mangled() -> None:
    texts = ["reads `_ZZ1fvE4tile` after `_ZZ1gvE4tile`", "and `_ZZ1fvE4ring`"]
    assert short_names(texts) == {"_ZZ1fvE4ring": "ring"}


def test_code_keeps_its_names() -> None:
    names = {"_ZZ1fvE4tile": "tile"}
    text = "`_ZZ1fvE4tile`, _ZZ1fvE4tile and `mov.u32 %r1, _ZZ1fvE4tile;`"
    assert with_short_names(text, names) == "`tile`, tile and `mov.u32 %r1, _ZZ1fvE4tile;`"


def test_a_short_name_is_listed_where_it_denotes_one_name() -> None:
    names = ["_Z4copyPfi", "_Z4copyPdi", "_Z3sumPf", "main"]
    assert distinct_short_names(names) == ["_Z4copyPfi", "_Z4copyPdi", "sum", "main"]
    assert all(len(names_meant(each, names)) == 1 for each in distinct_short_names(names))
