"""The template of small kernels that each contain some forms of the table (`form_kernels.py`).

A launch has two CTAs of two warps, or one cluster of these. A thread has eight words of input, a line of scratch memory
that no other thread accesses, and sixteen words of output, which are in registers until the end:

    %r1 ... %r8    its input; %d4, %d5, %d6, %d7 are pairs of these; none is the bits of a NaN or of a subnormal number
    %r11           its number in the CTA; %r12 that of the CTA
    %r13, %d13     its 32 bytes of `tile` in shared memory, by the shared and the generic address
    %d3            its 128 bytes of scratch memory, which hold the input four times
    %r20 ... %r35  its output, initially zero
    %r9, %r10, %r14 ... %r19, %d8 ... %d12, %p0 ... %p7, %h0 ... %h15, %f0 ... %f7, %q0, %q1     free
"""

from __future__ import annotations

import numpy

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.emulator import TensorMapArgument
from ptxkit.fast_dataclasses import dataclass
from ptxkit.tensormap_limits import MAP_BYTES

THREADS, CTAS = 64, 2

_HEAD = """.version {version}
.target sm_90a
.address_size 64
{before}
.visible .entry {name}(.param .u64 source, .param .u64 scratch, .param .u64 target{more})
.reqntid 64, 1, 1{cluster}
{{
 .reg .b64 %d<32>; .reg .b32 %r<48>; .reg .b16 %h<16>; .reg .f32 %f<8>; .reg .pred %p<8>; .reg .b128 %q<4>;
 .shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 bars[8];
 ld.param.u64 %d0, [source]; ld.param.u64 %d3, [scratch]; ld.param.u64 %d1, [target];
 mov.u32 %r11, %tid.x; mov.u32 %r12, %ctaid.x; mad.lo.u32 %r14, %r12, 64, %r11;
 mul.wide.u32 %d2, %r14, 32; add.u64 %d0, %d0, %d2; mul.wide.u32 %d2, %r14, 128; add.u64 %d3, %d3, %d2;
 mul.wide.u32 %d2, %r14, 64; add.u64 %d1, %d1, %d2;
 ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%d0]; ld.global.v4.u32 {{%r5, %r6, %r7, %r8}}, [%d0+16];
 mov.b64 %d4, {{%r1, %r2}}; mov.b64 %d5, {{%r3, %r4}}; mov.b64 %d6, {{%r5, %r6}}; mov.b64 %d7, {{%r7, %r8}};
 mov.u32 %r13, tile; shl.b32 %r14, %r11, 5; add.u32 %r13, %r13, %r14;
 cvt.u64.u32 %d13, %r13; cvta.shared.u64 %d13, %d13;
"""
_TAIL = """
 st.global.v4.u32 [%d1], {%r20, %r21, %r22, %r23}; st.global.v4.u32 [%d1+16], {%r24, %r25, %r26, %r27};
 st.global.v4.u32 [%d1+32], {%r28, %r29, %r30, %r31}; st.global.v4.u32 [%d1+48], {%r32, %r33, %r34, %r35};
 ret;
}
"""


@dataclass(frozen=True, slots=True)
class FormKernel:
    """A small kernel. name: of the kernel. body: the statements between the template's parts. version: of PTX. before:
    the declarations before the entry.

    cluster: whether its two CTAs form a cluster. mapped: whether it has two more parameters: `map`, a tensor map of
    `source` with boxes of four by four words, and `maps`, global memory for a map of each CTA.
    """

    name: str
    body: str
    version: str = "8.7"
    preamble: str = ""
    cluster: bool = False
    has_tensor_map: bool = False

    def module(self) -> str:
        cluster = "\n.reqnctapercluster 2, 1, 1" if self.cluster else ""
        more = ", .param .align 128 .b8 map[128], .param .u64 maps" if self.has_tensor_map else ""
        words = {"version": self.version, "before": self.preamble, "name": self.name, "cluster": cluster, "more": more}
        head = _HEAD.format(**words)
        zeros = " ".join(f"mov.u32 %r{at}, 0;" for at in range(20, 36))
        return f"{head} {zeros}\n{self.body}{_TAIL}"

    def launch(self, seed: int) -> DeviceLaunch:
        """Returns a launch with random input."""
        chance = numpy.random.default_rng(seed)
        words = chance.integers(0, 1 << 32, (CTAS * THREADS, 8), numpy.uint32)
        words = (words & 0xBFBF_BFBF) | 0x2020_2020  # as f32, f16 and bf16: normal numbers
        scratch = numpy.tile(words, (1, 4))
        arguments = (words, scratch, numpy.zeros((CTAS * THREADS, 16), numpy.uint32))
        maps = (
            (TensorMapArgument.tiled(words, box=(4, 4)), numpy.zeros(CTAS * MAP_BYTES, numpy.uint8))
            if self.has_tensor_map
            else ()
        )
        return DeviceLaunch(self.name, CTAS, None, (*arguments, *maps))
