"""PTX302, PTX401, PTX621: bulk copies of a buffer in global memory that the kernel also accesses otherwise."""

from __future__ import annotations

from tests.rules.support import Case

_ARRIVE = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 64;"
_IN = f"""@!%p1 bra end;
mbarrier.init.shared::cta.b64 [%r5], 1; {_ARRIVE}
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 64, [%r5];
{{}}
wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra wait;
end: nanosleep.u32 0;"""
_OUT = """cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 64; //= copy
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"""
_LOAD = "ld.global.u32 %r10, [%rd2];"


def _send(name: str, between: str, *, finds: bool, load: str = _LOAD) -> Case:
    """Thread 0 copies the tile to global memory, and thread 32 loads a word."""
    mark = "//! PTX621 copy" if finds else ""
    return Case(
        name,
        f"""@!%p1 bra others;
{_OUT}
others: {between}
@!%p2 bra end;
{load} {mark}
st.global.u32 [%rd1], %r10;
end: nanosleep.u32 0;""",
    )


CASES = (
    Case(
        "a store to the source of a copy that is pending", _IN.format("st.global.u32 [%rd1], 1;"), undecided=("PTX401",)
    ),
    Case("a store next to the source of a copy", _IN.format("st.global.u32 [%rd1+64], 1;")),
    Case("a store to another buffer", _IN.format("st.global.u32 [%rd2], 1;")),
    Case(
        "a copy from what the kernel stored",
        f"@%p1 st.global.u32 [%rd1+60], 1; bar.sync 0; {_IN.format('')}",
        undecided=("PTX401",),
    ),
    _send("another thread loads what a copy writes", "", finds=True),
    _send("a barrier is between a copy and a load", "bar.sync 0;", finds=False),
    _send("another thread loads what follows", "", finds=False, load=_LOAD.replace("%rd2", "%rd2+64")),
)
