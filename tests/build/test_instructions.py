"""Layer 1: from a method's name and typed values to one instruction."""

from __future__ import annotations

import pytest

from ptxkit.build import (
    BuildAttributeError,
    BuildError,
    BuildTypeError,
    Generic,
    Global,
    Kernel,
    Register,
    SharedCluster,
    b32,
    b64,
    f16,
    f32,
    pred,
    s32,
    u32,
    u64,
)
from ptxkit.build.instructions import INTERNAL_NAMES
from ptxkit.build.method_names import find_readings, to_name_part
from ptxkit.syntax.tree import Guard, Integer, Name, Unary
from tests.build.support import instructions, marked_line, opcodes


@pytest.fixture
def k() -> Kernel:
    return Kernel("k")


def last(k: Kernel) -> str:
    """Returns the newest instruction as text."""
    text = str(k.module()).splitlines()
    assert text[-2] == "\tret;"
    return text[-3].strip()


def test_the_type_follows_from_typed_operands(k: Kernel) -> None:
    k.add(k.register(u32), k.register(u32))
    assert last(k) == "add.u32 %r2, %r0, %r1;"
    k.add(k.register(f32), k.register(f32))
    assert last(k) == "add.f32 %f2, %f0, %f1;"


def test_untyped_forms_accept_values_of_their_width(k: Kernel) -> None:
    k.popc(k.register(u32))
    assert last(k) == "popc.b32 %r1, %r0;"


def test_the_result_of_a_wide_product_is_wide(k: Kernel) -> None:
    product = k.mul_wide(k.register(s32), k.register(s32))
    assert last(k) == "mul.wide.s32 %rd0, %r0, %r1;"
    assert (product.type.word, product.name) == ("s64", "%rd0")


def test_the_state_space_follows_from_the_address(k: Kernel) -> None:
    value = k.ld(k.param(Global[f32], "p"))
    assert last(k) == "ld.global.f32 %f0, [%rd0];"
    assert value.type is f32
    k.ld_acquire_gpu(k.shared(u32, 4, name="a"))
    assert last(k) == "ld.acquire.gpu.shared.u32 %r0, [a];"


def test_vectors_are_tuples(k: Kernel) -> None:
    address = k.param(Global[f32], "p", align=16)
    values = k.ld_v4(address)
    assert [value.name for value in values] == ["%f0", "%f1", "%f2", "%f3"]
    k.st_v4(address, values)
    assert last(k) == "st.global.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};"


def test_pairs_of_results_are_returned_together(k: Kernel) -> None:
    lane, elected = k.elect_sync(0xFFFFFFFF)
    assert last(k) == "elect.sync %r0|%p0, 4294967295;"
    assert (lane.name, elected.name) == ("%r0", "%p0")


def test_fixed_modifiers_may_be_omitted(k: Kernel) -> None:
    source, target = k.param(Global[f32], "p", align=16), k.shared(f32, 4, align=16, name="t")
    k.cp_async_cg(target, source, 16)
    assert last(k) == "cp.async.cg.shared.global [t], [%rd0], 16;"


def test_an_optional_modifier_is_given_by_its_word_or_its_position(k: Kernel) -> None:
    k.add_rz(k.register(f32), 1.0)
    assert last(k).startswith("add.rz.f32")
    k.add(k.register(f32), 1.0, rnd="rm")
    assert last(k).startswith("add.rm.f32")
    k.add(k.register(f32), 1.0, ftz=True)
    assert last(k).startswith("add.ftz.f32")


def test_the_form_with_the_lowest_target_is_selected(k: Kernel) -> None:
    bar = k.mbarrier("bar")
    source, target = k.param(Global[f32], "p", align=16), k.shared(f32, 4, align=16, name="t")
    k.cp_async_bulk(target, source, 16, bar)
    assert "cp.async.bulk.shared::cluster.global" in last(k)  # `.shared::cta` needs PTX 8.6
    bar.init(1)
    assert last(k) == "mbarrier.init.shared.b64 [bar], 1;"


def test_a_result_may_be_assigned_to_a_given_register(k: Kernel) -> None:
    total = k.variable(u32, 0)
    k.add(total, 5, into=total)
    assert last(k) == "add.u32 %r0, %r0, 5;"


