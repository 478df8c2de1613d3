"""The kernel as a whole: the parser's tree, the lowest version and target, parameters, debugging lines."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ptxkit.build
from ptxkit import parse
from ptxkit.build import (
    BuildError,
    BuildTypeError,
    BuildValueError,
    Const,
    Generic,
    Global,
    Kernel,
    Shared,
    f16,
    f32,
    f64,
    pred,
    s16,
    u8,
    u32,
    u64,
)
from ptxkit.build import kernel as documented
from ptxkit.kernels import async_copy, bulk_add_one
from tests.build.support import assert_ptxas_accepts, body, marked_line


def everything() -> Kernel:
    """A kernel with several features of the builder."""
    k = Kernel("everything", threads=(32, 2), debug=True)
    data = k.param(Global[f64], "data", align=16)
    small = k.param(Generic[u8], "small")
    table = k.param(Const[f32], "table")
    n, h = k.param(u32, "n"), k.param(s16, "h")
    bar, tile = k.mbarrier(), k.shared(f32, 16, align=16)
    extra = k.dynamic_shared(u64, 4)
    with k.thread_is(0):
        bar.init(32)
    k.bar_sync(0)
    low, high = k.ld_v2(data)
    k.st_v2(data[2], (high, low))
    tile[k.tid.x].store(table[n].load() + -1.5)
    extra[1].store(small.load().convert(u64) + 1)
    with k.if_((n < 4) & ~(h == -3)):
        k.bra(end := k.label("end"))
    bar.arrive()
    k.place(end)
    return k


@pytest.mark.parametrize("build", [async_copy, bulk_add_one, everything], ids=lambda each: each.__name__)
def test_the_builder_makes_the_tree_that_the_parser_makes_of_its_text(build: Callable[[], Kernel]) -> None:
    module = build().module()
    assert parse(str(module)) == module
    assert str(parse(str(module))) == str(module)


def test_ptxas_accepts_everything(tmp_path: Path) -> None:
    assert_ptxas_accepts(str(everything()), tmp_path)


def test_a_plain_kernel_has_the_lowest_version() -> None:
    module = Kernel("k").module()
    assert (module.version, module.targets, module.address_size) == ((6, 3), ("sm_75",), 64)


def test_the_version_and_target_are_the_lowest_possible() -> None:
    copy, bulk = async_copy().module(), bulk_add_one().module()
    assert (copy.version, copy.targets) == ((7, 0), ("sm_80",))
    assert (bulk.version, bulk.targets) == ((8, 0), ("sm_90",))


def test_an_instruction_of_one_architecture_requires_it() -> None:
    k = Kernel("k")
    k.setmaxnreg_inc(64)
    assert (k.module().version, k.module().targets) == ((8, 0), ("sm_90a",))


def test_a_given_target_is_kept_and_raises_the_version() -> None:
    module = Kernel("k", target="sm_100a").module()
    assert (module.version, module.targets) == ((8, 6), ("sm_100a",))


def test_an_instruction_that_the_given_target_lacks_fails_at_its_line() -> None:
    k = Kernel("k", target="sm_80")
    k.elect_sync(-1)  # not on sm_80
    with pytest.raises(BuildError, match="sm_80") as caught:
        k.module()
    assert caught.value.location == marked_line("not on sm_80")


def test_a_target_must_have_a_known_form() -> None:
    with pytest.raises(BuildValueError, match="'hopper' is not a target"):
        Kernel("k", target="hopper")


def test_special_registers_of_clusters_require_a_target_that_has_them() -> None:
    k = Kernel("k")
    k.shared(u32, 1).store(k.cluster_ctarank)
    assert k.module().targets == ("sm_90",)


def test_the_shape_of_the_cta_is_declared() -> None:
    assert ".reqntid 64, 2, 1" in str(Kernel("k", threads=(64, 2)))
    with pytest.raises(BuildValueError, match="at most 1024 threads"):
        Kernel("k", threads=(64, 32))
    with pytest.raises(BuildValueError, match="one to three extents"):
        Kernel("k", threads=0)


def test_parameters_are_values_or_addresses_that_a_host_can_pass() -> None:
    k = Kernel("k")
    k.param(f16, "half")
    assert ".param .b16 half" in str(k)
    with pytest.raises(BuildTypeError, match="a parameter is a type"):
        k.param(pred, "p")
    with pytest.raises(BuildTypeError, match="a host passes addresses"):
        k.param(Shared[f32], "tile")
    with pytest.raises(BuildTypeError, match="a parameter is a type"):
        k.param(5, "five")  # type: ignore[call-overload]


def test_debugging_names_the_users_file_and_lines() -> None:
    k = Kernel("k", debug=True)
    k.trap()  # the debugged line
    location = marked_line("the debugged line")
    text = str(k)
    assert f'.file 1 "{location.file}"' in text
    assert f".loc 1 {location.line} 0\n\ttrap;" in text
    assert ".loc" not in str(bulk_add_one())


def test_every_statement_has_the_users_line() -> None:
    k = Kernel("k")
    n = k.param(u32, "n")  # the parameter
    n + 1  # the sum
    assembled = k.assemble()
    named = {
        getattr(statement, "opcode", ""): location
        for statement, location in zip(body(assembled.module).statements, assembled.locations, strict=True)
    }
    assert named["ld.param.u32"] == marked_line("the parameter")
    assert named["add.u32"] == marked_line("the sum")


def test_the_end_of_a_kernel_is_written_once() -> None:
    k = Kernel("k")
    k.ret()
    assert str(k).count("ret;") == 1
    k = Kernel("k")
    k.ret(guard=k.tid.x < 3)
    assert str(k).count("ret;") == 2


def test_instructions_that_exclude_each_other_fail_at_the_second() -> None:
    k = Kernel("k")
    k.wgmma_fence()  # for sm_90a only
    k.tcgen05_wait_ld()  # for sm_100a and similar targets
    with pytest.raises(BuildError, match="not available on any target with the others") as caught:
        k.module()
    assert caught.value.location == marked_line("for sm_100a and similar targets")


def test_the_example_in_the_documentation_works(capsys: pytest.CaptureFixture[str]) -> None:
    documentation = documented.__doc__ or ""
    lines = [line for line in documentation.splitlines() if line.startswith("    ")]
    exec(textwrap.dedent("\n".join(lines)), {name: getattr(ptxkit.build, name) for name in ptxkit.build.__all__})
    assert "mul.f32" in capsys.readouterr().out


@pytest.mark.parametrize(
    "mistake",
    [
        lambda k: k.shared(f32, "4"),
        lambda k: k.shared(f32, 0),
        lambda k: k.shared(int, 4),
        lambda k: k.shared(pred, 4),
        lambda k: k.dynamic_shared("f32"),
        lambda k: k.shared(f32, 4, align=3),
        lambda k: k.shared(f32, 4, align="16"),
        lambda k: k.param(Global, "p"),
        lambda k: k.param(Global[int], "p"),
        lambda k: k.param(f32, 5),
        lambda k: k.pointer(f32, k.register(u64)),
        lambda k: k.register(u32) + "1",
        lambda k: k.register(u32) + True,
        lambda k: k.register(u32) << 2.5,
        lambda k: k.add(k.register(u32), None),
        lambda k: k.add(k.register(u32), [1, 2]),
        lambda k: k.emit("", 1),
        lambda k: k.emit("add.u32", k.register(u32)),
        lambda k: k.add(k.register(u32), 1, rnd="rn"),
        lambda k: k.add(k.register(u32), 1, nonsense=True),
        lambda k: k.bra("nowhere"),
        lambda _: Kernel("3k"),
        lambda _: Kernel("k", threads="many"),
        lambda _: Kernel("k", target=90),
    ],
)
def test_invalid_input_is_a_build_error_with_a_location(mistake: Callable[[Kernel], object]) -> None:
    with pytest.raises(BuildError) as caught:
        mistake(Kernel("k"))
    assert caught.value.location.file == __file__


def test_two_threads_that_write_one_kernel_have_separate_registers() -> None:
    k = Kernel("k", threads=32)
    out = k.param(Global[u32], "out")
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(2) as pool:
            made = [
                each.name for part in pool.map(lambda n: [k.tid.x + n for _ in range(300)], (1, 2)) for each in part
            ]
    finally:
        sys.setswitchinterval(before)
    assert len(set(made)) == 600
    out[k.tid.x].store(k.tid.x)
    assert k.verify().diagnostics == ()


def test_a_second_thread_appends_nothing_to_a_block_of_the_first() -> None:
    k = Kernel("k", threads=32)
    out = k.param(Global[u32], "out")
    with ThreadPoolExecutor(1) as pool:
        with k.if_(k.tid.x < 5), pytest.raises(BuildError, match="another thread is inside a block of this kernel"):
            pool.submit(out[0].store, 1).result()
        pool.submit(out[0].store, 1).result()
    assert k.verify().diagnostics == ()


def test_launch_bounds_are_directives(tmp_path: Path) -> None:
    k = Kernel("k", max_threads=256, min_ctas=2)
    assert ".maxntid 256\n.minnctapersm 2\n" in str(k)
    assert_ptxas_accepts(str(k), tmp_path)
    assert ".reqntid 64, 1, 1\n.minnctapersm 4" in str(Kernel("k", threads=64, min_ctas=4))


def test_launch_bounds_beyond_the_hardware_are_errors() -> None:
    for name, value in (("max_threads", 1025), ("max_threads", 0), ("min_ctas", 33), ("min_ctas", True)):
        with pytest.raises(BuildValueError, match=f"`{name}` is a number from 1 to"):
            Kernel("k", **{"max_threads": 32, name: value})
    with pytest.raises(BuildValueError, match="`threads` fixes the shape"):
        Kernel("k", threads=32, max_threads=64)
    with pytest.raises(BuildValueError, match="`min_ctas` needs `threads` or `max_threads`"):
        Kernel("k", min_ctas=2)
