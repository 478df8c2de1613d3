"""Device functions: arguments and results, their layout in `.param` memory, and the restrictions on callers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ptxkit.build import (
    Barrier,
    BuildError,
    BuildTypeError,
    BuildValueError,
    External,
    Function,
    Generic,
    Global,
    Kernel,
    NeverWaitedWarning,
    Register,
    Shared,
    SharedCluster,
    VerificationError,
    b8,
    b16,
    bf16,
    f16,
    f32,
    f64,
    pred,
    s16,
    u8,
    u32,
)
from tests.build.support import assert_ptxas_accepts, marked_line, ptxas


def build_square() -> Function[Register[f32]]:
    function = Function("square", results=f32)
    x = function.param(f32, "x")
    function.return_(x * x)
    return function


def kernel_calling(function: Function[Register[f32]]) -> Kernel:
    k = Kernel("k", threads=32)
    out = k.param(Global[f32], "out")
    out[k.tid.x].store(function(k, out[k.tid.x].load()))
    return k


CALL = """\
	{
		.param .b32 param0;
		.param .b32 retval0;
		st.param.f32 [param0], %f0;
		call.uni (retval0), square, (param0);
		ld.param.f32 %f1, [retval0];
	}
"""

DEFINITION = """\
.func (.param .b32 func_retval0) square(
	.param .b32 x
)
{
	.reg .f32 %f<2>;
	ld.param.f32 %f0, [x];
	mul.f32 %f1, %f0, %f0;
	st.param.f32 [func_retval0], %f1;
	ret;
}
"""


def test_a_function_precedes_the_kernel_that_calls_it(tmp_path: Path) -> None:
    k = kernel_calling(build_square())
    text = str(k)
    assert DEFINITION in text
    assert CALL in text
    assert text.index(DEFINITION) < text.index(CALL)
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(text, tmp_path)


def test_a_function_is_in_the_module_once_however_often_it_is_called(tmp_path: Path) -> None:
    square = build_square()
    fourth = Function("fourth", results=f32)
    x = fourth.param(f32, "x")
    fourth.return_(square(fourth, square(fourth, x)))
    k = kernel_calling(fourth)
    out = k.pointer(Global[f32], k.mov_u64(4096))
    out.store(square(k, 3.0))
    text = str(k)
    assert text.count(".func (.param .b32 func_retval0) square(") == 1
    assert text.index(") square(") < text.index(") fourth(") < text.index(".entry")
    assert "mov.f32 %f2, 0f40400000;" in text  # the constant argument
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(text, tmp_path)


def test_no_function_of_another_module_is_in_the_module() -> None:
    build_square()
    assert ".func" not in str(Kernel("k"))


# ------------------------------------------------------------------------------------------------ passing


def test_values_that_cuda_widens_are_widened_and_a_half_has_two_bytes(tmp_path: Path) -> None:
    function = Function("narrow", results=s16)
    byte, half = function.param(u8, "byte"), function.param(f16, "half")
    function.return_((byte.convert(s16)) + half.convert(s16, "rzi"))
    k = Kernel("k", threads=32)
    out = k.param(Global[s16], "out")
    out[k.tid.x].store(function(k, k.tid.x.convert(u8), k.tid.x.convert(f16, "rn")))
    text = str(k)
    assert "(.param .b32 func_retval0) narrow(\n\t.param .b32 byte,\n\t.param .align 2 .b8 half[2]\n)" in text
    assert "cvt.u32.u8 %r1, %rs0;" in text
    assert "st.param.b32 [param0], %r1;\n\t\tst.param.b16 [param1], %rs1;" in text
    assert "cvt.s32.s16 %r0, " in text  # the result
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(text, tmp_path)


def test_several_results_are_the_members_of_a_structure(tmp_path: Path) -> None:
    function = Function("several", results=(u8, f32, Generic[f32], f16))
    place, half = function.param(Generic[f32], "place"), function.param(f16, "half")
    function.return_(function.mov_u32(7).convert(u8), 2.5, place[1], half)
    k = Kernel("k", threads=32)
    out = k.param(Global[f32], "out")
    small, number, place, half = function(k, out.to_generic(), k.tid.x.convert(f16, "rn"))
    assert (small.type, number.type, type(place), place.type, half.type) == (u8, f32, Generic, f32, f16)
    place.store(number)
    text = str(k)
    assert "(.param .align 8 .b8 func_retval0[24]) several(" in text
    assert ".param .align 8 .b8 retval0[24];" in text
    for stored in ("u8 [func_retval0]", "f32 [func_retval0+4]", "u64 [func_retval0+8]", "b16 [func_retval0+16]"):
        assert f"st.param.{stored}, " in text
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(text, tmp_path)


def test_addresses_keep_their_space_and_alignment(tmp_path: Path) -> None:
    function = Function("wait_and_sum", results=f32)
    tile = function.param(Shared[f32], "tile", align=16)
    ready = function.param(Barrier, "ready")
    ready.wait(0)
    a, b, c, d = function.ld_v4(tile)
    function.return_(a + b + c + d)
    k = Kernel("k", threads=1)
    source, out = k.param(Global[f32], "source", align=16), k.param(Global[f32], "out")
    tile, ready = k.shared(f32, 4, align=16, name="tile"), k.mbarrier("ready")
    ready.init(1)
    ready.arrive_expect_tx(16)
    k.cp_async_bulk(tile, source, 16, ready)
    out.store(function(k, tile, ready))
    text = str(k)
    assert "ld.shared.v4.f32" in text
    assert "cvta" not in text
    assert not [found for found in k.verify().diagnostics if found.severity == "error"]
    assert_ptxas_accepts(text, tmp_path)


def test_arguments_of_other_types_fail_at_the_callers_line() -> None:
    function = Function("f")
    function.param(f32, "x")
    function.param(Shared[f32], "tile", align=16)
    k = Kernel("k")
    tile, count = k.shared(f32, 32, align=16), k.tid.x
    function(k, 1.0, tile)
    with pytest.raises(BuildTypeError, match=r"argument `x` is a f32, got %r\d: \.u32") as caught:
        function(k, count, tile)  # an integer
    assert caught.value.location == marked_line("an integer")
    with pytest.raises(BuildTypeError, match=r"`tile` is a Shared\[f32\], got .*: Global\[f32\]"):
        function(k, 1.0, k.param(Global[f32], "data", align=16))
    with pytest.raises(BuildTypeError, match=r"use \.cast\(f32\)"):
        function(k, 1.0, tile.cast(u32))
    with pytest.raises(BuildTypeError, match="aligned to 16 bytes"):
        function(k, 1.0, tile[1])
    with pytest.raises(BuildTypeError, match=r"takes 2 \(x: f32, tile: Shared\[f32\]\), got 1"):
        function(k, 1.0)
    with pytest.raises(BuildTypeError, match="belongs to another kernel"):
        function(k, Kernel("other").register(f32), tile)


def test_shared_memory_of_the_cta_may_be_passed_as_that_of_the_cluster(tmp_path: Path) -> None:
    function = Function("f")
    function.param(SharedCluster[f32], "there").store(1.0)
    k = Kernel("k", threads=1)
    function(k, k.shared(f32, 4))
    assert_ptxas_accepts(str(k), tmp_path)


def test_a_constant_must_fit_its_parameter() -> None:
    function = Function("f")
    function.param(s16, "x")
    k = Kernel("k")
    function(k, -32768)
    with pytest.raises(BuildValueError, match=r"32768 does not fit in \.s16"):
        function(k, 32768)
    with pytest.raises(BuildTypeError, match="`x` is a s16"):
        function(k, 1.5)


def test_impossible_parameters_are_rejected() -> None:
    function = Function("f")
    with pytest.raises(BuildTypeError, match="pass a u32"):
        function.param(pred, "p")
    with pytest.raises(BuildTypeError, match="types such as u32"):
        function.param(int, "p")  # type: ignore[type-var]
    function.param(u32, "p")
    with pytest.raises(BuildError, match="the name 'p' is taken"):
        function.param(u32, "p")


# ------------------------------------------------------------------------------------------- the results


def test_a_function_may_return_early_and_call_itself(tmp_path: Path) -> None:
    factorial = Function("factorial", results=u32)
    n = factorial.param(u32, "n")
    with factorial.if_(n == 0):
        factorial.return_(1)
    factorial.return_(n * factorial(factorial, n - 1))
    k = Kernel("k", threads=32)
    out = k.param(Global[u32], "out")
    out[k.tid.x].store(factorial(k, k.tid.x))
    text = str(k)
    assert text.count("ret;") == 3
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(text, tmp_path)


def test_functions_may_call_each_other(tmp_path: Path) -> None:
    even, odd = Function("even", results=u32), Function("odd", results=u32)
    numbers = {one: one.param(u32, "n") for one in (even, odd)}
    for one, other, at_zero in ((even, odd, 1), (odd, even, 0)):
        n = numbers[one]
        with one.if_(n == 0):
            one.return_(at_zero)
        one.return_(other(one, n - 1))
    k = Kernel("k", threads=32)
    out = k.param(Global[u32], "out")
    out[k.tid.x].store(even(k, k.tid.x))
    text = str(k)
    assert ".func (.param .b32 func_retval0) even(\n\t.param .b32 n\n);" in text  # declared before odd calls it
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(text, tmp_path)


def test_a_function_returns_the_declared_values() -> None:
    function = Function("f", results=f32)
    n = function.param(u32, "n")
    with pytest.raises(BuildTypeError, match="returns 1 values, not 2"):
        function.return_(1.0, 2.0)
    with pytest.raises(BuildTypeError, match="result `result_0` is a f32, got %r0"):
        function.return_(n)
    with function.if_(n == 0):
        function.return_(1.0)
    with pytest.raises(BuildError, match=r"ends without return_") as caught:
        str(function)
    assert 'Function("f", results=f32)' in caught.value.location.text
    function.return_(2.0)
    assert str(function).count("st.param.f32 [func_retval0]") == 2


def test_a_function_without_results_returns_implicitly(tmp_path: Path) -> None:
    function = Function("f")
    function.param(Global[u32], "out").store(1)
    k = Kernel("k")
    assert function(k, k.param(Global[u32], "out")) is None
    text = str(k)
    assert "call.uni f, (param0);" in text
    assert text.count("ret;") == 2
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(text, tmp_path)


def test_a_call_may_be_guarded(tmp_path: Path) -> None:
    function = Function("f")
    k = Kernel("k")
    few = k.tid.x < 3
    function(k, guard=few)
    function(k, unless=few)
    with k.predicated(few):
        function(k)
    assert [line.strip() for line in str(k).splitlines() if "call" in line] == [
        "@%p0 call f;",
        "@!%p0 call f;",
        "@%p0 call f;",
    ]
    assert_ptxas_accepts(str(k), tmp_path)


def test_a_function_is_called_with_the_kernel_first() -> None:
    with pytest.raises(BuildTypeError, match=r"`square\(k, ...\)`"):
        build_square()(1.0)  # type: ignore[arg-type]


def bringing(size: int) -> Kernel:
    """A kernel whose function loads a box of 2048 bytes by a map of the kernel."""
    function = Function("bring")
    source = function.tensor_map("source", bf16, box=(64, 16), swizzle=128)
    tile, bar = function.param(Shared[bf16], "tile", align=1024), function.param(Barrier, "bar")
    bar.arrive_expect_tx(size)  # expected
    source.load(tile, (0, 0), bar)
    bar.wait(0)
    k = Kernel("k", threads=1)
    given, out = k.tensor_map("given", bf16, box=(64, 16), swizzle=128), k.param(Global[b16], "out")
    tile, bar = k.shared(bf16, 1024, align=1024), k.mbarrier("bar")
    bar.init(1)
    k.fence_barrier_init()
    function(k, given, tile, bar)
    out.store(tile.cast(b16).load())
    return k


def test_a_tensor_map_is_passed_by_address_and_its_bytes_are_counted(tmp_path: Path) -> None:
    k = bringing(2048)
    verdict = k.verify()
    assert verdict.diagnostics == ()
    assert {each.code for each in verdict.undecided} == {
        "PTX621"
    }  # nothing is proven of accesses where functions are called
    assert_ptxas_accepts(str(k), tmp_path)
    with pytest.raises(VerificationError, match="the copies complete 2048") as caught:
        bringing(1024).verify()
    assert caught.value.blames[0].location == marked_line("expected")


def test_a_tensor_map_of_another_form_is_rejected() -> None:
    function = Function("f")
    function.tensor_map("source", bf16, box=(64, 16), swizzle=128)
    k = Kernel("k")
    function(k, k.tensor_map("right", bf16, box=(64, 16), swizzle=128))
    with pytest.raises(BuildTypeError, match="belongs to another kernel"):
        function(k, Kernel("other").tensor_map("right", bf16, box=(64, 16), swizzle=128))
    with pytest.raises(BuildTypeError, match=r"is a tensor map of TensorForm\(.*box=\(64, 16\).*got TensorMap"):
        function(k, k.tensor_map("wrong", bf16, box=(64, 8), swizzle=128))
    with pytest.raises(BuildTypeError, match=r"got .*Generic\[b8\]"):
        function(k, k.param(Generic[b8], "address", align=64))


# ------------------------------------------------------------------------------------------ shared, names


def test_memory_of_functions_counts_toward_the_kernel(tmp_path: Path) -> None:
    function = Function("f", threads=64)
    k = Kernel("k", threads=64)
    function.dynamic_shared(f64, 100, align=128)[function.thread_rank].store(1.0)
    table = function.constant(f32, [1.0, 2.0])
    function.shared(f32, 64)[function.tid.x].store(table.load())
    k.dynamic_shared(u32, 10)
    assert k.dynamic_bytes == 40
    function(k)
    assert (k.dynamic_bytes, k.dynamic_alignment) == (800, 128)
    assert ".const .align 4 .f32 f_const_0[2]" in str(k)
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(str(k), tmp_path)


def test_shared_arrays_of_all_functions_must_fit_together() -> None:
    function = Function("f")
    function.shared(u32, 8000)
    k = Kernel("k")
    k.shared(u32, 8000)
    str(k)
    function(k)
    with pytest.raises(BuildError, match="64000 bytes of shared arrays in f, k together"):
        str(k)


def test_a_function_for_a_cta_shape_is_called_from_such_ctas() -> None:
    function = Function("f", threads=64)
    function(Kernel("k", threads=64))
    with pytest.raises(BuildError, match=r"CTAs of \(64, 1, 1\) threads, and Kernel\('k'\) has \(32, 1, 1\)"):
        function(Kernel("k", threads=32))


def test_a_name_has_one_meaning() -> None:
    k = kernel_calling(build_square())
    str(k)
    with pytest.raises(BuildError, match="another function of the name 'square'"):
        build_square()(k, 1.0)
    twice = Kernel("square")
    build_square()(twice, 1.0)
    with pytest.raises(BuildError, match="the name 'square' has two meanings"):
        str(twice)


def test_a_module_has_one_target() -> None:
    function = Function("f", target="sm_90a")
    k = Kernel("k")
    function(k)
    assert ".target sm_90a" in str(k)
    k = Kernel("k", target="sm_80")
    function(k)
    with pytest.raises(BuildError, match="one target, and here is 'f' for sm_90a and 'k' for sm_80"):
        str(k)


# ----------------------------------------------------------------------------------------------- linking


def test_an_external_function_is_declared_and_called(tmp_path: Path) -> None:
    k = Kernel("k", threads=32)
    out = k.param(Global[f32], "out")
    norm = k.external("norm", params=(f32, f64), results=f32)
    out[k.tid.x].store(norm(k, out[k.tid.x].load(), 2.0))
    out[k.tid.x].store(External("norm", params=(f32, f64), results=f32)(k, 1.0, 2.0))  # the same one
    text = str(k)
    declared = (
        ".extern .func (.param .b32 func_retval0) norm(\n\t.param .b32 norm_param_0,\n\t.param .b64 norm_param_1\n);"
    )
    assert text.count(declared) == 1
    assert k.verify().diagnostics == ()
    path = tmp_path / "k.ptx"
    path.write_text(text)
    subprocess.run([ptxas(), "-c", "-arch=sm_90", path, "-o", tmp_path / "k.o"], check=True)


def test_a_visible_function_is_a_separate_module(tmp_path: Path) -> None:
    function = Function("twice", results=f32, visible=True)
    x = function.param(f32, "x")
    function.return_(x + x)
    text = str(function)
    assert text.count(".visible .func (.param .b32 func_retval0) twice(") == 1
    assert ".entry" not in text
    assert function.verify().diagnostics == ()
    path = tmp_path / "twice.ptx"
    path.write_text(text)
    subprocess.run([ptxas(), "-c", "-arch=sm_90", path, "-o", tmp_path / "twice.o"], check=True)


# ------------------------------------------------------------------------------------------ verification


def staging(*, wait: bool) -> Kernel:
    """A kernel whose function copies through shared memory, with or without waiting."""
    function = Function("stage")
    source, target = function.param(Global[f32], "source", align=16), function.param(Global[f32], "target", align=16)
    tile = function.shared(f32, 4, align=16, name="tile")
    function.cp_async_cg(tile, source, 16)  # the copy
    function.cp_async_commit_group()
    if wait:
        function.cp_async_wait_group(0)
    function.st_v4(target, function.ld_v4(tile))  # the early read
    k = Kernel("k", threads=1)
    a, b = k.param(Global[f32], "a", align=16), k.param(Global[f32], "b", align=16)
    function(k, a, b)
    return k


def test_a_fault_in_a_function_is_reported_at_its_own_line() -> None:
    assert staging(wait=True).verify().diagnostics == ()
    with pytest.raises(VerificationError) as caught, pytest.warns(NeverWaitedWarning):
        staging(wait=False).verify()
    (blame,) = caught.value.blames
    assert blame.diagnostic.code == "PTX302"
    assert blame.location == marked_line("the early read")
    assert marked_line("the copy") in [where for where, *_ in blame.others]


def test_lines_of_functions_are_in_the_debugging_information(tmp_path: Path) -> None:
    k = kernel_calling(build_square())
    k.debug = True
    text = str(k)
    assert text.count(".file 1 ") == 1
    assert ".loc 1 " in text[text.index("square(") : text.index(".entry")]
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(text, tmp_path)
