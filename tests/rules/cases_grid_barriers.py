"""PTX624: barriers of a grid through a counter in global memory; each wrong kernel with its correct twin."""

from __future__ import annotations

from dataclasses import replace

from tests.rules.support import Case

_STORE = "st.global.b32 [%rd5], %r1; //= store"
_READ = "ld.global.b32 %r13, [%rd6];"
_BAR = "bar.sync 0;"
_ARRIVE = "atom.release.gpu.global.add.u32 %r14, [%rd2], 1;"
_POLL = "ld.acquire.gpu.global.b32 %r12, [%rd2];"
#: The words of the CTA's own threads, and those of the next CTA or of the one before it.
_POSITION = """mov.u32 %r10, %ctaid.x; mov.u32 %r11, %nctaid.x; mov.u32 %r18, 0; mov.u32 %r16, %ntid.x;
mad.lo.u32 %r15, %r10, %r16, %r1; mul.wide.u32 %rd3, %r15, 4; add.u64 %rd5, %rd1, %rd3; xor.b32 %r15, %r15, %r16;
mul.wide.u32 %rd4, %r15, 4; add.u64 %rd6, %rd1, %rd4;"""


def _expect(line: str, *labels: str) -> str:
    return f"{line} //! PTX624 {' '.join(labels)}"


def _case(name: str, **parts: str) -> Case:
    """Each thread stores a word, all CTAs synchronize, and each thread reads one of another CTA. parts: other code."""
    own = {
        "store": _STORE,
        "before": _BAR,
        "arrive": _ARRIVE,
        "goal": "mov.u32 %r17, %r11;",
        "poll": _POLL,
        "after": _BAR,
        "read": _READ,
    } | parts
    return Case(
        name,
        f"""{_POSITION}
{own["store"]}
{own["before"]}
@!%p1 bra met;
{own["arrive"]}
{own["goal"]}
wait: {own["poll"]}
setp.ne.u32 %p4, %r12, %r17; @%p4 bra wait;
met: {own["after"]}
{own["read"]}
nanosleep.u32 0;""",
    )


#: All CTAs together process 4096 words, of which two CTAs would process many each.
_SHARED_LOOP = f"""mov.u32 %r15, %r10; mul.wide.u32 %rd4, %r1, 4; add.u64 %rd6, %rd1, %rd4;
next: mul.wide.u32 %rd3, %r15, 4; add.u64 %rd5, %rd1, %rd3; setp.eq.u32 %p5, %r1, 64;
@%p5 {_STORE}
add.u32 %r15, %r15, %r11; setp.lt.u32 %p6, %r15, 4096; @%p6 bra next;"""
_NAMED_READ, _NAMED_POLL = f"{_READ} //= read", f"{_POLL} //= poll"
#: The CTA arrives at another counter in the end, the last one of which resets both.
_RESET = """bar.sync 0; @!%p1 bra end; add.u64 %rd8, %rd2, 4; atom.release.gpu.global.add.u32 %r19, [%rd8], 1;
add.u32 %r19, %r19, 1; setp.ne.u32 %p4, %r19, %r11; @%p4 bra end; st.global.u32 [%rd2], 0; end:"""
#: A read of weights, strong and of no other thread.
_STREAM = "add.u64 %rd7, %rd2, %rd3; ld.relaxed.cta.global.b32 %r19, [%rd7+64]; add.u32 %r13, %r19, %r13;"
#: The counter is in the workspace that the driver gives to a cooperative launch; another counter is in a buffer.
_WORKSPACE = "mov.u32 %r20, %envreg2; mov.u32 %r21, %envreg1; mov.b64 %rd8, {%r20, %r21};"
_OTHER_COUNTER = "red.relaxed.gpu.global.add.u64 [%rd2], 1;"


def _in_workspace(case: Case) -> Case:
    """Returns a case whose counter is in the workspace of the driver."""
    body = case.body.replace(_ARRIVE, f"{_WORKSPACE} {_ARRIVE.replace('%rd2', '%rd8')}")
    return replace(case, body=body.replace(_POLL, _POLL.replace("%rd2", "%rd8")))


