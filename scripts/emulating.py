"""What the reference machine costs: thread-instructions a second on kernels made here."""

from __future__ import annotations

from measuring import REPEATS, fastest

THREADS = 256
_TURNS = 400

_HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 data, .param .u32 turns)
{
 .reg .pred %p<8>; .reg .b32 %r<40>; .reg .b64 %d<20>; .reg .f32 %f<20>;
 .shared .align 16 .b8 tile[4096];
 ld.param.u64 %d0, [data]; ld.param.u32 %r0, [turns];
 mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.s64 %d2, %d0, %d1;
 ld.global.u32 %r2, [%d2]; cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f3F800000; mov.u32 %r3, 0;
 mov.u32 %r20, tile; shl.b32 %r21, %r1, 2; add.s32 %r22, %r20, %r21;
LOOP:
"""
_TAIL = """
 add.s32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r0; @%p1 bra LOOP;
 st.global.u32 [%d2], %r2;
 ret;
}
"""

_INTEGERS = """
 add.s32 %r4, %r2, %r3; xor.b32 %r5, %r4, %r1; shl.b32 %r6, %r5, 3; mad.lo.s32 %r7, %r6, %r4, %r5;
 and.b32 %r8, %r7, 65535; sub.s32 %r9, %r7, %r8; min.s32 %r10, %r9, %r4; shr.u32 %r11, %r10, 5;
 setp.gt.u32 %p2, %r11, %r4; selp.b32 %r12, %r11, %r9, %p2; or.b32 %r13, %r12, 1; mul.lo.s32 %r2, %r13, %r7;
 add.s32 %r4, %r2, %r3; xor.b32 %r5, %r4, %r1; shl.b32 %r6, %r5, 3; mad.lo.s32 %r7, %r6, %r4, %r5;
"""
_FLOATS = """
 fma.rn.f32 %f3, %f1, %f2, %f1; mul.rn.f32 %f4, %f3, %f2; add.rn.f32 %f5, %f4, %f1; sub.rn.f32 %f6, %f5, %f3;
 fma.rn.f32 %f3, %f6, %f2, %f1; mul.rn.f32 %f4, %f3, %f2; add.rn.f32 %f5, %f4, %f1; sub.rn.f32 %f6, %f5, %f3;
"""
_MEMORY = """
 st.shared.u32 [%r22], %r2; bar.sync 0; ld.shared.u32 %r4, [%r22]; bar.sync 0; ld.global.u32 %r5, [%d2];
 add.s32 %r2, %r4, %r5;
"""
_DIVERGENT = """
 and.b32 %r4, %r1, 1; setp.eq.u32 %p2, %r4, 0; @%p2 bra EVEN;
 add.s32 %r5, %r2, 3; xor.b32 %r2, %r5, %r3; bra MET;
EVEN:
 add.s32 %r5, %r2, 5; xor.b32 %r2, %r5, %r3;
MET:
"""
_KERNELS = {
    "integers": _INTEGERS,
    "floats": _FLOATS,
    "loads, stores and barriers": _MEMORY,
    "every second lane apart": _DIVERGENT,
}


def bench_emulate() -> int:
    """Print thread-instructions a second of one CTA of 256 threads, races watched and not."""
    import numpy

    from ptxkit.emulate import run

    data = numpy.arange(THREADS, dtype=numpy.uint32)
    print(f"Million thread-instructions a second of processor time, a CTA of {THREADS} threads, best of {REPEATS}.")
    print(f"{'kernel':28} {'plain':>8} {'races watched':>14}")
    for name, body in _KERNELS.items():
        text = _HEAD + body + _TAIL
        counts: list[int] = []

        def once(races: bool, text: str = text, counts: list[int] = counts) -> None:
            found = run(text, "k", block=THREADS, arguments=[data, _TURNS], races=races)
            assert found.is_clean, found
            counts.append(found.steps)

        seconds = fastest(lambda once=once: once(False), lambda once=once: once(True))
        rates = [counts[0] / each / 1e6 for each in seconds]
        print(f"{name:28} {rates[0]:8.1f} {rates[1]:14.1f}", flush=True)
    return 0
