"""The speed of the reference machine: thread-instructions per second, a tile by `wgmma`, a verified ring, and
growth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bench_lib.bench_common import REPEATS, fastest

THREADS = 256
_ITERATIONS = 400

_HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 data, .param .u32 turns)
{
 .reg .pred %p<8>; .reg .b32 %r<40>; .reg .b64 %d<20>; .reg .f32 %f<20>;
 .shared .align 16 .b8 tile[4096];
 ld.param.u64 %d0, [data]; ld.param.u32 %r0, [turns];
 mov.u32 %r1, %tid.x; mov.u32 %r14, %ctaid.x; mov.u32 %r15, %ntid.x; mad.lo.u32 %r14, %r14, %r15, %r1;
 mul.wide.u32 %d1, %r14, 4; add.s64 %d2, %d0, %d1;
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
_ARITHMETIC = ("integers", "floats")

RATE, TILE_SECONDS, RING_SECONDS, EXPONENT = 20.0, 1.0, 5.0, 1.1
"""The limits: million thread-instructions of ordinary arithmetic per second; seconds of a 64 x 64 x 64 tile, and of the
verification of a ring of ten stages with 20 schedules; the largest exponent of the work with which time grows.
"""

_SCHEDULES = 20


def bench_emulate() -> int:
    """Prints the speed of the machine. Returns 1 if a limit is exceeded."""
    missed = [bench_rates(), bench_tile(), bench_ring(), bench_growth()]
    return 1 if any(missed) else 0


def bench_rates() -> bool:
    """Measures thread-instructions per second of one CTA of 256 threads, with and without race detection. Returns
    whether arithmetic is too slow.
    """
    data = _data()
    print(f"Million thread-instructions a second of processor time, a CTA of {THREADS} threads, best of {REPEATS}.")
    print(f"{'kernel':28} {'plain':>8} {'races watched':>14}")
    slow = False
    for name, body in _KERNELS.items():
        steps = _run(body, data, THREADS, _ITERATIONS, 1)
        seconds = fastest(
            lambda body=body: _run(body, data, THREADS, _ITERATIONS, 1, races=False),
            lambda body=body: _run(body, data, THREADS, _ITERATIONS, 1),
        )
        rates = [steps / each / 1e6 for each in seconds]
        slow = slow or (name in _ARITHMETIC and rates[0] < RATE)
        print(f"{name:28} {rates[0]:8.1f} {rates[1]:14.1f}", flush=True)
    return slow


def bench_tile() -> bool:
    """Measures one tile by `wgmma`, including parsing the PTX. Returns whether it is too slow, or the product is
    wrong.
    """
    import numpy

    from bench_lib.emulated_kernels import SIDE, wgmma_tile
    from ptxkit.emulator import TensorMapArgument, run

    text = str(wgmma_tile())
    numbers = numpy.random.default_rng(0).integers(-3, 4, (2, SIDE, SIDE)).astype(numpy.float32)
    halves = (numbers.view(numpy.uint32) >> 16).astype(numpy.uint16)
    maps = [TensorMapArgument.tiled(each, box=(SIDE, SIDE), element="bf16", swizzle=128) for each in halves]
    arguments = [*maps, numpy.zeros((SIDE, SIDE), numpy.float32)]
    (seconds,) = fastest(lambda: run(text, "wgmma_tile", arguments=arguments))
    found = run(text, "wgmma_tile", arguments=arguments)
    right = found.is_clean and bool((found.outputs[2] == numbers[0] @ numbers[1].T).all())
    print(f"a {SIDE} x {SIDE} x {SIDE} tile by wgmma: {seconds:.2f} s, {'right' if right else 'WRONG'}", flush=True)
    return seconds >= TILE_SECONDS or not right


def bench_ring() -> bool:
    """Measures `verify` of a ring, rules and runs. Returns whether it is too slow, or has findings."""
    from bench_lib.emulated_kernels import STAGES, TILE, TILES, ring
    from ptxkit.source import SourceFile
    from ptxkit.verifier import VerifyRequest, parse_argument, verify_source

    source, grid = SourceFile("ring.ptx", str(ring())), 2
    count = grid * TILES * TILE
    given = (f"source=f32[{count}]:random", f"target=f32[{count}]", f"tiles={TILES}")
    request = VerifyRequest(
        schedules=_SCHEDULES, grid=(grid,), shared=0, arguments=dict(parse_argument(each) for each in given)
    )
    (seconds,) = fastest(lambda: verify_source(source, request), repeats=3)
    found = verify_source(source, request)
    clean = not found.diagnostics and not found.undecided
    print(
        f"verify of a ring of {STAGES} stages, {TILES} tiles, {grid} CTAs, {_SCHEDULES} schedules: {seconds:.2f} s, "
        f"{'clean' if clean else 'NOT CLEAN'}",
        flush=True,
    )
    return seconds >= RING_SECONDS or not clean


def bench_growth() -> bool:
    """Measures how time grows with threads, with steps and with CTAs, with race detection. Returns whether it grows
    faster than the work.

    A line is fitted to the logarithms of time and work; its slope is the exponent. An exponent below 1 shows the
    constant cost of a step, for any number of threads.
    """
    print("time ~ work ** power, races watched; in brackets nanoseconds of a thread-instruction at each size")
    powers = []
    for name in ("integers", "loads, stores and barriers"):
        body = _KERNELS[name]
        sweeps = {
            "threads": [(threads, 200, 1) for threads in (64, 128, 256, 512, 1024)],
            "steps": [(256, turns, 1) for turns in (100, 200, 400, 800, 1600)],
            "CTAs": [(256, 50, ctas) for ctas in (2, 4, 8, 16, 32)],
        }
        for what, sizes in sweeps.items():
            actions = [partial(_run, body, _data(size[0] * size[2]), *size) for size in sizes]
            powers.append(_growth(f"{name:28} {what:8}", actions))
    powers.append(_growth(f"{'the ring':28} {'tiles':8}", [partial(_run_ring, tiles) for tiles in (23, 46, 92, 184)]))
    return max(powers) > EXPONENT


def _growth(name: str, actions: Sequence[Callable[[], int]]) -> float:
    """Prints and returns the exponent with which the time of runs grows with their thread-instructions."""
    points = [(action(), *fastest(action, repeats=3)) for action in actions]
    each = ", ".join(f"{seconds / steps * 1e9:.0f}" for steps, seconds in points)
    power = _slope(points)
    print(f"{name} {power:5.2f}  ({each})", flush=True)
    return power


def _slope(points: Sequence[tuple[float, float]]) -> float:
    """Returns the slope of the line that fits the logarithms best."""
    logs = [(math.log(work), math.log(seconds)) for work, seconds in points]
    middle = [sum(each) / len(logs) for each in zip(*logs, strict=True)]
    apart = [(work - middle[0], seconds - middle[1]) for work, seconds in logs]
    return sum(work * seconds for work, seconds in apart) / sum(work * work for work, _ in apart)


def _data(count: int = THREADS) -> Any:
    import numpy

    return numpy.arange(count, dtype=numpy.uint32)


def _run(body: str, data: Any, threads: int, turns: int, ctas: int, *, races: bool = True) -> int:
    """Runs a kernel, and returns its thread-instructions."""
    from ptxkit.emulator import run

    found = run(_HEAD + body + _TAIL, "k", grid=ctas, block=threads, arguments=[data, turns], races=races)
    assert found.is_clean, found
    return found.steps


def _run_ring(tiles: int) -> int:
    """Runs the ring with the policies torn and random, and returns its thread-instructions."""
    import numpy

    from bench_lib.emulated_kernels import TILE, ring
    from ptxkit.emulator import run

    source = numpy.arange(tiles * TILE, dtype=numpy.float32)
    found = run(str(ring()), "ring", arguments=[source, numpy.zeros_like(source), tiles], policy="random")
    assert found.is_clean, found
    return found.steps