def _of_any_size(case: Case) -> Case:
    return replace(case, bounds="", body=case.body.replace("//! PTX624", "//? PTX624"))


_EARLY = _case("threads still store when the CTA arrives", before="", arrive=_expect(_ARRIVE, "store", "read"),
               read=_NAMED_READ)  # fmt: skip
_LATE = _case(
    "threads read before the CTAs have arrived", after="", poll=_NAMED_POLL, read=_expect(_READ, "store", "poll")
)

#: In each round, all CTAs synchronize twice; the threads read words of another CTA, and then store their own ones.
_ROUNDS = """ARRIVED
again: add.u32 %r17, %r17, %r11;
BEFORE
@!%p1 bra met;
ARRIVE1
wait: ld.acquire.gpu.global.b32 %r12, [%rd2];
setp.lt.u32 %p4, %r12, %r17; @%p4 bra wait;
met: bar.sync 0;
READ
add.u32 %r17, %r17, %r11; bar.sync 0;
@!%p1 bra met2;
ARRIVE2
wait2: ld.acquire.gpu.global.b32 %r12, [%rd2];
setp.lt.u32 %p4, %r12, %r17; @%p4 bra wait2;
met2: bar.sync 0;
STORE
add.u32 %r18, %r18, 1; setp.lt.u32 %p5, %r18, %r6; @%p5 bra again;
nanosleep.u32 0;"""


def _rounds(name: str, **parts: str) -> Case:
    own = {"BEFORE": _BAR, "ARRIVE1": _ARRIVE, "ARRIVE2": _ARRIVE, "READ": _READ, "STORE": _STORE} | parts
    body = _ROUNDS.replace("ARRIVED", f"{_POSITION} mov.u32 %r17, 0;")
    for part, text in own.items():
        body = body.replace(part, text)
    return Case(name, body)


_AGAIN = """bar.sync 0; @!%p1 bra second;
again: ld.acquire.gpu.global.b32 %r12, [%rd2]; setp.ne.u32 %p4, %r12, %r17; @%p4 bra again;
second: bar.sync 0;"""
_RELAXED = _ARRIVE.replace("release", "relaxed")
#: The first CTA waits for one arrival, stores, and arrives again; the others wait for all of these arrivals.
_UNEQUAL = """mov.u32 %r10, %ctaid.x; mov.u32 %r11, %nctaid.x; add.u32 %r11, %r11, 1; setp.eq.u32 %p3, %r10, 0;
selp.u32 %r17, 1, %r11, %p3; @!%p1 bra end;
again: red.release.gpu.global.add.u32 [%rd2], 1;
wait: ld.acquire.gpu.global.b32 %r12, [%rd2]; setp.lt.u32 %p4, %r12, %r17; @%p4 bra wait;
@!%p3 bra last; setp.eq.u32 %p5, %r17, %r11; @%p5 bra end;
st.global.b32 [%rd1], %r11; mov.u32 %r17, %r11; bra again;
last: ld.global.b32 %r13, [%rd1];
end: nanosleep.u32 0;"""

#: A word that the kernel only reads selects the word that a thread loads, or the one that it stores.
_SELECT = """add.u64 %rd10, %rd2, %rd3; ld.global.u32 %r22, [%rd10+128]; mul.wide.u32 %rd11, %r22, 4;
add.u64 %rd9, %rd1, %rd11;"""
_SELECTED_READ = "ld.global.b32 %r13, [%rd9];"
#: The last word of a half comes first.
_REVERSED = """shr.u32 %r15, %r6, 1; sub.u32 %r15, %r15, 1; mad.lo.u32 %r22, %r10, %r16, %r1;
sub.u32 %r15, %r15, %r22; mul.wide.u32 %rd9, %r15, 4; add.u64 %rd9, %rd1, %rd9;"""
#: All CTAs synchronize once more, by another counter.
_ONCE_MORE = """bar.sync 0; @!%p1 bra met2; atom.release.gpu.global.add.u32 %r14, [%rd7+4], 1;
wait2: ld.acquire.gpu.global.b32 %r12, [%rd7+4]; setp.ne.u32 %p4, %r12, %r11; @%p4 bra wait2;
met2: bar.sync 0;"""


