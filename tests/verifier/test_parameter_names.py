"""The parameters that a user names on the command line."""

from __future__ import annotations

import pytest

from ptxkit.syntax import parse
from ptxkit.syntax.tree import Function
from ptxkit.verifier.parameter_names import by_parameter, describe_parameters, find_parameter


def kernel(name: str, *parameters: str) -> Function:
    listed = ", ".join(f".param .u64 {each}" for each in parameters)
    text = f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry {name}({listed}) {{ ret; }}\n"
    return next(iter(parse(text).functions()))


MANGLED = kernel("_ZN3lib4copyEPfi", "_ZN3lib4copyEPfi_param_0", "_ZN3lib4copyEPfi_param_1")


@pytest.mark.parametrize(
    ("text", "position"),
    [("_ZN3lib4copyEPfi_param_1", 1), ("param_1", 1), ("#1", 1), ("#2", None), ("count", None), ("param", None)],
)
def test_a_parameter_is_named_by_its_position_or_without_the_name_of_its_kernel(
    text: str, position: int | None
) -> None:
    assert find_parameter(text, MANGLED) == position


def test_the_name_of_a_kernel_with_c_linkage_may_be_left_out() -> None:
    written = kernel("copy", "copy_param_0", "count")
    assert (find_parameter("param_0", written), find_parameter("count", written)) == (0, 1)
    assert describe_parameters(written) == "`param_0` (.u64), `count` (.u64)"


def test_values_are_returned_by_the_names_in_the_ptx() -> None:
    given = {"param_1": 7, "#0": 5, "elsewhere": 9}
    assert by_parameter(given, MANGLED) == {"_ZN3lib4copyEPfi_param_1": 7, "_ZN3lib4copyEPfi_param_0": 5}
