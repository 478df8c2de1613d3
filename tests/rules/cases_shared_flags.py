"""PTX302, PTX401, PTX621: data that a flag in shared memory should order; each wrong kernel with its correct twin."""

from __future__ import annotations

from tests.rules.support import Case

_STORE, _LOAD = "st.shared.u32 [%r2], %r10; //= write", "ld.shared.u32 %r13, [%r2];"
_SET, _POLL = "st.relaxed.cta.shared.u32 [%r5], 1;", "ld.relaxed.cta.shared.u32 %r14, [%r5];"
_RELEASE, _ACQUIRE = (each.replace("relaxed", order) for each, order in ((_SET, "release"), (_POLL, "acquire")))
_FENCE = "fence.acq_rel.cta;"
_PROXY_FENCE = "fence.proxy.async.shared::cta;"
_COPY = "cp.async.ca.shared.global [%r2], [%rd1], 4; //= write\ncp.async.wait_all; //= wait"
_SEND = """cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 64; {}
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"""


def _hand_over(
    name: str,
    flag: str,
    poll: str,
    *,
    write: str = _STORE,
    read: str = _LOAD,
    finds: str = "",
    question: str = "",
) -> Case:
    """Thread 0 writes the tile and sets a flag for which thread 32 waits, in registers that both use.

    finds: the error about the read, with its labels. question: its code.
    """
    mark = f"//! {finds}" if finds else ""
    reads = read.format(mark) if "{}" in read else f"{read} {mark}"
    return Case(
        name,
        f"""mov.u32 %r10, 7; @%p1 st.relaxed.cta.shared.u32 [%r5], 0; bar.sync 0;
setp.eq.u32 %p3, %r1, 32; @%p3 bra wait; setp.ne.u32 %p3, %r1, 0; @%p3 bra end;
{write}
{flag}
bra end;
wait: {poll} setp.ne.u32 %p3, %r14, 1; @%p3 bra wait;
{reads}
end: nanosleep.u32 0;""",
        undecided=(question,) if question else (),
    )


_CHAIN = f"""@%p1 mbarrier.init.shared::cta.b64 [%r5+8], 1; @%p1 st.relaxed.cta.shared.u32 [%r5], 0; bar.sync 0;
setp.eq.u32 %p3, %r1, 32; @%p3 bra wait; setp.eq.u32 %p4, %r1, 64; @%p4 bra pass; @!%p1 bra end;
st.shared.u32 [%r2], 7;
mbarrier.arrive.shared::cta.b64 _, [%r5+8]; bra end;
pass: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r5+8], 0; @!%p5 bra pass;
{_RELEASE} bra end;
wait: {_ACQUIRE} setp.ne.u32 %p3, %r14, 1; @%p3 bra wait;
{_LOAD}
end: nanosleep.u32 0;"""

_EARLY = """and.b32 %r11, %r1, 31; setp.ne.u32 %p3, %r11, 0; @%p3 ret;
@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; setp.gt.u32 %p4, %r1, 0; @%p4 bra wait;
barrier.sync 0; st.shared.u32 [%r2], 7; {} ret;
wait: barrier.sync 0;
again: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r5], 0; @!%p5 bra again;
ld.shared.u32 %r13, [%r2];"""

CASES = (
    _hand_over("nothing releases before a flag", _SET, _ACQUIRE, finds="PTX621 write"),
    _hand_over("nothing acquires after a flag", _RELEASE, _POLL, finds="PTX621 write"),
    _hand_over("only the writer has a fence", f"{_FENCE} {_SET}", _POLL, finds="PTX621 write"),
    _hand_over("a fence follows the flag", f"{_SET} {_FENCE}", _ACQUIRE, finds="PTX621 write"),
    _hand_over("a fence comes before the poll", _RELEASE, f"{_FENCE} {_POLL}", question="PTX621"),
    _hand_over("a proxy fence releases nothing", f"{_PROXY_FENCE} {_SET}", _ACQUIRE, finds="PTX621 write"),
    _hand_over("a flag is released and acquired", _RELEASE, _ACQUIRE, question="PTX621"),
    _hand_over("a flag is between fences", f"{_FENCE} {_SET}", f"{_POLL} {_FENCE}", question="PTX621"),
    _hand_over("a copy is complete before a relaxed flag", _SET, _ACQUIRE, write=_COPY, finds="PTX302 write wait"),
    _hand_over("a copy is complete before a release", _RELEASE, _ACQUIRE, write=_COPY, question="PTX302"),
    _hand_over("a relaxed flag before a bulk store", _SET, _ACQUIRE, read=_SEND, finds="PTX401 write"),
    _hand_over("a flag before a bulk store", f"{_PROXY_FENCE} {_RELEASE}", _ACQUIRE, read=_SEND, question="PTX302"),
    Case("lanes that return early take no part", _EARLY.format("mbarrier.arrive.shared::cta.b64 _, [%r5];")),
    Case("a third thread passes an mbarrier's phase on by a flag", _CHAIN, undecided=("PTX621",)),
)
