"""Raw PTX in a built kernel: operands by name, errors at the caller's line, verified together with the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.build import BuildError, BuildTypeError, Global, Kernel, VerificationError, b64, f32, u32
from ptxkit.syntax import parse
from tests.build.support import assert_ptxas_accepts, marked_line


@pytest.fixture
def k() -> Kernel:
    return Kernel("k", threads=32)


def test_operands_replace_their_names(k: Kernel) -> None:
    data, tile = k.param(Global[f32], "data"), k.shared(f32, 8, name="tile")
    d = k.register(f32)
    k.asm("fma.rn.f32 {d}, {a}, {two}, {one};", d=d, a=data.load(), two=2.0, one=1)
    k.asm("st.shared.f32 [{to}], {d};", to=tile[3], d=d)
    text = str(k)
    assert "fma.rn.f32 %f0, %f1, 0f40000000, 1;" in text
    assert "st.shared.f32 [tile+12], %f0;" in text


def test_other_braces_are_those_of_ptx(k: Kernel, tmp_path: Path) -> None:
    tile, wide = k.shared(u32, 8, name="tile"), k.param(b64, "wide")
    k.asm(
        """{
            .reg .b32 low, high;
            mov.b64 {low, high}, {wide};
            st.shared.v2.b32 [{to}], {low, high};
        }""",
        wide=wide,
        to=tile,
    )
    text = str(k)
    assert "mov.b64 {low, high}, %rd0;" in text
    assert parse(text) == k.module()
    assert_ptxas_accepts(text, tmp_path)


def test_its_instructions_decide_the_target(k: Kernel) -> None:
    k.asm("{ fence.proxy.async; }")
    assert ".target sm_90" in str(k)


def test_a_branch_may_target_a_label_of_the_kernel(k: Kernel) -> None:
    end = k.label("end")
    k.asm("bra {end};", end=end)
    k.place(end)
    assert "bra $end_0;" in str(k)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("add.u32 {d}, {d} 1;", "line 1 of the text: expected"),
        ("\nadd.u32 {d}, {d}, 1", r"line 2 of the text: expected `;` .*, found its end"),
        ("{ add.u32 {d}, {d}, 1 }", r"line 1 of the text: expected `;` .*, found `}`"),
        ("foo.u32 {d}, 1;", "`foo` is not in the instruction table"),
        ("add.u32 {d}, {d}, 1; }", "closes nothing"),
        ("} .entry other() { add.u32 {d}, {d}, 1; ", "a brace that closes nothing"),
        ("ret;", r"the text has no \{d\}"),
    ],
)
def test_invalid_ptx_fails_at_the_callers_line(k: Kernel, text: str, message: str) -> None:
    d = k.register(u32)
    with pytest.raises(BuildError, match=message) as caught:
        k.asm(text, d=d)  # the raw text
    assert caught.value.location == marked_line("the raw text")
    assert "ret" in str(k)  # and nothing of it was appended
    assert "add.u32" not in str(k)


def test_an_operand_must_have_a_notation_in_ptx(k: Kernel) -> None:
    with pytest.raises(BuildTypeError, match=r"\{d\} is a register, an address, a label or a number, not list"):
        k.asm("trap {d};", d=[1])


def test_a_register_of_another_kernel_is_rejected(k: Kernel) -> None:
    with pytest.raises(BuildTypeError, match="belongs to another kernel"):
        k.asm("neg.s32 {d}, {d};", d=Kernel("other").register(u32))


def test_raw_ptx_is_verified_with_the_rest(k: Kernel) -> None:
    data, tile = k.param(Global[f32], "data", align=16), k.shared(f32, 128, align=16)
    k.asm("cp.async.cg.shared.global [{to}], [{source}], 16;", to=tile, source=data)  # a copy that no thread waits for
    data.store(tile.load())
    with pytest.raises(VerificationError) as caught:
        k.verify()
    assert caught.value.diagnostics[0].code == "PTX302"
    others = [where for blame in caught.value.blames for where, *_ in blame.others]
    assert marked_line("a copy that no thread waits for") in others


@pytest.mark.parametrize(("last", "version"), [("{few}", "7.5"), ("!{few}", "7.5"), ("{size}", "7.0"), ("4", "7.0")])
def test_predicates_select_between_forms_with_the_same_opcode(last: str, version: str) -> None:
    k = Kernel("k", threads=32)
    source, tile = k.param(Global[f32], "source", align=16), k.shared(f32, 4, align=16)
    operands = {"few": k.tid.x < 3} if "few" in last else {"size": k.tid.x & 15} if "size" in last else {}
    k.asm(f"cp.async.cg.shared.global [{{to}}], [{{of}}], 16, {last};", to=tile, of=source, **operands)
    assert f".version {version}\n" in str(k)
