"""What registers may hold: precise where addresses need it, and never too small."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.analysis.abstract_interpretation.abstract_values import Alternative
from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.ir.program import flatten
from ptxkit.diagnostics import Verdict
from ptxkit.source import SourceFile
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Name
from ptxkit.testing.corpus.launch_table import load_launch_table
from ptxkit.verifier import verify_source
from tests.analysis.abstract_interpretation.value_observer import ObservedValues, observe
from tests.analysis.support import module_of, program_of

CORPUS = Path(__file__).resolve().parents[3] / "corpus"
LAUNCHES = load_launch_table()
LINTED = Verdict(())
MOST_BYTES = 6_500
"""The size of the largest kernels that are run; the run of a larger one takes seconds."""


SMALL = [path for path in sorted((CORPUS / "kernels").glob("*.ptx")) if path.stat().st_size < MOST_BYTES]


def test_there_are_kernels_to_run() -> None:
    assert len(SMALL) > 20


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_each_register_of_a_run_is_inside_its_abstract_value(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text("utf-8")
    samples = observe(monkeypatch)
    for request in LAUNCHES.requests_for(text, path.name, schedules=1):
        samples.clear()
        verify_source(SourceFile(path.name, text), request, static=LINTED)
        module = parse(text)
        program = flatten(module, module.function(request.entries[0]), calls=True)
        compared = bounded = 0
        for each in program.functions:
            observed = ObservedValues(each, samples)
            assert list(observed.misfits()) == []
            compared += observed.compared
            bounded += observed.bounded
        assert compared > 100
        assert bounded > 50


def value_at_barrier(
    body: str, register: str, *, bounds: str = "", parameters: str = ".param .u64 p, .param .u32 n"
) -> str:
    """What a register may hold at the `bar.sync 0` of a kernel, in words."""
    program = program_of(module_of(f".shared .align 16 .b8 tile[1024]; {body}", bounds=bounds, parameters=parameters))
    values = AbstractRegisters(program)
    last = next(step for step in reversed(program.steps) if step.instruction.opcode == "bar.sync")
    return " or ".join(map(words, values.value_at(last, Name(register)))) or "nothing"


def words(each: Alternative) -> str:
    low, high, step = (*each.known_offsets, each.offset.stride)
    name = "" if each.base is None else f"{each.base.name}@{each.window}+"
    doubt = "?" if each.is_opaque else ""
    return f"{name}{low}{doubt}" if low == high else f"{name}{low}..{high}/{step}{doubt}"


TID = "mov.u32 %r1, %tid.x;"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{TID} shl.b32 %r2, %r1, 4; mov.u32 %r3, tile; add.s32 %r4, %r3, %r2; bar.sync 0;", "tile@shared+0..1008/16"),
        (f"{TID} and.b32 %r4, %r1, 31; bar.sync 0;", "0..31/1"),
        (f"{TID} setp.lt.u32 %p1, %r1, 8; @!%p1 bra END; mul.lo.s32 %r4, %r1, 12; bar.sync 0; END:", "0..84/12"),
        (f"{TID} mul.lo.s32 %r4, %r1, 12; setp.lt.u32 %p1, %r1, 8; @!%p1 bra END; bar.sync 0; END:", "0..84/12"),
        ("mov.u32 %r4, 0; @%p1 mov.u32 %r4, 8; bar.sync 0;", "0..8/8"),
        ("@%p1 mov.u32 %r4, 8; bar.sync 0;", "0..4294967295/1?"),
        ("mov.u32 %r4, 0; L: add.u32 %r4, %r4, 4; setp.lt.u32 %p1, %r4, 100; @%p1 bra L; bar.sync 0;", "100"),
        ("mov.u32 %r4, 0; L: bar.sync 0; add.u32 %r4, %r4, 4; setp.lt.u32 %p1, %r4, 100; @%p1 bra L;", "0..96/4"),
        ("mov.u32 %r4, 7; L: bar.sync 0; add.s32 %r4, %r4, -1; setp.ne.s32 %p1, %r4, 0; @%p1 bra L;", "1..7/1"),
        ("ld.global.u32 %r4, [%rd1]; bar.sync 0;", "0..4294967295/1?"),
        ("ld.global.u32 %r3, [%rd1]; and.b32 %r4, %r3, 12; bar.sync 0;", "0..12/4?"),
        ("mov.u32 %r3, 12; lop3.b32 %r4, %r3, 10, 0, 0xc0; bar.sync 0;", "8"),
        ("ld.param.u32 %r4, [n]; bar.sync 0;", "0..4294967295/1"),
        ("mov.u32 %r4, tile; mov.u32 %r3, %tid.x; xor.b32 %r4, %r4, 8; bar.sync 0;", "tile@shared+8"),
        ("mov.u32 %r4, tile; add.s32 %r4, %r4, 24; and.b32 %r4, %r4, -16; bar.sync 0;", "tile@shared+16"),
        ("mov.u32 %r4, tile; @%p1 mov.u32 %r4, 5; bar.sync 0;", "5 or tile@shared+0"),
        ("mov.u32 %r4, 5; shfl.sync.idx.b32 %r4, %r4, 0, 31, -1; bar.sync 0;", "0..4294967295/1?"),
        ("mov.b32 %r4, -1; cvt.u16.u32 %h1, %r4; cvt.u32.u16 %r4, %h1; bar.sync 0;", "65535"),
        ("mov.u16 %h1, -1; cvt.s32.s16 %r4, %h1; bar.sync 0;", "4294967295"),
    ],
)
def test_the_values_of_an_integer_register(body: str, expected: str) -> None:
    assert value_at_barrier(body, "%r4", bounds=".reqntid 64, 1, 1") == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ld.param.u64 %rd4, [p]; bar.sync 0;", "p@+0"),
        ("ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd4, %rd1; bar.sync 0;", "p@global+0"),
        ("mov.u64 %rd1, tile; cvta.shared.u64 %rd4, %rd1; bar.sync 0;", "tile@generic+0"),
        ("ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; cvta.global.u64 %rd4, %rd1; bar.sync 0;",
         "p@global+0"),
        ("mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; cvta.to.shared.u64 %rd4, %rd2; bar.sync 0;", "tile@shared+0"),
        ("ld.global.u64 %rd1, [%rd2]; cvta.to.shared.u64 %rd4, %rd1; bar.sync 0;", "shared@shared+0"),
        ("mov.u64 %rd1, tile; cvt.u32.u64 %r1, %rd1; add.s32 %r1, %r1, 8; cvt.u64.u32 %rd4, %r1; bar.sync 0;",
         "tile@shared+8"),
        ("mov.u64 %rd1, tile; mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd4, {%r1, 0}; bar.sync 0;", "tile@shared+0"),
        ("ld.param.u64 %rd1, [p]; ld.global.u64 %rd2, [%rd1]; add.s64 %rd4, %rd1, %rd2; bar.sync 0;",
         "p@+-9223372036854775808..9223372036854775807/1?"),
        ("ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mul.wide.u32 %rd2, %r1, 16; add.s64 %rd4, %rd1, %rd2;"
         "bar.sync 0;",
         "p@+0..68719476720/16"),
    ],
)  # fmt: skip
def test_the_bases_of_an_address_register(body: str, expected: str) -> None:
    assert value_at_barrier(body, "%rd4") == expected


def test_an_unknown_instruction_or_a_register_of_an_asynchronous_operation_leaves_it_unknown() -> None:
    assert value_at_barrier("mov.u32 %r4, 5; unheard.of %r1; bar.sync 0;", "%r4").endswith("?")
    loads = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r1]; mov.u32 %r4, 5; bar.sync 0;"
    assert value_at_barrier(loads, "%r4").endswith("?")
    assert value_at_barrier(
        "mov.u32 %r4, 5; call f, (%r4); bar.sync 0;".replace("f, (%r4)", "(%r4), f"), "%r4"
    ).endswith("?")


def test_the_block_size_bounds_the_position_of_a_thread() -> None:
    assert value_at_barrier(f"{TID} bar.sync 0;", "%r1") == "0..1023/1"
    assert value_at_barrier(f"{TID} bar.sync 0;", "%r1", bounds=".maxntid 32, 4, 1") == "0..127/1"
    assert value_at_barrier("mov.u32 %r1, %tid.y; bar.sync 0;", "%r1", bounds=".reqntid 32, 4, 1") == "0..3/1"
