"""PTX624: data that a flag in global memory should order; each wrong kernel with its correct twin."""

from __future__ import annotations

from dataclasses import replace

from tests.rules.support import Case

_FENCE = "fence.acq_rel.gpu;"
_POLL = "ld.relaxed.gpu.global.b32 %r12, [%rd2];"
_FLAG = "st.relaxed.gpu.global.b32 [%rd2], 1;"
_READ = "ld.global.b32 %r13, [%rd4];"
_NAMED_READ = f"{_READ} //= read"
_AFTER_BARRIER = "bar.sync 0; @!%p1 bra end;"
_STORE = "st.global.b32 [%rd4], %r1;"


def _case(name: str, **parts: str) -> Case:
    """The first CTA stores a word for each thread and sets a flag; the others wait for it and read. parts: other code.

    released, acquired: between the stores and the flag, and between the poll and the reads.
    """
    own = {
        "store": _STORE,
        "released": f"bar.sync 0; @!%p1 bra end; {_FENCE}",
        "flag": _FLAG,
        "poll": _POLL,
        "acquired": _FENCE,
        "barrier": "bar.sync 0;",
        "read": _READ,
    } | parts
    return Case(
        name,
        f"""mov.u32 %r10, %ctaid.x; setp.ne.u32 %p3, %r10, 0; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3;
@%p3 bra use;
{own["store"]} //= store
{own["released"]}
{own["flag"]}
bra end;
use: @!%p1 bra ready;
wait: {own["poll"]}
setp.eq.u32 %p4, %r12, 0; @%p4 bra wait; {own["acquired"]}
ready: {own["barrier"]}
{own["read"]}
end: nanosleep.u32 0;""",
    )


def _expect(part: str, *labels: str) -> str:
    return f"{part} //! PTX624 {' '.join(labels)}"


_NAMED_POLL, _NAMED_FLAG = f"{_POLL} //= poll", f"{_FLAG} //= flag"
_UNKNOWN = "ld.global.b32 %r14, [%rd1]; mul.wide.u32 %rd5, %r14, 4; add.u64 %rd4, %rd4, %rd5;"

_FUNCTIONS = """.func signal(.param .b64 at) { .reg .b64 %a; ld.param.b64 %a, [at];
fence.acq_rel.gpu; st.relaxed.gpu.global.b32 [%a], 1; ret; }
.func await(.param .b64 at) { .reg .pred %p; .reg .b32 %v; .reg .b64 %a; ld.param.b64 %a, [at];
wait: ld.ORDER.gpu.global.b32 %v, [%a]; setp.eq.u32 %p, %v, 0; @%p bra wait; ret; }"""


def _call(name: str) -> str:
    return f"{{ .param .b64 a; st.param.b64 [a], %rd2; call {name}, (a); }}"


def _with_functions(name: str, *undecided: str, order: str = "acquire", **parts: str) -> Case:
    before = _FUNCTIONS.replace("ORDER", order)
    return replace(_case(name, **parts), before=before, undecided=undecided)


_NUMBER = "mov.u32 %r10, %ctaid.x; mul.wide.u32 %rd3, %r10, 4; add.u64 %rd4, %rd2, %rd3;"
_ARRIVE = "red.release.gpu.global.add.u32 [%rd1], 1;"
_AWAIT_ALL = """mov.u32 %r11, %nctaid.x;
all: ld.acquire.gpu.global.b32 %r12, [%rd1]; setp.ne.u32 %p4, %r12, %r11; @%p4 bra all;"""


def _grid(name: str, between: str, *, after: str = "", word: str = "%rd2", is_race: bool = False) -> Case:
    """Thread 0 of each CTA stores a word, and reads that of the first CTA."""
    read = f"ld.global.b32 %r13, [{word}];{' //! PTX624 store' if is_race else ''}"
    return Case(
        name,
        f"""@!%p1 bra end; {_NUMBER}
st.global.b32 [%rd4], %r1; //= store
{between}
{read}
{after}
end: nanosleep.u32 0;""",
    )


GRIDS = (
    _grid("a fence does not order CTAs", _FENCE, is_race=True),
    _grid("each CTA reads its own word", _FENCE, word="%rd4"),
    _grid("each CTA reads words that none stores", _FENCE, word="%rd2+-4"),
    _grid("a barrier of the grid orders the CTAs", f"{_ARRIVE} {_AWAIT_ALL}"),
    _grid("the barrier of the grid is after the read", "", after=f"{_ARRIVE} {_AWAIT_ALL}", is_race=True),
    _grid("nothing uses what the CTA acquires", f"{_ARRIVE} ld.acquire.gpu.global.b32 %r12, [%rd1];", is_race=True),
    _grid("another grid may order the CTAs", _AWAIT_ALL.replace("%r12, [%rd1]", "%r12, [%rd1+64]")),
    Case(
        "the number of the CTA does not decide the word",
        "@!%p1 bra end; mov.u32 %r10, %ctaid.x; st.global.b32 [%rd2], %r10; ld.global.b32 %r13, [%rd2];"
        " end: nanosleep.u32 0;",
    ),
)