def _select(name: str, *undecided: str, **parts: str) -> Case:
    """The counter is a variable, so that the kernel does not write the buffer of the words that select others."""
    case = _case(name, **{"read": f"{_SELECT} {_SELECTED_READ}"} | parts)
    body = case.body.replace("[%rd2];", "[%rd7];").replace("[%rd2], 1;", "[%rd7], 1;")
    body = f"mov.u64 %rd7, counter; cvta.global.u64 %rd7, %rd7; cvta.to.global.u64 %rd7, %rd7;\n{body}"
    return replace(case, body=body, before=".global .b32 counter[2];", undecided=undecided)


def _warn(line: str, *labels: str) -> str:
    return f"{line} //? PTX624 {' '.join(labels)}"


SELECTED = (
    _select("data select the word that a thread reads"),
    _select(
        "data select the word that a thread reads, and threads read early",
        after="",
        poll=_NAMED_POLL,
        read=f"{_SELECT}\n{_warn(_SELECTED_READ, 'store', 'poll')}",
    ),
    _select(
        "data select the word that a thread reads, and threads still store when the CTA arrives",
        before="",
        arrive=_warn(_ARRIVE, "store", "read"),
        read=f"{_SELECT}\n{_SELECTED_READ} //= read",
    ),
    _select(
        "data select the words of both accesses, and threads read early",
        "PTX624",
        after="",
        store=f"{_SELECT} st.global.b32 [%rd9], %r1;",
    ),
    _select(
        "all CTAs synchronize once more before a thread reads the word that data select",
        "PTX624",
        before="",
        read=f"{_ONCE_MORE} {_SELECT} {_SELECTED_READ}",
    ),
    _case(
        "an argument selects the words, and threads read early",
        after="",
        poll=_NAMED_POLL,
        read=f"{_REVERSED}\n{_warn(_SELECTED_READ, 'store', 'poll')}",
    ),
    _case("an argument selects the words, with two barriers", read=f"{_REVERSED} {_SELECTED_READ}"),
)

#: The number of the thread in a block of any shape.
_NUMBER = """mov.u32 %r23, %tid.y; mov.u32 %r24, %tid.z; mov.u32 %r25, %ntid.y; mad.lo.u32 %r26, %r25, %r24, %r23;
mad.lo.u32 %r27, %r26, %r16, %r1;"""
_BY_WARP_AND_LANE = "and.b32 %r28, %r27, 31; and.b32 %r29, %r27, 2097120;"
_OF_FIRST_LANE = "setp.ne.u32 %p5, %r28, 0; setp.ne.u32 %p6, %r29, 0; @%p6 bra done; @%p5 bra done;"
#: The first thread by the sum of its positions.
_OF_SUM = "add.s32 %r30, %r1, %r23; neg.s32 %r31, %r24; setp.ne.s32 %p7, %r30, %r31; @%p7 bra met;"


def _first(name: str, *undecided: str, store: str, arrive: str) -> Case:
    """One thread stores, and one arrives and polls, without a barrier in between."""
    case = _case(name, before="", store=f"{_NUMBER} {store}\n{_STORE}\ndone:", arrive=f"{arrive} {_ARRIVE}", read="")
    body = case.body.replace("@!%p1 bra met;", "").replace("met: bar.sync 0;", "met: bar.sync 0; @!%p1 bra end;")
    return replace(case, body=f"{body} {_READ} end: nanosleep.u32 0;", undecided=undecided, bounds="")


