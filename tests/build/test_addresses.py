"""Typed addresses: spaces, alignment, arithmetic, and no implicit conversions."""

from __future__ import annotations

import numpy
import pytest

from ptxkit.build import (
    BuildError,
    BuildTypeError,
    BuildValueError,
    Generic,
    Global,
    Kernel,
    Shared,
    f16,
    f32,
    s32,
    u8,
    u32,
    u64,
)
from tests.build.support import marked_line, opcodes


@pytest.fixture
def k() -> Kernel:
    return Kernel("k")


def test_a_constant_index_costs_nothing(k: Kernel) -> None:
    tile = k.shared(f32, 8, name="tile")
    tile[3].load()
    assert "ld.shared.f32 %f0, [tile+12];" in str(k)


def test_an_index_in_a_register_costs_the_arithmetic(k: Kernel) -> None:
    tile, data, i = k.shared(f32, 8, name="tile"), k.param(Global[f32], "data"), k.param(s32, "i")
    tile[i].load()
    data[i][1].load()
    data[i.convert(u64)].load()
    text = str(k)
    assert "mad.lo.s32 %r2, %r0, 4, %r1;\n\tld.shared.f32 %f0, [%r2];" in text
    assert "mad.wide.s32 %rd1, %r0, 4, %rd0;\n\tld.global.f32 %f1, [%rd1+4];" in text
    assert "mad.lo.u64" in text


def test_an_index_has_an_integer_type(k: Kernel) -> None:
    data, tile = k.param(Global[f32], "data"), k.shared(f32, 4)
    with pytest.raises(BuildTypeError, match="an index is a register of type u32, s32 or u64"):
        data[k.register(f32)]
    with pytest.raises(BuildTypeError, match="an index is a register of type u32 or s32"):
        tile[k.register(u64)]


def test_the_wrong_space_fails_at_the_callers_line(k: Kernel) -> None:
    source, other = k.param(Global[f32], "source", align=16), k.param(Global[f32], "other", align=16)
    with pytest.raises(BuildTypeError) as caught:
        k.cp_async_cg(other, source, 16)  # the wrong space
    assert caught.value.location == marked_line("the wrong space")
    assert "needs an address in .shared::cta, got [%rd1]: Global[f32]" in str(caught.value)


def test_the_right_space_is_accepted(k: Kernel) -> None:
    k.cp_async_cg(k.shared(f32, 4, align=16), k.param(Global[f32], "source", align=16), 16)
    assert "cp.async.cg.shared.global" in opcodes(k.module())


def test_a_register_is_not_an_address_until_it_is_converted(k: Kernel) -> None:
    r = k.register(u64)
    with pytest.raises(BuildTypeError, match=r"k.pointer\(...\) makes an address of one"):
        k.ld_global_u32(r)
    k.pointer(Global[u32], r).load()
    assert opcodes(k.module()) == ["ld.global.u32", "ret"]
    with pytest.raises(BuildTypeError, match=r"held by a \.u32 register"):
        k.pointer(Shared[u32], r)


def test_a_pointer_parameter_to_global_memory_needs_no_cvta(k: Kernel) -> None:
    k.param(Global[f32], "data", align=16).load()
    text = str(k)
    assert ".param .u64 .ptr .global .align 16 data" in text
    assert "cvta" not in text


def test_a_generic_parameter_is_loaded_through_generic_addresses(k: Kernel) -> None:
    k.param(Generic[f32], "data").load()
    text = str(k)
    assert ".param .u64 .ptr .align 4 data" in text
    assert "ld.f32 %f0, [%rd0];" in text


def test_a_conversion_is_in_the_text_when_it_was_requested(k: Kernel) -> None:
    tile = k.shared(f32, 4, name="tile")
    generic = tile.to_generic()
    generic.load()
    assert opcodes(k.module()) == ["mov.u32", "cvt.u64.u32", "cvta.shared.u64", "ld.f32", "ret"]


def test_every_space_converts_to_generic_memory_and_back() -> None:
    k = Kernel("there_and_back", threads=32)
    out, tile, own = k.param(Global[u32], "out"), k.shared(u32, 32), k.local(u32, 4)
    table = k.constant(u32, [1, 2, 3, 4])
    tile.to_generic().to_shared()[k.tid.x].store(7)
    own.to_generic().to_local()[1].store(9)
    total = tile[k.tid.x].load() + own[1].load() + table.to_generic().to_const()[2].load()
    out.to_generic().to_global()[k.tid.x].store(total)
    spaces = {each.split(".")[-2] for each in opcodes(k.module()) if each.startswith("cvta")}
    assert spaces == {"shared", "local", "const", "global"}
    assert k.verify().diagnostics == ()
    result = numpy.zeros(32, numpy.uint32)
    k.emulate(1)(result)
    assert (result == 19).all()


