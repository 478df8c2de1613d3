"""The parameters that are pointers, and the values that a launch is assumed to have."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ptxkit.analysis.dataflow.pointer_params import pointer_arrays, pointer_parameters
from ptxkit.analysis.values.scenario import DEFAULT_THREADS, launch_config_of, representative_threads
from ptxkit.analysis.values.symbolic_values import SymbolicValue
from tests.analysis.support import module_of, program_of, walk

TWO = ".param .u64 p, .param .u64 n"


def pointers(body: str, parameters: str = TWO) -> frozenset[tuple[str, int]]:
    return pointer_parameters(program_of(module_of(body, parameters=parameters)))


def test_a_parameter_used_as_an_address_is_a_pointer_and_one_used_as_a_number_is_not() -> None:
    body = "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [n]; ld.global.u32 %r1, [%rd1]; add.u64 %rd3, %rd2, 1;"
    assert pointers(body) == {("p", 0)}


def test_a_param_variable_of_the_body_is_not_a_parameter_even_where_it_hides_one() -> None:
    used = "ld.param.u64 %rd1, [{}]; ld.global.u32 %r1, [%rd1];"
    assert pointers(f".param .b64 given; {used.format('given')}") == frozenset()
    hidden = f"{{ .param .b64 p; {used.format('p')} }}"
    assert pointers(hidden) == frozenset()
    assert pointers(f"{hidden} ld.param.u64 %rd2, [p]; ld.global.u32 %r2, [%rd2];") == {("p", 0)}


def test_the_address_of_a_tensor_in_a_map_is_a_pointer_and_its_extent_is_not() -> None:
    head = ".shared .align 128 .b8 map[128];"
    body = "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, map;"
    body += "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r2], %rd1;"
    body += "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r2], 0, %r1;"
    assert pointers(head + body) == {("p", 0)}


STRUCTURE = "mov.b64 %rd1, s; add.s64 %rd2, %rd1, 64; ld.param.u64 %rd3, [%rd2+8]; ld.param.u32 %r1, [%rd2+16];"


def test_a_pointer_in_a_structure_is_found_where_the_structure_is_read_through_a_register() -> None:
    program = program_of(module_of(STRUCTURE + "ld.global.u32 %r2, [%rd3];", parameters=".param .b8 s[128]"))
    assert pointer_parameters(program) == {("s", 72)}


@pytest.mark.parametrize("operands", ["%rd1, %rd4", "%rd4, %rd1"])
def test_the_sum_of_a_parameter_and_an_index_is_not_the_parameter(operands: str) -> None:
    body = f"mov.b64 %rd1, s; ld.param.u64 %rd4, [s]; add.s64 %rd2, {operands}; ld.param.u64 %rd3, [%rd2+8];"
    program = program_of(module_of(body + "ld.global.u32 %r2, [%rd3];", parameters=".param .b8 s[128]"))
    assert ("s", 8) not in pointer_parameters(program)


def test_a_field_of_a_structure_is_treated_as_a_parameter() -> None:
    read = walk(module_of(STRUCTURE, parameters=".param .b8 s[128]"), sample=19)
    direct = walk(module_of("ld.param.u32 %r1, [s+80];", parameters=".param .b8 s[128]"), sample=19)
    assert read["%r1"] == direct["%r1"] == 19


def test_a_pointer_is_found_through_copies_conversions_and_sums() -> None:
    body = """ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; mov.u64 %rd3, %rd2; add.u64 %rd4, %rd3, 64;
    st.global.u32 [%rd4], %r1;"""
    assert ("p", 0) in pointers(body)
    without_access = body.replace("[%rd4]", "[%rd9]")
    assert pointers(without_access.replace("cvta.to.global", "mov")) == frozenset()


@pytest.mark.parametrize(
    ("operation", "found"),
    [
        ("mad.lo.s64 %rd3, %rd1, 1, %rd2;", {("p", 0), ("n", 0)}),
        ("mad.lo.s64 %rd3, 1, %rd1, 16;", {("p", 0)}),
        ("mul.lo.s64 %rd3, %rd1, 1;", {("p", 0)}),
        ("mul.lo.s64 %rd3, %rd1, 2;", set()),
        ("mad.lo.s64 %rd3, %rd1, %rd2, 8;", set()),
    ],
)
def test_a_product_with_one_is_an_address_if_the_other_factor_is(operation: str, found: set[tuple[str, int]]) -> None:
    """Of a sum, each operand may be the address."""
    body = f"ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [n]; {operation} ld.global.u32 %r1, [%rd3];"
    assert pointers(body) == found


def test_a_parameter_that_is_converted_as_an_address_is_a_pointer_whatever_becomes_of_the_result() -> None:
    load = "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [n];"
    assert pointers(f"{load} cvta.to.global.u64 %rd3, %rd1; xor.b64 %rd4, %rd3, %rd2;") == {("p", 0)}
    assert pointers(f"{load} cvta.shared.u64 %rd3, %rd1;") == {("p", 0)}


def test_a_parameter_declared_as_a_pointer_is_one_even_if_it_is_unused() -> None:
    declared = ".param .u64 .ptr .global .align 16 p, .param .u64 n"
    assert pointers("nanosleep.u32 0;", declared) == {("p", 0)}
    assert pointers("nanosleep.u32 0;") == frozenset()


def test_a_pointer_inside_a_structure_is_found_by_its_offset() -> None:
    body = "ld.param.u64 %rd1, [s+8]; ld.param.u64 %rd2, [s]; st.global.u32 [%rd1], %r1;"
    assert pointers(body, ".param .align 8 .b8 s[16]") == {("s", 8)}


def test_a_pointer_that_is_loaded_in_a_vector_is_found() -> None:
    body = "ld.param.v2.u64 {%rd1, %rd2}, [s]; st.global.u32 [%rd2], %r1;"
    assert pointers(body, ".param .align 16 .b8 s[16]") == {("s", 8)}
    executed = walk(module_of(body, parameters=".param .align 16 .b8 s[16]"), sample=19)
    assert executed["%rd1"] == 19
    assert isinstance(executed["%rd2"], SymbolicValue)


def test_a_pointer_is_a_symbol_and_a_number_is_the_sample() -> None:
    body = "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [n]; st.global.u32 [%rd1], %r1;"
    executed = walk(module_of(body, parameters=TWO), sample=19)
    assert isinstance(executed["%rd1"], SymbolicValue)
    assert executed["%rd1"].pointer
    assert executed["%rd2"] == 19


@pytest.mark.parametrize(
    ("bounds", "block", "cluster", "is_exact"),
    [
        ("", (DEFAULT_THREADS, 1, 1), (1, 1, 1), False),
        (".maxntid 256, 1, 1", (256, 1, 1), (1, 1, 1), False),
        (".reqntid 64, 2", (64, 2, 1), (1, 1, 1), True),
        (".reqntid 32 .explicitcluster .reqnctapercluster 2, 2, 1", (32, 1, 1), (2, 2, 1), True),
    ],
)
def test_directives_fix_the_launch(
    bounds: str, block: tuple[int, int, int], cluster: tuple[int, int, int], is_exact: bool
) -> None:
    launch = launch_config_of(program_of(module_of("nanosleep.u32 0;", bounds=bounds)))
    assert (launch.block, launch.cluster, launch.is_exact) == (block, cluster, is_exact)
    assert launch.threads == block[0] * block[1] * block[2]
    assert launch.cluster_size == cluster[0] * cluster[1] * cluster[2]


@pytest.mark.parametrize("tids", [range(1), range(20), range(128), range(96, 384), (5,), (31, 32)])
def test_the_representatives_of_a_group_are_two_neighbors_one_of_another_warp_and_the_last(
    tids: Sequence[int],
) -> None:
    group = tuple(tids)
    found = representative_threads(group)
    assert {group[0], group[-1]} <= set(found) <= set(group)
    assert len(found) <= 4
    warps = {tid // 32 for tid in group}
    assert len({tid // 32 for tid in found}) >= min(len(warps), 2)


PASS = "{{ .param .b64 a; st.param.b64 [a], {}; .param .b64 r; call (r), {}, (a); ld.param.b64 %rd3, [r]; }}"
STRIDE = ".func (.param .b64 r) moved(.param .b64 a) { .reg .b64 %rd<4>; ld.param.b64 %rd1, [a]; add.u64 %rd2, %rd1, 8;"
USE = ".func (.param .b64 r) used(.param .b64 a) { .reg .b64 %rd<4>; ld.param.b64 %rd1, [a];"


def test_a_parameter_is_a_pointer_that_a_called_function_uses_or_returns_as_an_address() -> None:
    before = f"{STRIDE} st.param.b64 [r], %rd2; ret; }}\n{USE} ld.global.u64 %rd2, [%rd1]; st.param.b64 [r], 1; ret; }}"

    def pointers_in(body: str) -> frozenset[tuple[str, int]]:
        loads = "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [n];"
        return pointer_parameters(program_of(module_of(f"{loads} {body}", parameters=TWO, before=before)))

    assert pointers_in(PASS.format("%rd1", "used")) == {("p", 0)}
    assert pointers_in(f"{PASS.format('%rd1', 'moved')} {PASS.format('%rd2', 'moved')}") == frozenset()
    assert pointers_in(f"{PASS.format('%rd1', 'moved')} ld.global.u32 %r1, [%rd3];") == {("p", 0)}
    assert pointers_in(f"{PASS.format('%rd2', 'moved')} {PASS.format('%rd1', 'used')}") == {("p", 0)}


ELEMENT = "mov.u64 %rd1, p; mul.wide.u32 %rd2, %r1, 8; {add} ld.param.u64 %rd4, [%rd3+16]; {use}"


@pytest.mark.parametrize(
    ("add", "use", "wanted"),
    [
        ("add.u64 %rd3, %rd1, %rd2;", "ld.global.u32 %r2, [%rd4];", {("p", 16)}),
        ("add.u64 %rd3, %rd1, %rd2; add.u64 %rd3, %rd3, 8;", "ld.global.u32 %r2, [%rd4];", {("p", 24)}),
        ("add.u64 %rd3, %rd1, %rd2;", "add.u64 %rd5, %rd4, 1;", set()),  # a number
        ("add.u64 %rd3, %rd1, 8;", "ld.global.u32 %r2, [%rd4];", set()),  # no index
    ],
)
def test_an_array_of_pointers_is_one_of_which_an_index_selects_an_address(
    add: str, use: str, wanted: set[tuple[str, int]]
) -> None:
    body = ELEMENT.format(add=add, use=use)
    assert pointer_arrays(program_of(module_of(body, parameters=".param .align 8 .b8 p[64]"))) == wanted