def test_a_result_is_not_assigned_to_a_register_of_another_type(k: Kernel) -> None:
    with pytest.raises(BuildTypeError, match=r"returns \.u32, and %f0: \.f32 has another type"):
        k.add(k.register(u32), 5, into=k.register(f32))


def test_guards_are_written_and_negated(k: Kernel) -> None:
    p = k.register(u32) < 4
    k.trap(guard=p)
    k.trap(unless=p)
    trap, not_trap = [each for each in instructions(k.module()) if each.opcode == "trap"]
    assert trap.guard == Guard("%p0")
    assert not_trap.guard == Guard("%p0", negated=True)


def test_a_guard_is_a_predicate(k: Kernel) -> None:
    with pytest.raises(BuildTypeError, match="a guard is a predicate register"):
        k.trap(guard=k.register(u32))  # type: ignore[arg-type]


def test_the_words_of_a_name_may_be_in_any_order(k: Kernel) -> None:
    data = k.param(Global[u32], "data")
    k.ld_relaxed_gpu_global_u32(data)
    first = last(k).split()[0]
    k.ld_global_u32_gpu_relaxed(data)
    assert last(k).split()[0] == first == "ld.relaxed.gpu.global.u32"


def test_names_that_are_python_words_end_in_an_underscore(k: Kernel) -> None:
    k.and_(k.register(u32), k.register(u32))
    assert last(k) == "and.b32 %r2, %r0, %r1;"


def test_negative_constants_are_written_as_the_parser_reads_them(k: Kernel) -> None:
    k.add(k.register(s32), -3)
    add = next(each for each in instructions(k.module()) if each.opcode == "add.s32")
    assert add.operands[2] == Unary("-", Integer(3, "3"))


def test_constants_must_be_in_range_of_their_type(k: Kernel) -> None:
    k.add(k.register(u32), 0xFFFFFFFF)
    with pytest.raises(BuildTypeError, match=r"4294967296 does not fit in \.u32"):
        k.add(k.register(u32), 1 << 32)
    with pytest.raises(BuildTypeError, match=r"-1 does not fit in \.u32"):
        k.add(k.register(u32), -1)
    k.add(k.register(s32), -1)


def test_constants_must_be_in_range_of_the_form(k: Kernel) -> None:
    k.setmaxnreg_inc(64)
    with pytest.raises(BuildTypeError, match="needs a constant from 24 to 256 in steps of 8, got 63"):
        k.setmaxnreg_inc(63)
    with pytest.raises(BuildTypeError, match="needs a constant from 24 to 256 in steps of 8, got 264"):
        k.setmaxnreg_inc(264)


def test_mixed_types_fail_at_the_callers_line(k: Kernel) -> None:
    a, b = k.register(u32), k.register(f32)
    with pytest.raises(BuildTypeError) as caught:
        k.add(a, b)  # mixed types in a method
    assert caught.value.location == marked_line("mixed types in a method")
    assert "needs .u32, got %f0: .f32" in str(caught.value)
    assert "k.add(a, b)" in str(caught.value)


def test_an_unknown_name_fails_at_the_callers_line_with_the_nearest(k: Kernel) -> None:
    with pytest.raises(BuildAttributeError) as caught:
        k.mbarier_init(1)  # unknown name
    assert caught.value.location == marked_line("unknown name")
    assert "did you mean 'mbarrier'" in str(caught.value)
    with pytest.raises(BuildAttributeError, match="did you mean 'wait_group'"):
        k.cp_async_wait_grup(0)


def test_an_incomplete_name_shows_its_continuations(k: Kernel) -> None:
    with pytest.raises(BuildError) as caught:
        k.mul(k.register(u32), k.register(u32))
    for name in ("mul_hi", "mul_lo", "mul_wide"):
        assert f" {name}" in str(caught.value)


def test_an_unknown_type_is_requested(k: Kernel) -> None:
    with pytest.raises(BuildTypeError, match="do not determine its type; write it in the name"):
        k.mov(5)
    assert k.mov_u32(5).type is u32


def test_the_wrong_number_of_operands_names_the_parameters(k: Kernel) -> None:
    with pytest.raises(BuildTypeError, match=r"takes 3 operands \(a, b, c\), got 2"):
        k.mad_lo(k.register(u32), k.register(u32))