FIRST_THREADS = (
    _first(
        "the first lane of the first warp stores, and the thread at the origin arrives",
        store=f"{_BY_WARP_AND_LANE} {_OF_FIRST_LANE}",
        arrive=_OF_SUM,
    ),
    _first(
        "the first thread stores, and the thread at the origin arrives",
        store="setp.ne.u32 %p5, %r27, 0; @%p5 bra done;",
        arrive=_OF_SUM,
    ),
    _first(
        "the first lane of each warp stores, and the thread at the origin arrives",
        "PTX624",
        store=f"{_BY_WARP_AND_LANE} setp.ne.u32 %p5, %r28, 0; @%p5 bra done;",
        arrive=_OF_SUM,
    ),
    _first(
        "the first thread along x stores, and the thread at the origin arrives",
        "PTX624",
        store="setp.ne.u32 %p5, %r1, 0; @%p5 bra done;",
        arrive=_OF_SUM,
    ),
)

CASES = (
    *SELECTED,
    *FIRST_THREADS,
    _rounds("in each round, the CTAs synchronize before the reads and before the stores"),
    _rounds(
        "in each round, the CTAs arrive before threads have stored",
        BEFORE="",
        ARRIVE1=_expect(_ARRIVE, "store", "read"),
        READ=_NAMED_READ,
    ),
    _rounds(
        "in each round, the first arrival does not release the stores",
        ARRIVE1=_expect(_RELAXED, "store", "read"),
        READ=_NAMED_READ,
    ),
    Case("CTAs wait for different numbers of arrivals", _UNEQUAL),
    Case(
        "CTAs that wait for different numbers of arrivals acquire nothing",
        _UNEQUAL.replace("ld.acquire.gpu", "ld.relaxed.gpu")
        .replace("st.global.b32 [%rd1]", "\nst.global.b32 [%rd1]")
        .replace("[%rd1], %r11;", "[%rd1], %r11; //= store //! PTX624 read poll\n")
        .replace("wait:", "\nwait:")
        .replace("[%rd2]; setp", "[%rd2]; //= poll\nsetp")
        .replace("ld.global.b32 %r13, [%rd1];", "ld.global.b32 %r13, [%rd1]; //= read //! PTX624 store poll"),
    ),
    _case("the thread that polls acquires later", poll=_POLL.replace("acquire", "relaxed"), after=_AGAIN),
    _case(
        "the thread that polls never acquires",
        poll=f"{_POLL.replace('acquire', 'relaxed')} //= poll",
        after=_AGAIN.replace("acquire", "relaxed"),
        read=_expect(_READ, "store", "poll"),
    ),
    _case("two barriers of the CTA around that of the grid"),
    _EARLY,
    _LATE,
    _case(
        "each thread reads its own word, and the CTA arrives early",
        before="",
        read=_READ.replace("rd6", "rd5"),
        store="@%p1 st.global.b32 [%rd5], %r1;",
    ),
    _case("all CTAs share a long loop", store=_SHARED_LOOP),
    _case(
        "all CTAs share a long loop, and arrive early",
        store=_SHARED_LOOP,
        before="",
        arrive=_expect(_ARRIVE, "store", "read"),
        read=_NAMED_READ,
    ),
    _case(
        "all CTAs share a long loop, arrive early, and reset the counters in the end",
        store=_SHARED_LOOP,
        before="",
        arrive=_expect(_ARRIVE, "store", "read"),
        read=f"{_NAMED_READ}\n{_RESET}",
    ),
    _case(
        "all CTAs share a long loop, and reset the counters in the end", store=_SHARED_LOOP, read=f"{_READ} {_RESET}"
    ),
    _case(
        "strong reads of weights order nothing, with barriers", read=f"{_STREAM}\n{_READ}", after=f"{_BAR} {_STREAM}"
    ),
    _case(
        "strong reads of weights order nothing, and threads read early",
        after=_STREAM,
        poll=_NAMED_POLL,
        read=f"{_expect(_READ, 'store', 'poll')}\n{_BAR} @!%p1 bra end;\n{_ARRIVE.replace('%rd2', '%rd2+4')} end:",
    ),
    _in_workspace(_case("a reduction into another buffer than the workspace", before=f"{_BAR}\n{_OTHER_COUNTER}")),
    _in_workspace(replace(_LATE, name="the counter is in the workspace, and threads read early")),
    _of_any_size(replace(_case("a block of any size"))),
    _of_any_size(replace(_LATE, name="a block of any size, whose threads read early")),
)
