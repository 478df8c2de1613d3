"""PTX621 of tensor copies whose boxes are unknown: bytes beyond the smallest box are a question."""

from __future__ import annotations

from tests.rules.support import Case

_STORES = "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd2, {%r6}], [%r2]; cp.async.bulk.commit_group;"
_FENCE = "fence.proxy.async.shared::cta;"


def _case(name: str, body: str, *, asked: bool, bounds: str = ".reqntid 128, 1, 1") -> Case:
    bytes_of_a_phase = ("PTX503",) if "expect_tx" in body else ()
    return Case(name, body, undecided=(*bytes_of_a_phase, *(("PTX621",) if asked else ())), bounds=bounds)


#: Only thread 0 copies; all threads fill the tile before, 16 bytes each.
_FILL = f"st.shared.v4.b32 [%r4], {{%r1, %r1, %r1, %r1}}; {_FENCE}"
_COPY = f"setp.ne.u32 %p3, %r1, 0; @%p3 bra end;\n{_STORES}\ncp.async.bulk.wait_group.read 0;\nend: nanosleep.u32 0;"
_LOAD = """@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0; setp.ne.u32 %p3, %r1, 0; @%p3 bra over;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r6}], [%r5];
over:"""
_WAIT = "wait: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r5], 0; @!%p4 bra wait;"

CASES = (
    _case("words that other lanes stored may be in the box", f"{_FILL}\n{_COPY}", asked=True, bounds=".reqntid 32"),
    _case(
        "words that other lanes stored before a barrier of the warp are visible",
        f"{_FILL} bar.warp.sync -1;\n{_COPY}",
        asked=False,
        bounds=".reqntid 32",
    ),
    _case("words that other warps stored may be in the box", f"{_FILL}\n{_COPY}", asked=True),
    _case("words that other warps stored before a barrier are visible", f"{_FILL} bar.sync 0;\n{_COPY}", asked=False),
    _case(
        "other warps store to memory from which a box may be read",
        f"{_FILL} bar.sync 0;\n{_COPY}\nst.shared.b32 [%r4], %r6;",
        asked=True,
    ),
    _case(
        "other warps store when the box has been read",
        f"{_FILL} bar.sync 0;\n{_COPY} bar.sync 0;\nst.shared.b32 [%r4], %r6;",
        asked=False,
    ),
    _case(
        "another variable is in no box",
        f"{_FILL} bar.sync 0;\n{_COPY}\nst.shared.b32 [%r9], %r6;",
        asked=False,
    ),
    _case(
        "where the next copy is from, the first one's box is at its end",
        f"""{_FILL} bar.sync 0; setp.ne.u32 %p3, %r1, 0; @%p3 bra end; add.u32 %r10, %r2, 1024;
{_STORES}
cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd2, {{%r6}}], [%r10]; cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
end: st.shared.b32 [%r4+4096], %r6;""",
        asked=True,
    ),
    _case("other warps read memory that a box may have written", f"{_LOAD} ld.shared.b32 %r11, [%r4+16];", asked=True),
    _case("all warps wait for the box", f"{_LOAD}\n{_WAIT} ld.shared.b32 %r11, [%r4+16];", asked=False),
)
