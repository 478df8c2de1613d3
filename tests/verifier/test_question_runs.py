"""What runs show of the open questions of the rules."""

from __future__ import annotations

from collections import Counter

import pytest

from ptxkit.diagnostics import Undecided, Verdict
from ptxkit.source import SourceFile, Span
from ptxkit.verifier import VerifyRequest, verify_source
from ptxkit.verifier.kernel_result import KernelResult
from ptxkit.verifier.question_runs import NOT_REACHED, VIOLATED_WITH_CHOSEN, with_runs

_SOURCE = SourceFile("k.ptx", " " * 80)


def question(start: int, code: str = "PTX621") -> Undecided:
    return Undecided(code, "why", _SOURCE, Span(start, start + 4))


@pytest.mark.parametrize(
    ("start", "code", "wanted"),
    [
        (8, "PTX621", "held in 5 runs"),
        (16, "PTX621", "held in 1 run"),
        (24, "PTX621", NOT_REACHED),
        (32, "PTX621", VIOLATED_WITH_CHOSEN),
        (32, "PTX302", "held in 2 runs"),
        (40, "PTX621", ""),  # in a function
    ],
)
def test_a_question_states_what_the_runs_of_all_kernels_show(start: int, code: str, wanted: str) -> None:
    places = frozenset({8, 16, 24, 32})
    first = KernelResult(executions=Counter({8: 3, 32: 2}), places=places, undecided=[question(32)])
    second = KernelResult(executions=Counter({8: 2, 16: 1}), places=places)
    (found,) = with_runs([question(start, code)], [first, second])
    assert found.tested == wanted


GUARDED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n) .reqntid 64
{
 .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<4>;
 .shared .align 4 .b8 tile[512];
 mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; ld.param.u64 %d0, [a];
 setp.eq.u32 %p0, %r2, 64; @%p0 bra END;
 ld.global.u32 %r5, [%d0]; and.b32 %r5, %r5, 252; shl.b32 %r2, %r1, 2; add.u32 %r5, %r5, %r2;
 mov.u32 %r6, tile; add.u32 %r6, %r6, %r5; st.shared.u32 [%r6], %r1;
 bar.sync 0; ld.shared.u32 %r4, [tile]; st.global.u32 [%d0], %r4;
END:
 ret;
}
"""


@pytest.mark.parametrize(("schedules", "wanted"), [(1, "held in 1 run"), (4, "held in 3 runs")])
def test_a_question_is_counted_in_the_runs_that_reach_it(schedules: int, wanted: str) -> None:
    source, start = SourceFile("k.ptx", GUARDED), GUARDED.index("st.shared")
    static = Verdict((), (Undecided("PTX621", "why", source, Span(start, start + 9)),))
    result = verify_source(source, VerifyRequest(schedules=schedules), static=static)
    assert [each.tested for each in result.undecided if each.span.start == start] == [wanted]
