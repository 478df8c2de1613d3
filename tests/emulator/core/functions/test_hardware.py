"""Results of an H200 that the machine once computed differently: NaNs, numbers near zero, bit fields."""

from __future__ import annotations

import numpy as np

from ptxkit.emulator import run

SEEN = """
abs.f64 0xfff8000000000005 -> 0xfff8000000000005
add.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
add.rm.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
add.rn.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
add.rp.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
add.rz.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
bfe.s64 0x0000001fffffffff 0xfe000001 0xffffffbe -> 0x0000000000000000
bfe.u64 0xfffffffffffffe01 0xfe000001 0xffffffbe -> 0x0000000000000000
bfi.b64 0x1b1309c68b605d48 0x0000000000000035 0x00004001 0x260f24f7 -> 0x0000000000000035
cvt.f32.bf16 0x7f81 -> 0x7f810000
cvt.f64.bf16 0x7f81 -> 0x7ff8200000000000
cvt.f64.f16 0x7c01 -> 0x7ff8040000000000
cvt.f64.f32 0xffc00005 -> 0xfff80000a0000000
cvt.f64.f64 0xfff0000000000001 -> 0xfff0000000000001
cvt.ftz.f64.f32 0xffc00005 -> 0x7fffffffe0000000
cvt.rm.bf16.f64 0xfff8000000000005 -> 0xffc0
cvt.rm.f32.bf16 0x7f81 -> 0x7f810000
cvt.rm.f64.bf16 0x7f81 -> 0x7ff8200000000000
cvt.rm.ftz.f16.f32 0x80000003 -> 0x8001
cvt.rm.ftz.f32.f64 0xfff8000000000005 -> 0xffc00000
cvt.rm.ftz.bf16.f32 0x80000003 -> 0x8000
cvt.rn.ftz.bf16.f32 0x807fffff -> 0x8000
cvt.rn.bf16.f64 0xfff8000000000005 -> 0xffc0
cvt.rn.f16.f64 0xfff8000000000005 -> 0xfe00
cvt.rn.f32.bf16 0x7f81 -> 0x7f810000
cvt.rn.f64.bf16 0x7f81 -> 0x7ff8200000000000
cvt.rn.ftz.f32.f64 0xfff8000000000005 -> 0xffc00000
cvt.rna.satfinite.tf32.f32 0xffc00005 -> 0xffbfe000
cvt.rna.tf32.f32 0xffc00005 -> 0xffc00000
cvt.rp.bf16.f64 0xfff8000000000005 -> 0xffc0
cvt.rp.f16.f64 0xfff8000000000005 -> 0xfe00
cvt.rp.f32.bf16 0x7f81 -> 0x7f810000
cvt.rp.f32.f64 0xfff8000000000005 -> 0xffc00000
cvt.rp.f64.bf16 0x7f81 -> 0x7ff8200000000000
cvt.rp.ftz.f16.f32 0x00000001 -> 0x0001
cvt.rp.ftz.sat.f16.f32 0x00000001 -> 0x0001
cvt.rz.bf16.f64 0xfff8000000000005 -> 0xffc0
cvt.rz.f16.f64 0xfff8000000000005 -> 0xfe00
cvt.rz.f32.bf16 0x7f81 -> 0x7f810000
cvt.rz.f32.f64 0xfff8000000000005 -> 0xffc00000
cvt.rz.f64.bf16 0x7f81 -> 0x7ff8200000000000
cvt.rz.ftz.f32.f64 0xfff8000000000005 -> 0xffc00000
div.rm.ftz.f32 0x00800001 0xbf800002 -> 0x80000000
div.rn.ftz.f32 0x00ffffff 0x40000000 -> 0x00000000
div.rp.ftz.f32 0x00ffffff 0x40000000 -> 0x00000000
fma.rm.f64 0xfff8000000000005 0x8000000000000000 0x7ff0000000000001 -> 0x7ff8000000000001
fma.rm.ftz.f32 0x3f000000 0x80ffffff 0x80000000 -> 0x80000000
fma.rn.f64 0xfff8000000000005 0x8000000000000000 0x7ff0000000000001 -> 0x7ff8000000000001
fma.rz.f64 0xc008000000000000 0x7ff8000000000005 0xfff0000000000001 -> 0x7ff8000000000005
fma.rn.ftz.f16x2 0x07ff0ece 0xb800dc67 0x800077ff -> 0x800077ff
fma.rn.ftz.f32 0x3f000000 0x80ffffff 0x80000000 -> 0x80000000
fma.rn.ftz.relu.f16x2 0xb800a6a1 0x87ff7e00 0x00002481 -> 0x00007fff
fma.rn.ftz.sat.f16x2 0xb800a6a1 0x87ff7e00 0x00002481 -> 0x00000000
fma.rn.ftz.sat.f32 0x80800000 0xbf7fffff 0x80000000 -> 0x00000000
fma.rn.oob.bf16 0x32a2 0x8001 0x7ff7 -> 0x7fff
fma.rn.oob.bf16x2 0xfff7f9a2 0x80003f00 0x000248d1 -> 0x0000f922
fma.rn.oob.f16 0xbb31 0xfff7 0x3800 -> 0x0000
fma.rn.oob.f16x2 0x2565ed5a 0xfff7d590 0x4400775c -> 0x00007c00
fma.rn.oob.relu.bf16 0x32a2 0x8001 0x7ff7 -> 0x7fff
fma.rn.oob.relu.bf16x2 0xfff7f9a2 0x80003f00 0x000248d1 -> 0x00000000
fma.rn.oob.relu.f16 0xbb31 0xfff7 0x3800 -> 0x0000
fma.rn.oob.relu.f16x2 0x2565ed5a 0xfff7d590 0x4400775c -> 0x00007c00
fma.rn.sat.oob.f16 0x0000 0xa2c2 0x87ff -> 0x0000
fma.rn.sat.oob.f16x2 0x5df70000 0x00d5d538 0x3c0107ff -> 0x3c0007ff
fma.rp.f64 0xfff8000000000005 0x8000000000000000 0x7ff0000000000001 -> 0x7ff8000000000001
fma.rp.ftz.f32 0x80800000 0xbf7fffff 0x80000000 -> 0x00000000
fma.rp.ftz.sat.f32 0x80800000 0xbf7fffff 0x80000000 -> 0x00000000
fma.rz.f64 0xfff8000000000005 0x8000000000000000 0x7ff0000000000001 -> 0x7ff8000000000001
fns.b32 0xffffffff 0xffffffff 0xffffffe8 -> 0xffffffff
max.f64 0x7fffffffffffffff 0x7fffffffffffffff -> 0x7fffffffffffffff
min.f64 0x7fffffffffffffff 0x7fffffffffffffff -> 0x7fffffffffffffff
mul.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
mul.ftz.f16x2 0x3800010a 0x87ff5570 -> 0x80000000
mul.ftz.f32 0x80800000 0xbf7fffff -> 0x00000000
mul.ftz.sat.f16x2 0x07ff1484 0x38008a41 -> 0x00000000
mul.ftz.sat.f32 0x80800000 0xbf7fffff -> 0x00000000
mul.rm.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
mul.rm.ftz.f32 0x80800000 0x3f7fffff -> 0x80000000
mul.rn.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
mul.rn.ftz.f16x2 0x3800010a 0x87ff5570 -> 0x80000000
mul.rn.ftz.f32 0x80800000 0xbf7fffff -> 0x00000000
mul.rn.ftz.sat.f16x2 0x07ff1484 0x38008a41 -> 0x00000000
mul.rn.ftz.sat.f32 0x80800000 0xbf7fffff -> 0x00000000
mul.rp.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
mul.rp.ftz.f32 0x80800000 0xbf7fffff -> 0x00000000
mul.rp.ftz.sat.f32 0x80800000 0xbf7fffff -> 0x00000000
mul.rz.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
neg.f64 0xfff8000000000005 -> 0xfff8000000000005
rsqrt.approx.f64 0xfff8000000000005 -> 0xfff8000000000005
sub.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
sub.rm.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
sub.rn.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
sub.rp.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
sub.rz.f64 0xfff0000000000001 0xfff8000000000005 -> 0xfff8000000000005
"""
"""Instruction, operands from the first on, and the result, with as many digits as the registers are wide."""

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
BEFORE = ".reg .b64 %out;\nld.param.u64 %out, [out];\n"


