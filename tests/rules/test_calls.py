"""The rules where a kernel calls functions, on small kernels whose comments contain the expected verdict."""

from __future__ import annotations

from ptxkit import lint
from tests.rules.cases_calls import CASES
from tests.rules.support import Case, each, holds


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)


FETCH = """.version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 tile[16];
.func fetch(.param .b64 from) { .reg .b64 %rd1; .reg .b32 %r1; ld.param.b64 %rd1, [from]; mov.u32 %r1, tile;
cp.async.cg.shared.global [%r1], [%rd1], 16; cp.async.wait_all; ret; }
"""
CALL = """.entry {name}(.param .u64 p, .param .u32 n) .reqntid 1 {{ .reg .b64 %rd1; .reg .b32 %r1; .reg .pred %p;
ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; setp.ne.u32 %p, %r1, {size}; @%p bra end;
{{ .param .b64 a; st.param.b64 [a], %rd1; call fetch, (a); }}
end: ret; }}
"""


def test_the_execution_of_a_function_by_one_kernel_settles_nothing_about_another() -> None:
    always, seldom = (CALL.format(name=f"k{size}", size=size) for size in (512, 1073741824))
    copy = FETCH[: FETCH.index("cp.async.cg")].count("\n") + 1
    for kernels, expected in ((always, False), (seldom, True), (always + seldom, True), (seldom + always, True)):
        questions = lint(FETCH + kernels).undecided
        open_lines = {each.source.position(each.span.start)[0] for each in questions if each.code == "PTX300"}
        assert (copy in open_lines) == expected