_ALONG_Y = tuple(
    replace(each, body=each.body.replace("%ctaid.x", "%ctaid.y").replace("%nctaid.x", "%nctaid.y"))
    for each in (
        _grid("along the y axis, a fence does not order CTAs", _FENCE, is_race=True),
        _grid("along the y axis, a barrier of the grid orders the CTAs", f"{_ARRIVE} {_AWAIT_ALL}"),
        _case("along the y axis, fences release and acquire"),
        _case(
            "along the y axis, nothing acquires", acquired="", poll=_NAMED_POLL, read=_expect(_READ, "store", "poll")
        ),
    )
)

#: Thread 0 of each CTA reads the word of the CTA before it, adds its own number and passes the sum on.
_CHAIN = """@!%p1 bra end; mov.u32 %r10, %ctaid.x; mul.wide.u32 %rd3, %r10, 4; add.u64 %rd4, %rd1, %rd3;
add.u64 %rd5, %rd2, %rd3; mov.u32 %r13, 0; setp.eq.u32 %p3, %r10, 0; @%p3 bra first;
wait: ld.acquire.gpu.global.b32 %r12, [%rd5+-4]; setp.eq.u32 %p4, %r12, 0; @%p4 bra wait;
ld.global.b32 %r13, [%rd4+-4];
first: add.u32 %r13, %r13, %r10;
PASS
end: nanosleep.u32 0;"""
_SUM, _SUM_FLAG = "st.global.b32 [%rd4], %r13;", "st.release.gpu.global.b32 [%rd5], 1;"

CHAINS = (
    Case("a chain of CTAs", _CHAIN.replace("PASS", f"{_SUM} {_SUM_FLAG}")),
    Case(
        "a chain of CTAs whose flag is set before the sum is stored",
        _CHAIN.replace("%r13, [%rd4+-4];", "%r13, [%rd4+-4]; //! PTX624 store").replace(
            "PASS", f"{_SUM_FLAG}\n{_SUM} //= store"
        ),
    ),
)

_STRONG_READ = "ld.volatile.global.b32 %r13, [%rd4];"