def test_a_method_documents_itself_from_the_table(k: Kernel) -> None:
    assert "    d: an address in .shared or .shared::cta\n    s: an address in .global\n" in k.cp_async_cg.__doc__
    assert "    n: the constant 16\n" in k.cp_async_cg.__doc__
    assert "PTX ISA, 'Data Movement and Conversion Instructions: cp.async'" in k.cp_async_cg.__doc__
    assert "\nNeeds PTX 7.0 and sm_80; " in k.cp_async_cg.__doc__


def test_an_error_lists_the_operands_in_words(k: Kernel) -> None:
    with pytest.raises(BuildTypeError, match=r"operands: d: .* in \.shared::cta; s: .*; n: the constant 16") as caught:
        k.cp_async_cg(k.shared(f32, 4, align=16), k.param(Global[f32], "data", align=16), 17)
    assert "`n` needs the constant 16, got 17" in str(caught.value)


def test_dir_shows_public_names(k: Kernel) -> None:
    names = dir(k)
    assert {"param", "load", "printf", "threads", "mbarrier_init", "cp_async_cg", "add"} <= {*names}
    assert not {"recorder", "append", "register_callee"} & {*names}
    assert not any(name.startswith("_") for name in names)
    assert all(hasattr(k, name) for name in INTERNAL_NAMES)


def test_the_raw_layer_accepts_the_whole_opcode_and_every_operand(k: Kernel) -> None:
    d, a = k.register(u32), k.register(u32)
    k.emit("add.u32", d, a, 7)
    assert last(k) == "add.u32 %r0, %r1, 7;"
    clock = k.register(u64)
    k.emit("mov.u64", clock, Name("%clock64"))
    assert last(k) == "mov.u64 %rd0, %clock64;"


def test_the_raw_layer_is_matched_by_the_table_too(k: Kernel) -> None:
    with pytest.raises(BuildError) as caught:
        k.emit("add.q32", k.register(u32), 1, 2)  # raw modifiers
    assert caught.value.location == marked_line("raw modifiers")
    with pytest.raises(BuildTypeError, match=r"needs \.u32, got %f0"):
        k.emit("add.u32", k.register(u32), k.register(f32), 1)


def test_values_of_another_kernel_are_rejected(k: Kernel) -> None:
    other: Register[u32] = Kernel("other").register(u32)
    with pytest.raises(BuildTypeError, match="belongs to another kernel"):
        k.register(u32) + other
    with pytest.raises(BuildTypeError, match="belongs to another kernel"):
        k.add(k.register(u32), other)


def test_an_attribute_that_hides_an_instruction_leaves_it_a_longer_name(k: Kernel) -> None:
    own = [name for name in dir(Kernel) + list(vars(k)) if not name.startswith("_")]
    hidden = {name: {each.form for each in readings} for name in own if (readings := find_readings(name))}
    assert {"sqrt", "fma"} <= hidden.keys()
    for name, forms in hidden.items():
        words = {to_name_part(value) for form in forms for slot in form.modifiers for value in slot.values}
        longer = {each.form for word in words for each in find_readings(f"{name}_{word}")}
        assert forms <= longer, name


def test_completion_offers_instructions(k: Kernel) -> None:
    assert {"cp_async_cg", "fence_proxy_async", "param", "if_"} & set(dir(k)) >= {"param", "if_"}
    assert "mbarrier_init" in dir(k)


def test_an_untyped_result_has_the_type_of_its_operands(k: Kernel) -> None:
    assert k.shfl_sync_bfly(k.register(f32), 1, 31, -1).type is f32
    assert k.atom_cas(k.param(Global[u32], "p"), k.register(u32), 0).type is u32
    assert k.mov_b32(k.register(f32)).type is b32  # the name is in the source
    assert k.shfl_sync_idx(k.register(f32), k.laneid, 31, -1).type is f32  # of the first operand
    assert k.match_any_sync(k.register(f32), -1).type is b32  # a mask


def test_words_that_all_forms_share_may_be_omitted(k: Kernel) -> None:
    k.wgmma_fence()
    assert last(k) == "wgmma.fence.sync.aligned;"
    with pytest.raises(BuildAttributeError, match="one of bulk, ca, cg"):
        k.cp_async(0)


