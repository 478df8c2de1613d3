"""Arguments of the wrong kind: an error of the builder at the caller's line, which names the argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from ptxkit.build import BuildTypeError, BuildValueError, Global, Kernel, f32, pred, u32


@pytest.fixture
def k() -> Kernel:
    return Kernel("k", threads=128, target="sm_90a")


def enter(manager: Any) -> None:
    with manager:
        pass


WRONG: list[tuple[str, Callable[[Kernel], object], str]] = [
    (
        "a method that was not called",
        lambda k: k.memcpy_async(k.shared(f32, 4, align=16), k.param(Global[f32], "g", align=16), 16, group=k.this_cta),
        "`group` is Group, not the method this_cta; call it: `.this_cta\\(\\)`",
    ),
    ("a number for a type", lambda k: k.tid.x.convert(32), r"`scalar` is type\[.*\], not 32"),
    (
        "a context with wrong arguments",
        lambda k: enter(k.these_warps(3.5)),
        "`warps` is .*, not 3.5",
    ),
    ("text for a number of elements", lambda k: k.accumulator(64).row("a"), "`index` is int, not 'a'"),
    ("an object for an index", lambda k: k.matrix(k.shared(f32, 512, align=1024)).moved(k), "is .*, not a Kernel"),
]


@pytest.mark.parametrize(("build", "message"), [each[1:] for each in WRONG], ids=[each[0] for each in WRONG])
def test_the_argument_is_named_at_the_callers_line(k: Kernel, build: Callable[[Kernel], object], message: str) -> None:
    with pytest.raises(BuildTypeError, match=message) as raised:
        build(k)
    assert raised.value.location.file == __file__
    assert raised.value.__cause__ is not None, "the inner error is reported, too"


def test_a_token_instead_of_a_parity_is_reported(k: Kernel) -> None:
    bar = k.mbarrier("bar")
    token = bar.arrive()
    with pytest.raises(BuildTypeError, match="is not a parity; pass the result of an arrival as token="):
        bar.wait(token)  # type: ignore[arg-type]
    bar.wait(token=token)


def test_an_error_inside_a_block_is_unchanged(k: Kernel) -> None:
    with pytest.raises(ZeroDivisionError), k.if_(k.tid.x < 3):
        _ = 1 // 0
    with pytest.raises(AttributeError, match="upper") as raised, k.if_(k.tid.x < 3):
        _ = (3).upper()  # type: ignore[attr-defined]
    assert not isinstance(raised.value, BuildTypeError)


def test_operators_reject_wrong_operands(k: Kernel) -> None:
    with pytest.raises(BuildTypeError, match="is a number of elements, not Kernel"):
        k.shared(f32, 4) - k  # type: ignore[operator]
    with pytest.raises(BuildTypeError, match="integers or tuples of integers"):
        k[1:2]


def test_python_reports_a_call_with_too_few_arguments(k: Kernel) -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument") as raised:
        k.branch()  # type: ignore[call-arg]
    assert not isinstance(raised.value, BuildTypeError)


def test_right_arguments_are_unchanged_and_signatures_remain(k: Kernel) -> None:
    assert list(inspect.signature(Kernel.memcpy_async).parameters)[:4] == ["k", "destination", "source", "size"]
    with k.if_(k.tid.x < 3):
        k.mov_u32(1)
    p = k.register(pred)
    assert p.type is pred
    assert [type(each) for each in k.unroll(2)] == [int, int]
    assert k.register(u32).type is u32


def test_a_special_register_must_exist(k: Kernel) -> None:
    with pytest.raises(BuildValueError, match="no special register of 32 bits is called '%smi'; did you mean '%smid'"):
        k.special("%smi")
    with pytest.raises(BuildValueError, match=r"called '%tid'; use %tid\.x"):
        k.special("%tid")
    with pytest.raises(BuildValueError, match="'%clock64'; it has 64 bits"):
        k.special("%clock64")
    with pytest.raises(BuildValueError, match="called 'smid'; did you mean '%smid'"):
        k.special("smid")
    old = Kernel("old", threads=32)
    assert old.special("%lanemask_lt").type is u32
    assert "sm_75" in str(old)
    assert old.special("%tid.y").name == old.tid.y.name
    old.special("%cluster_ctaid.x")
    assert "sm_90" in str(old), "what a register needs, its kernel needs"