CASES = (
    *GRIDS,
    *CHAINS,
    *_ALONG_Y,
    _case("a strong read after an acquire", read=_STRONG_READ),
    _case(
        "nothing acquires before a strong read",
        acquired="",
        poll=_NAMED_POLL,
        read=_expect(_STRONG_READ, "store", "poll"),
    ),
    replace(
        _case("no flag follows the store", released="", store="", flag=f"{_FLAG} {_FENCE} {_UNKNOWN} {_STORE}"),
        undecided=("PTX624",),
    ),
    replace(
        _case(
            "a compiler moved the weak poll out of its loop",
            poll="ld.global.b32 %r12, [%rd2]; setp.ne.u32 %p4, %r12, 0; @%p4 bra ready; hang: bra hang;",
        ),
        undecided=("PTX624",),
    ),
    _case("fences release and acquire"),
    _case(
        "volatile accesses and fences", flag="st.volatile.global.b32 [%rd2], 1;", poll="ld.volatile.b32 %r12, [%rd2];"
    ),
    _case(
        "the flag releases and the poll acquires",
        released=_AFTER_BARRIER,
        acquired="",
        flag=_FLAG.replace("relaxed", "release"),
        poll=_POLL.replace("relaxed", "acquire"),
    ),
    _case("a reduction releases", released=_AFTER_BARRIER, flag="red.release.gpu.global.add.u32 [%rd2], 1;"),
    _case("every thread releases before the barrier", released=f"{_FENCE} bar.sync 0; @!%p1 bra end;"),
    _case(
        "fences of one direction each",
        released=f"{_AFTER_BARRIER} fence.release.gpu;",
        acquired="fence.acquire.gpu;",
    ),
    _case(
        "an acquire releases nothing",
        released=f"{_AFTER_BARRIER} fence.acquire.gpu;",
        flag=_expect(_FLAG, "store", "read"),
        read=_NAMED_READ,
    ),
    _case(
        "a release acquires nothing",
        acquired="fence.release.gpu;",
        poll=_NAMED_POLL,
        read=_expect(_READ, "store", "poll"),
    ),
    _case("nothing acquires", acquired="", poll=_NAMED_POLL, read=_expect(_READ, "store", "poll")),
    _case(
        "a fence of the CTA acquires nothing of others",
        acquired="fence.acq_rel.cta;",
        poll=_NAMED_POLL,
        read=_expect(_READ, "store", "poll"),
    ),
    _case(
        "the loop of the poll stores to local memory, and nothing acquires",
        acquired="",
        poll=f".local .b32 slot; st.local.b32 [slot], %r1;\n{_NAMED_POLL}",
        read=_expect(_READ, "store", "poll"),
    ),
    _case(
        "the loop of the poll counts in global memory, and nothing acquires",
        acquired="",
        poll=f"red.relaxed.gpu.global.add.u32 [%rd2+64], 1;\n{_NAMED_POLL}",
        read=_expect(_READ, "store", "poll"),
    ),
    _with_functions("a function releases and sets the flag", released=_AFTER_BARRIER, flag=_call("signal")),
    _with_functions(
        "a function sets the flag while others still store", "PTX624", released="@!%p1 bra end;", flag=_call("signal")
    ),
    _with_functions("a function polls and acquires", poll=f"{_call('await')} mov.u32 %r12, 1;", acquired=""),
    _with_functions(
        "a function polls, and nothing acquires",
        "PTX624",
        order="relaxed",
        poll=f"{_call('await')} mov.u32 %r12, 1;",
        acquired="",
    ),
    _case("nothing releases", released=_AFTER_BARRIER, flag=_expect(_FLAG, "store", "read"), read=_NAMED_READ),
    _case(
        "the fence is after the flag",
        released=_AFTER_BARRIER,
        flag=f"{_expect(_FLAG, 'store', 'read')}\n{_FENCE}",
        read=_NAMED_READ,
    ),
    _case(
        "others still store when the flag is set",
        released=f"@!%p1 bra end; {_FENCE}",
        flag=_expect(_FLAG, "store", "read"),
        read=_NAMED_READ,
    ),
    _case("others do not wait for the poll", barrier="", poll=_NAMED_POLL, read=_expect(_READ, "store", "poll")),
    _case("the poll is weak", poll=_expect("ld.global.b32 %r12, [%rd2];", "flag"), flag=_NAMED_FLAG),
    _case(
        "the flag is of the scope of its CTA",
        released="bar.sync 0; @!%p1 bra end; fence.acq_rel.gpu;",
        flag=_expect("st.relaxed.cta.global.b32 [%rd2], 1;", "poll"),
        poll=_NAMED_POLL,
    ),
    _case(
        "a half of the flag is written", flag=_expect("st.relaxed.gpu.global.b16 [%rd2], 1;", "poll"), poll=_NAMED_POLL
    ),
    _case(
        "other bytes are read than are stored, and nothing acquires", acquired="", read="ld.global.b32 %r13, [%rd2+8];"
    ),
    replace(
        _case("data decide which bytes are stored, and nothing acquires", acquired="", store=f"{_UNKNOWN} {_STORE}"),
        undecided=("PTX624",),
    ),
    _case("data decide which bytes are stored, and fences order", store=f"{_UNKNOWN} {_STORE}"),
    replace(_case("no thread sets the flag, and nothing acquires", flag="", acquired=""), undecided=("PTX624",)),
    _case(
        "no thread sets the flag, and a fence of the system acquires",
        flag="",
        acquired="fence.acq_rel.sys;",
        poll=_POLL.replace("gpu", "sys"),
    ),
    replace(
        _case("a flag of the system, and a fence of the GPU", flag="", poll=_POLL.replace("gpu", "sys")),
        undecided=("PTX624",),
    ),
    Case(
        "each CTA sets one flag and waits for that of the CTA before it",
        """mov.u32 %r10, %ctaid.x; mul.wide.u32 %rd3, %r10, 4; add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd1, %rd3;
@!%p1 bra end; setp.eq.u32 %p3, %r10, 0; @%p3 bra first;
wait: ld.volatile.global.b32 %r12, [%rd4+-4]; setp.eq.u32 %p4, %r12, 0; @%p4 bra wait; membar.gl;
ld.global.b32 %r13, [%rd5+-4];
first: st.global.b32 [%rd5], %r1; membar.gl; st.volatile.global.b32 [%rd4], 1;
end: nanosleep.u32 0;""",
    ),
)  # fmt: skip
