"""Names as the author wrote them."""

from __future__ import annotations

import pytest

from ptxkit.analysis.ir.display_names import parameter_display_name
from ptxkit.semantics.limits import MAX_DISPLAY_NAME
from ptxkit.semantics.object_names import describe_objects, short_display_name
from tests.analysis.support import module_of, program_of


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tile", "tile"),
        ("_ZZ12bulk_add_oneE4tile", "tile"),
        ("_ZZN4cuda4copyIiEEvPKT_E3bar", "bar"),
        ("_ZZ1fvE4ring_0", "ring"),
        ("_ZZ1fvE9tile", "_ZZ1fvE9tile"),
        ("_ZN9deep_gemm11smem_bufferE", "smem_buffer"),
        ("_ZN3libIiE6bufferE", "_ZN3libIiE6bufferE"),
        ("x" * 100, "x" * (MAX_DISPLAY_NAME - 3) + "..."),
    ],
)
def test_a_local_variable_is_extracted_from_its_mangled_name(name: str, expected: str) -> None:
    assert short_display_name(name) == expected


def test_a_parameter_is_shown_without_the_name_of_its_function() -> None:
    assert parameter_display_name("copy_param_2", "copy") == "param_2"
    assert parameter_display_name("count", "copy") == "count"


def test_objects_are_named_by_their_variable_and_offset() -> None:
    variables = ".shared .align 8 .b64 bars[4]; .shared .align 8 .b64 one; .shared .align 8 .b8 raw[24];"
    program = program_of(module_of(f"{variables} bar.sync 0;"))
    bars, one, raw = (variable.address for variable in program.variables)
    assert describe_objects(program.variable_at, {one}) == "one"
    assert describe_objects(program.variable_at, {bars + 8}) == "bars[1]"
    assert describe_objects(program.variable_at, {bars, bars + 16, one}) == "bars[0, 2], one"
    assert describe_objects(program.variable_at, {bars, bars + 8, bars + 16}) == "bars[0..2]"
    assert describe_objects(program.variable_at, {raw + 8}) == "raw+8"
    assert describe_objects(program.variable_at, {raw, raw + 8}) == "raw (2 objects)"
    assert describe_objects(program.variable_at, {raw + 8}, {raw, raw + 8, raw + 16}) == "raw[1]"
    assert describe_objects(program.variable_at, {bars, 5}) is None