def test_a_second_operand_of_an_address_follows_it(k: Kernel) -> None:
    tile, bar = k.shared(f32, 64, align=128, name="tile"), k.mbarrier("bar")
    tensor = k.param(Generic[b64], "map", align=64)
    k.cp_async_bulk_tensor_2d(tile, (tensor, (k.register(s32), 3)), bar)
    assert last(k).endswith("[tile], [%rd0, {%r0, 3}], [bar];")


def test_a_missing_result_is_the_sink(k: Kernel) -> None:
    remote = k.pointer(SharedCluster[b64], k.register(u32))
    assert k.mbarrier_arrive(remote) is None
    assert last(k) == "mbarrier.arrive.shared::cluster.b64 _, [%r0];"
    assert k.mbarrier_arrive(k.mbarrier("bar")).type.word == "b64"


def test_exchanges_ignore_signs_and_accept_any_type_of_the_width(k: Kernel) -> None:
    old = k.atom_exch(k.param(Global[u32], "p"), k.register(u32))
    assert last(k) == "atom.global.exch.b32 %r1, [%rd0], %r0;"
    assert old.type is u32


def test_the_raw_layer_accepts_pairs_vectors_and_sinks(k: Kernel) -> None:
    k.emit("elect.sync", (k.register(b32), k.register(pred)), -1)
    assert last(k) == "elect.sync %r0|%p0, -1;"
    k.emit("mov.b64", (k.register(b32), k.register(b32)), k.register(b64))
    assert last(k) == "mov.b64 {%r1, %r2}, %rd0;"
    remote = k.pointer(SharedCluster[b64], k.register(u32))
    k.emit("mbarrier.arrive.shared::cluster.b64", Name("_"), remote)
    assert last(k) == "mbarrier.arrive.shared::cluster.b64 _, [%r3];"


def test_an_omitted_word_is_not_selected_for_an_older_target() -> None:
    k = Kernel("k")
    k.mbarrier_arrive(k.mbarrier("bar"), 2)
    assert "mbarrier.arrive.shared.b64 %rd0, [bar], 2;" in str(k)


def test_words_that_only_assemblers_let_users_omit_are_written() -> None:
    k = Kernel("k")
    k.wgmma_fence()
    assert "wgmma.fence.sync.aligned;" in str(k)


def test_a_selection_is_reused_only_for_equal_kinds_of_operands() -> None:
    k = Kernel("k", threads=32)
    source = k.param(Global[f32], "source", align=16)
    tile, odd = k.shared(f32, 64, align=16), k.shared(f32, 64, align=4)
    for _ in range(2):
        k.cp_async_cg(tile, source, 16)
        with pytest.raises(BuildTypeError, match="aligned to 16 bytes"):
            k.cp_async_cg(odd, source, 16)
        with pytest.raises(BuildTypeError, match=r"needs a constant|one of|got 5"):
            k.cp_async_ca(tile, source, 5)
        assert k.add(k.tid.x, 1).type.word == "u32"
        assert k.add(tile.load(), 1).type.word == "f32"
    assert [each for each in opcodes(k.module()) if each.startswith("add")] == ["add.u32", "add.f32"] * 2


def test_equal_constants_of_different_types_are_written_separately() -> None:
    k = Kernel("k", threads=32)
    for value in (0.0, -0.0, 0.0):
        k.mov_f32(value)
    assert [line.split()[-1] for line in str(k).splitlines() if "mov.f32" in line] == [
        "0f00000000;",
        "0f80000000;",
        "0f00000000;",
    ]


def test_an_error_about_a_state_space_names_the_space_that_is_meant(k: Kernel) -> None:
    with pytest.raises(BuildTypeError, match=r"`bar` needs an address in \.shared"):
        k.mbarrier_init(k.param(Global[f32], "data", align=16), 1)  # type: ignore[arg-type]


def test_a_conversion_that_loses_bits_states_its_rounding(k: Kernel) -> None:
    single = k.register(f32)
    with pytest.raises(BuildTypeError, match=r'state how, \.convert\(f16, "rn"\), by one of rn, rz') as caught:
        single.convert(f16)
    assert caught.value.location.text.strip() == "single.convert(f16)"
    with pytest.raises(BuildTypeError, match=r'\.convert\(s32, "rni"\), by one of rni, rzi'):
        single.convert(s32)
    assert single.convert(f16, "rn").convert(f32).type is f32
