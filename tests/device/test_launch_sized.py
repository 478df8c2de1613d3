"""Launch-sized shared memory is where the largest alignment wants it, whichever module says so and in which order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptxkit import parse
from ptxkit.device import Cubin, compile, elf, launch_sized, link, load, to_device, use_device  # noqa: A004
from ptxkit.device.launcher import Loaded

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


def declared(name: str, alignment: int) -> str:
    return f".extern .shared .align {alignment} .b8 {name}[];\n"


def one_module(first: int, second: int) -> str:
    """A kernel that uses one array and stores where it is, with another declared beside it."""
    both = declared("first", first) + declared("second", second)
    body = ENTRY.replace("NAME", "first").replace("CALL", "mov.u32 %r3, second;\nst.global.u32 [%rd1+4], %r3;")
    return HEADING + both + body


def two_modules(mine: int, theirs: int) -> list[str]:
    """The same, with the other array in a function of another module."""
    caller = ".extern .func other(.param .b64 to);\n" + ENTRY.replace("NAME", "mine").replace("CALL", CALL)
    return [
        HEADING + declared("mine", mine) + caller,
        HEADING + declared("theirs", theirs) + OTHER.replace("NAME", "theirs"),
    ]


def test_the_largest_alignment_is_told() -> None:
    assert launch_sized.alignment(parse(one_module(4, 1024))) == 1024
    assert launch_sized.alignment(parse(HEADING + ".extern .shared .f64 a[];\n")) == 8
    assert launch_sized.alignment(parse(HEADING + ".shared .align 64 .b8 a[4];\n")) == 0


def test_only_what_is_aligned_less_is_changed() -> None:
    module = parse(one_module(4, 1024))
    assert str(launch_sized.aligned(module, 1024)).count(".align 1024") == 2
    even = parse(one_module(1024, 1024))
    assert launch_sized.aligned(even, 1024) is even
    assert launch_sized.aligned(parse(HEADING), 16).items == parse(HEADING).items


def end_of_fixed(cubin: Cubin) -> int:
    """Bytes of shared memory with which each CTA begins: sections are as large as where launch-sized memory begins."""
    sizes = [size for name, size in elf.sizes(cubin.code) if name == ".nv.shared.k"]
    return sizes[0]


@pytest.mark.parametrize("alignments", [(4, 1024), (1024, 4)])
def test_launch_sized_memory_begins_behind_what_is_fixed(alignments: tuple[int, int]) -> None:
    assert end_of_fixed(compile(one_module(*alignments), "sm_90", cache=False)) % 1024 == 0
    assert end_of_fixed(link(two_modules(*alignments), "sm_90", cache=False).cubin) % 1024 == 0


@pytest.mark.device
@pytest.mark.parametrize("alignments", [(4, 1024), (1024, 4)])
def test_every_array_begins_at_the_largest_alignment(alignments: tuple[int, int], tmp_path: Path) -> None:
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
