"""The state spaces of the addresses that reach an operand over any path."""

from __future__ import annotations

import pytest

from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from tests.analysis.support import module_of, program_of

HEAD = """.shared .align 16 .b8 tile[64]; .local .align 16 .b8 own[64];
ld.global.u64 %rd1, [%rd0]; ld.global.u32 %r1, [%rd0]; mov.u64 %rd2, 0;"""


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("mov.u64 %rd9, tile;", {"shared"}),
        ("mov.u64 %rd9, tile+8;", {"shared"}),
        ("mov.u64 %rd2, tile; cvta.shared.u64 %rd9, %rd2;", {"generic"}),
        ("mov.u64 %rd9, tile; cvta.shared.u64 %rd9, %rd9; add.u64 %rd9, %rd9, 4;", {"generic"}),
        ("cvta.to.local.u64 %rd2, %rd1; cvt.u64.u32 %rd3, %r1; add.u64 %rd9, %rd3, %rd2;", {"local"}),
        ("cvta.to.global.u64 %rd2, %rd1; and.b64 %rd9, %rd2, -128;", {"global"}),
        ("mov.u64 %rd2, tile; mapa.shared::cluster.u64 %rd9, %rd2, %r1;", {"shared::cluster"}),
        ("mov.b64 %rd9, %rd1;", {None}),
        ("mov.b64 %rd9, 4;", {None}),
        ("mov.u64 %rd2, tile; sub.u64 %rd9, %rd2, %rd2;", {None}),
        ("mov.u64 %rd2, tile; mov.u64 %rd3, own; selp.b64 %rd9, %rd2, %rd3, %p1;", {"shared", "local"}),
        ("mov.u64 %rd9, tile; @%p1 mov.u64 %rd9, own;", {"shared", "local"}),
        ("mov.u64 %rd9, tile; @%p1 mov.u64 %rd9, %rd1;", {"shared", None}),
        ("mov.u64 %rd9, tile; more: add.u64 %rd9, %rd9, 4; @%p1 bra more;", {"shared"}),
        (
            "mov.u64 %rd9, tile; more: add.u64 %rd9, %rd9, %rd2; mov.u64 %rd2, own; @%p1 bra more;",
            {"shared", "local", None},
        ),
        (
            "more: mov.u64 %rd3, tile; add.u64 %rd9, %rd3, %rd2; add.u64 %rd2, %rd2, 4; @%p1 bra more;",
            {"shared"},
        ),
    ],
)
def test_the_spaces_of_all_assignments_that_reach_an_operand(body: str, wanted: set[str | None]) -> None:
    program = program_of(module_of(f"{HEAD} {body} ld.u32 %r9, [%rd9];"))
    step = next(step for step in program.steps if step.instruction.opcode == "ld.u32")
    assert AbstractRegisters(program).spaces_of(step, step.instruction.operands[1]) == wanted
