"""The lines that a page folds."""

from __future__ import annotations

from ptxkit.analysis.inventory.routine_lines import find_routine_lines
from ptxkit.analysis.ir.program import flatten
from ptxkit.syntax import parse

TEXT = """.version 9.0
.target sm_90
.address_size 64
.file 1 "k.cu"
// a comment of the author
.visible .entry k(.param .u64 a)
{
\t.reg .b32 %r<9>;
\t.reg .b64 %rd<9>;
\t.reg .pred %p<2>;

\t.loc 1 2 3
\t.shared .b32 tile;
\tmov.u32 %r1, tile;
\tmov.u32 %r2, %tid.x;
\t// begin inline asm
\tadd.s32 %r3, %r2, 1;
\t// end inline asm
\t@%p1 mov.u32 %r3, 7;
\tld.param.u64 %rd1, [a];
\tcvta.to.global.u64 %rd2, %rd1; st.global.u32 [%rd2], %r3;
\tcvta.to.global.u64 %rd3, %rd1;
L:
\tret;
}

.section .debug_str
{
info: .b8 97, 0
}
"""


def test_only_lines_that_a_compiler_always_writes_are_routine() -> None:
    module = parse(TEXT, "k.ptx")
    found = find_routine_lines(module, [flatten(module, function) for function in module.functions()])
    lines = TEXT.split("\n")
    assert [lines[line - 1].strip() for line in sorted(found)] == [
        '.file 1 "k.cu"',
        ".reg .b32 %r<9>;",
        ".reg .b64 %rd<9>;",
        ".reg .pred %p<2>;",
        "",
        ".loc 1 2 3",
        "mov.u32 %r1, tile;",
        "// begin inline asm",
        "// end inline asm",
        "cvta.to.global.u64 %rd3, %rd1;",
        ".section .debug_str",
        "{",
        "info: .b8 97, 0",
        "}",
        "",
    ]
