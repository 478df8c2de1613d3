"""Launch-sized shared memory has the largest alignment of all modules in any order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ptxkit import parse
from ptxkit.device import (
    DeviceError,
    compile,  # noqa: A004
    compiler,
    cubin_reader,
    dynamic_shared_placement,
    link,
    linker,
    load,
    nvjitlink,
    to_device,
    use_device,
)
from ptxkit.device.loaded_kernel import Loaded
from ptxkit.device.nvjitlink import NvJitLinkInput
from ptxkit.fast_dataclasses import replace

HEADING = ".version 8.0\n.target sm_90\n.address_size 64\n"
ENTRY = """.visible .entry k(.param .u64 .ptr .global .align 4 out)
{
    .shared .align 4 .b8 fixed[12];
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, NAME;
    mov.u32 %r2, fixed;
    st.shared.u32 [%r2], %r1;
    st.global.u32 [%rd1], %r1;
    CALL
    ret;
}
"""
CALL = "{ .param .b64 to; st.param.b64 [to], %rd1; call.uni other, (to); }"
OTHER = """.visible .func other(.param .b64 to)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    mov.u32 %r1, NAME;
    st.u32 [%rd1+4], %r1;
    ret;
}
"""


def declare_variable(name: str, alignment: int) -> str:
    return f".extern .shared .align {alignment} .b8 {name}[];\n"


def one_module(first: int, second: int) -> str:
    """A kernel that uses one array and stores its address, with another declared after it."""
    both = declare_variable("first", first) + declare_variable("second", second)
    body = ENTRY.replace("NAME", "first").replace("CALL", "mov.u32 %r3, second;\nst.global.u32 [%rd1+4], %r3;")
    return HEADING + both + body


def two_modules(mine: int, theirs: int) -> list[str]:
    """The same, with the other array in a function of another module."""
    caller = ".extern .func other(.param .b64 to);\n" + ENTRY.replace("NAME", "mine").replace("CALL", CALL)
    return [
        HEADING + declare_variable("mine", mine) + caller,
        HEADING + declare_variable("theirs", theirs) + OTHER.replace("NAME", "theirs"),
    ]


def test_the_largest_alignment_is_reported() -> None:
    assert dynamic_shared_placement.required_alignment(parse(one_module(4, 1024))) == 1024
    assert dynamic_shared_placement.required_alignment(parse(HEADING + ".extern .shared .f64 a[];\n")) == 8
    assert dynamic_shared_placement.required_alignment(parse(HEADING + ".shared .align 64 .b8 a[4];\n")) == 0


def test_only_a_smaller_alignment_is_changed() -> None:
    module = parse(one_module(4, 1024))
    assert str(dynamic_shared_placement.align_declarations(module, 1024)).count(".align 1024") == 2
    even = parse(one_module(1024, 1024))
    assert dynamic_shared_placement.align_declarations(even, 1024) is even
    assert dynamic_shared_placement.align_declarations(parse(HEADING), 16).items == parse(HEADING).items


def end_of_fixed(code: bytes) -> int:
    """Returns where launch-sized shared memory begins in each CTA: at the end of the section of fixed size."""
    return dict(cubin_reader.section_sizes(code))[".nv.shared.k"]


@pytest.mark.parametrize("alignments", [(4, 1024), (1024, 4)])
def test_launch_sized_memory_begins_after_the_fixed_section(alignments: tuple[int, int]) -> None:
    assert end_of_fixed(compile(one_module(*alignments), "sm_90", cache=False).code) % 1024 == 0
    assert end_of_fixed(link(two_modules(*alignments), "sm_90", cache=False).cubin.code) % 1024 == 0


def as_release_13_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes nvJitLink see alignments of 16 only, as that release does."""

    def link_pieces(pieces: Sequence[NvJitLinkInput], options: Sequence[str]) -> tuple[bytes, str]:
        blind = [replace(each, data=each.data.replace(b".align 1024", b".align 16")) for each in pieces]
        return nvjitlink.link_cubin(blind, options)

    monkeypatch.setattr(compiler, "link_cubin", link_pieces)
    monkeypatch.setattr(linker, "link_cubin", link_pieces)


def test_memory_that_nvjitlink_misplaces_is_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = [nvjitlink.NvJitLinkInput("k", "PTX", one_module(16, 16).encode() + b"\0")]
    assert end_of_fixed(nvjitlink.link_cubin(raw, ["-arch=sm_90"])[0]) % 1024 == 16
    as_release_13_0(monkeypatch)
    assert end_of_fixed(compile(one_module(1024, 1024), "sm_90", cache=False).code) % 1024 == 0
    assert end_of_fixed(link(two_modules(1024, 1024), "sm_90", cache=False).cubin.code) % 1024 == 0


def test_memory_that_cannot_be_moved_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    as_release_13_0(monkeypatch)
    single = one_module(1024, 1024).replace(".shared .align 4 .b8 fixed[12]", ".shared .align 4 .b32 fixed")
    useless = one_module(1024, 1024).replace("    .shared", "    .shared .b8 useless[4];\n    .shared", 1)
    with pytest.raises(DeviceError, match="misplaces the launch-sized shared memory of kernel 'k'"):
        compile(single, "sm_90", cache=False)
    compile(useless, "sm_90", cache=False)


@pytest.mark.device
@pytest.mark.parametrize("alignments", [(4, 1024), (1024, 4)])
def test_every_array_begins_at_the_largest_alignment(alignments: tuple[int, int]) -> None:
    stream = use_device().create_stream()
    found: list[Loaded] = [
        load(compile(one_module(*alignments), cache=False)),
        link(two_modules(*alignments), cache=False)["k"].load(),
    ]
    for kernel in found:
        out = to_device(np.zeros(2, np.uint32))
        kernel.launch(stream, out, grid=1, block=1, shared=64)
        stream.sync()
        first, second = out.to_host()
        assert first == second
        assert first % 1024 == 0
