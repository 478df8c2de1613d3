"""The next instruction at which lanes of one path converge."""

from __future__ import annotations

from ptxkit.analysis.symexec.trace import UnknownCall
from ptxkit.analysis.sync.warp_convergence import ConvergencePoints
from ptxkit.isa.effects import Access
from tests.analysis.support import explorer_of, module_of

HEAD = ".shared .align 16 .b8 tile[1024]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile;\n"
STORE, LOAD = "st.shared.u32 [%r2], %r1;", "ld.shared.u32 %r3, [%r2];"


def between(body: str) -> tuple[bool, bool]:
    """Returns (whether lanes may converge between the first two accesses, whether they do so before the execution
    ends)."""
    (group,) = explorer_of(module_of(HEAD + body, bounds=".reqntid 32, 1, 1")).explorations[0].groups
    met = ConvergencePoints(group)
    at = [n for n, e in enumerate(group.events) if not isinstance(e, UnknownCall) and isinstance(e.effect, Access)]
    return met.may_order_between(at[0], at[1]), met.next_point(at[0]) is not None


def test_lanes_converge_at_barriers() -> None:
    assert between(f"{STORE} bar.warp.sync -1; {LOAD}") == (True, True)
    assert between(f"{STORE} bar.sync 0; {LOAD}") == (True, True)
    assert between(f"{STORE} {LOAD}") == (False, False)


def test_an_instruction_of_the_whole_warp_is_treated_as_a_convergence() -> None:
    assert between(f"{STORE} shfl.sync.idx.b32 %r4, %r1, 0, 31, -1; {LOAD}") == (True, True)
    assert between(f"shfl.sync.idx.b32 %r4, %r1, 0, 31, -1; {STORE} {LOAD}") == (False, False)


def test_in_a_loop_lanes_converge_at_the_instruction_before_it() -> None:
    loop = f"mov.u32 %r9, 0; next: {{}} {STORE} add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 3; @%p1 bra next;"
    assert between(loop.format("vote.sync.any.pred %p2, %p1, -1;"))[0]
    assert not between(loop.format(""))[0]