def block(instruction: str, operands: list[str], result: str, offset: int) -> str:
    """One instruction between constants and a store."""
    kinds = [f"b{4 * len(each.removeprefix('0x'))}" for each in (result, *operands)]
    names = [f"%x{at}" for at in range(len(kinds))]
    lines = [f".reg .{kind} {name};" for kind, name in zip(kinds, names, strict=True)]
    moves = zip(kinds[1:], names[1:], operands, strict=True)
    lines += [f"mov.{kind} {name}, {value};" for kind, name, value in moves]
    lines += [f"{instruction} {', '.join(names)};", f"st.global.{kinds[0]} [%out+{offset}], %x0;"]
    return "\n".join(["{", *lines, "}\n"])


def test_the_machine_computes_the_results_of_hardware() -> None:
    cases = [line.replace("->", "").split() for line in SEEN.split("\n") if line]
    blocks = [block(case[0], case[1:-1], case[-1], 8 * at) for at, case in enumerate(cases)]
    found = run(f"{HEAD}{BEFORE}{''.join(blocks)}ret;\n}}\n", "k", block=1, arguments=[np.zeros(len(cases), np.uint64)])
    assert not found.unsupported_reason, found.unsupported_reason
    results = [f"{int(value):#0{len(case[-1])}x}" for case, value in zip(cases, found.outputs[0], strict=True)]
    instructions = [" ".join(case[:-1]) for case in cases]
    expected = dict(zip(instructions, (case[-1] for case in cases), strict=True))
    assert dict(zip(instructions, results, strict=True)) == expected