def test_generic_memory_is_rejected_where_a_space_is_required(k: Kernel) -> None:
    generic = k.param(Generic[f32], "data", align=16)
    with pytest.raises(BuildTypeError, match=r"convert it with cvta.to.global"):
        k.cp_async_cg(k.shared(f32, 4, align=16), generic, 16)


def test_the_known_alignment_must_suffice(k: Kernel) -> None:
    tile, source = k.shared(f32, 64, align=16), k.param(Global[f32], "source", align=16)
    i = k.param(u32, "i")
    k.cp_async_cg(tile[i * 4], source[4], 16)
    k.cp_async_ca(tile[i], source[1], 4)
    with pytest.raises(BuildTypeError) as caught:
        k.cp_async_cg(tile[i], source, 16)  # too little alignment
    assert caught.value.location == marked_line("too little alignment")
    assert "needs an address aligned to 16 bytes" in str(caught.value)
    k.cp_async_cg(tile[i].aligned(16), source, 16)


def test_vector_accesses_need_the_alignment_of_the_vector(k: Kernel) -> None:
    source = k.param(Global[f32], "source")
    with pytest.raises(BuildTypeError, match="aligned to 16 bytes"):
        k.ld_v4(source)
    k.ld_v2(source.aligned(8))


def test_an_address_is_reinterpreted_for_other_elements(k: Kernel) -> None:
    data = k.param(Global[f32], "data", align=16).cast(u8)
    data[3].load()
    assert "ld.global.u8 %rs0, [%rd0+3];" in str(k)


def test_shared_arrays_are_declared_with_their_alignment(k: Kernel) -> None:
    k.shared(f32, 100, align=128, name="tile")
    k.shared(u8, 3)
    text = str(k)
    assert ".shared .align 128 .f32 tile[100];" in text
    assert ".shared .align 1 .u8 shared_1[3];" in text


def test_static_shared_memory_ends_at_48_kilobytes(k: Kernel) -> None:
    k.shared(f32, 12 * 1024)
    with pytest.raises(BuildValueError, match="must be launch-sized"):
        k.shared(u8, 1)


def test_launch_sized_memory_has_one_base_and_the_largest_alignment(k: Kernel) -> None:
    k.dynamic_shared(f32, 100, align=16)[2].load()
    k.dynamic_shared(u64, align=128).load()
    text = str(k)
    assert text.count(".extern .shared") == 1
    assert ".extern .shared .align 128 .b8 dynamic_shared[];" in text
    assert "[dynamic_shared+8]" in text
    assert k.dynamic_bytes == 400


def test_names_are_not_reused(k: Kernel) -> None:
    k.shared(f32, 1, name="tile")
    with pytest.raises(BuildError, match="'tile' is taken"):
        k.param(u32, "tile")
    with pytest.raises(BuildValueError, match="PTX identifier"):
        k.shared(f32, 1, name="3rd")


def test_an_address_is_not_iterated_over(k: Kernel) -> None:
    with pytest.raises(BuildTypeError, match="an address has no length"):
        list(k.shared(f32, 4))  # type: ignore[call-overload]


def test_a_stored_value_has_the_type_of_the_elements(k: Kernel) -> None:
    data, n = k.param(Global[f32], "data"), k.param(u32, "n")
    for mistake in (lambda: data.store(n), lambda: k.st(data, n), lambda: k.atom_add(data, n)):  # type: ignore[arg-type]
        with pytest.raises(BuildTypeError, match=r"\.f32, got %r0: \.u32"):
            mistake()
    data.cast(u32).store(n)
    k.st(data, k.register(f32))
    assert opcodes(k.module())[-3:] == ["st.global.u32", "st.global.f32", "ret"]


def test_halves_are_moved_as_bits_and_keep_their_type(k: Kernel) -> None:
    data = k.param(Global[f16], "data")
    value = data.load()
    assert value.type is f16
    data[1].store(value)
    assert opcodes(k.module())[-3:] == ["ld.global.b16", "st.global.b16", "ret"]
