"""PTX623: stores of CTAs before an atomic, and the reads of the CTA that its result selects."""

from __future__ import annotations

from dataclasses import replace

from tests.rules.support import Case

_FENCE = "fence.acq_rel.gpu;"
_STORE = "mov.u32 %r10, %ctaid.x; mul.wide.u32 %rd3, %r10, 4; add.u64 %rd4, %rd2, %rd3; st.global.b32 [%rd4], %r1;"
_COUNT = "atom.global.add.u32 %r11, [%rd1], 1;"
_TICKET = "atom.global.add.u32 %r15, [%rd1+64], 1; st.global.b32 [%rd1+128], %r15;"
_VARIABLE = ".global .align 4 .u32 counted;"
_COUNT_VARIABLE = "mov.u64 %rd7, counted; atom.global.add.u32 %r11, [%rd7], 1;"
_LAST = "mov.u32 %r12, %nctaid.x; sub.u32 %r12, %r12, 1; setp.ne.u32 %p4, %r11, %r12; @%p4 bra end;"
_READ = "ld.global.b32 %r13, [%rd2];"
#: CTAs along the y axis share a counter, and words of the buffer.
_ROW_STORE = f"mov.u32 %r16, %ctaid.x; mul.wide.u32 %rd5, %r16, 1024; add.u64 %rd5, %rd5, %rd2; {_STORE}".replace(
    "%ctaid.x; mul.wide.u32 %rd3", "%ctaid.y; mul.wide.u32 %rd3"
).replace("%rd4, %rd2, %rd3", "%rd4, %rd5, %rd3")
_ROW_COUNT = f"mul.wide.u32 %rd6, %r16, 4; add.u64 %rd6, %rd6, %rd1; {_COUNT}".replace("[%rd1]", "[%rd6]")
_ROW_LAST, _ROW_READ = _LAST.replace("%nctaid.x", "%nctaid.y"), _READ.replace("%rd2", "%rd5")
_GROUP = "mov.u32 %r16, %ctaid.x; shr.u32 %r17, %r16, 2; mul.wide.u32 %rd6, %r17, 4; add.u64 %rd6, %rd6, %rd1;"
_GROUP_COUNT = f"{_GROUP} {_COUNT}".replace("[%rd1]", "[%rd6]")
_DATA = "ld.global.b32 %r14, [%rd1+8];"
_STORE_BY_DATA = f"{_DATA} setp.eq.u32 %p5, %r14, 0; @%p5 bra skip; {_STORE} skip:"
_STORE_AT_DATA = _STORE.replace("st.global", f"{_DATA} cvt.u64.u32 %rd8, %r14; add.u64 %rd4, %rd4, %rd8; st.global")
_LAST_BY_DATA = f"{_LAST} {_DATA} setp.eq.u32 %p5, %r14, 0; @%p5 bra end;"


def _case(name: str, between: str = "", after: str = _FENCE, *, mark: str = "", **parts: str) -> Case:
    """Thread 0 of each CTA stores and counts; the last one reads the word of the first CTA. parts: replacements."""
    store, count = parts.get("store", _STORE), parts.get("count", _COUNT)
    last, read = parts.get("last", _LAST), parts.get("read", _READ)
    body = f"""setp.ne.u32 %p3, %r1, 0; @%p3 bra end;
{store} //= store
{between}
{count} //= count
{after} {last}
{read} {mark}
end: nanosleep.u32 0;"""
    return Case(name, body)


_FOUND = "//! PTX623 count store"


def _all_threads(name: str, between: str, mark: str = "") -> Case:
    """Each thread stores a word, and thread 0 counts; the last CTA reads the word of the second thread."""
    store = _STORE.replace("mul.wide.u32", "mad.lo.u32 %r10, %r10, 128, %r1; mul.wide.u32")
    count, read = f"@!%p1 bra end; {_COUNT}", _READ.replace("%rd2", "%rd2+4")
    case = _case(name, between, store=store, count=count, read=read, mark=mark)
    return replace(case, body=case.body.replace("setp.ne.u32 %p3, %r1, 0; @%p3 bra end;", ""))


CASES = (
    _case("nothing is released before the count", mark=_FOUND),
    replace(_case("the counter is a variable", mark=_FOUND, count=_COUNT_VARIABLE), before=_VARIABLE),
    replace(_case("a fence releases before the count in a variable", _FENCE, count=_COUNT_VARIABLE), before=_VARIABLE),
    _case("the end of an earlier grid orders no CTAs", mark=_FOUND, store=f"griddepcontrol.wait; {_STORE}"),
    _case("a fence releases before the count", _FENCE),
    _case(
        "each row of CTAs has a counter",
        mark=_FOUND,
        store=_ROW_STORE,
        count=_ROW_COUNT,
        last=_ROW_LAST,
        read=_ROW_READ,
    ),
    _case(
        "a fence releases before the count of a row",
        _FENCE,
        store=_ROW_STORE,
        count=_ROW_COUNT,
        last=_ROW_LAST,
        read=_ROW_READ,
    ),
    _all_threads("other threads store, and no barrier orders them before the count", _FENCE, mark=_FOUND),
    _all_threads("other threads store, and a barrier orders them before the count", f"{_FENCE} bar.sync 0;"),
    replace(
        _case("each group of CTAs of a row has a counter", count=_GROUP_COUNT, after=""),
        undecided=("PTX623",),
    ),
    _case("a fence releases before the count of a group of CTAs", _FENCE, count=_GROUP_COUNT),
    _case("each CTA has a counter", count=_GROUP_COUNT.replace("shr.u32 %r17, %r16, 2", "mov.b32 %r17, %r16")),
    replace(
        _case("a function may count", count="{ .param .b32 r; call (r), count, (); ld.param.b32 %r11, [r]; }"),
        before=""".global .align 4 .u32 counted; .func (.param .b32 r) count() { .reg .b32 %n;
atom.global.add.u32 %n, [counted], 1; st.param.b32 [r], %n; ret; }""",
        undecided=("PTX623",),
    ),
    replace(
        _case(
            "a function that counts and orders", count="{ .param .b32 r; call (r), count, (); ld.param.b32 %r11, [r]; }"
        ),
        before=""".global .align 4 .u32 counted; .func (.param .b32 r) count() { .reg .b32 %n;
atom.acq_rel.gpu.global.add.u32 %n, [counted], 1; st.param.b32 [r], %n; ret; }""",
    ),
    _case("a fence of the CTA releases nothing to others", "fence.acq_rel.cta;", mark=_FOUND),
    _case("a fence that only acquires releases nothing", "fence.acquire.gpu;", mark=_FOUND),
    _case("fences of one direction each", "fence.release.gpu;", "fence.acquire.gpu;"),
    _case("the last CTA also adds to a total", mark=_FOUND, read=f"{_READ} red.global.add.u32 [%rd1+64], %r13;"),
    _case(
        "a fence releases before the count, and the last CTA adds",
        _FENCE,
        read=f"{_READ} red.global.add.u32 [%rd1+64], %r13;",
    ),
    replace(
        _case("a ticket of another word orders nothing before the count", store=f"{_TICKET} {_STORE}"),
        undecided=("PTX623",),
    ),
    _case("a release of another word before the count may order", "red.release.gpu.global.add.u32 [%rd1+64], 1;"),
    replace(
        _case(
            "the atomic releases itself, and nothing acquires",
            after="",
            count=_COUNT.replace("atom", "atom.release.gpu"),
        ),
        undecided=("PTX623",),
    ),
    _case("a fence acquires after an atomic that releases", count=_COUNT.replace("atom", "atom.release.gpu")),
    _case(
        "a poll acquires after an atomic that releases",
        after="all: ld.acquire.gpu.b32 %r16, [%rd9]; setp.lt.u32 %p6, %r16, %r11; @%p6 bra all;",
        count="""mov.u32 %r20, %envreg1; mov.b64 %rd9, {%r20, %r20};
atom.release.gpu.add.u32 %r11, [%rd9], 1;""",
    ),
    _case("the atomic releases itself", count=_COUNT.replace("atom", "atom.acq_rel.gpu")),
    _case("the atomic only acquires", count=_COUNT.replace("atom", "atom.acquire.gpu"), mark=_FOUND),
    _case("older fences release, too", "membar.gl;", "membar.gl;"),
    replace(_case("whether an acquire is needed after the count is open", _FENCE, ""), undecided=("PTX623",)),
    replace(
        _case("strict requires an acquire after the count", _FENCE, "", mark="//? PTX623 count store"),
        policy="strict",
    ),
    replace(_case("strict is content with both", _FENCE), policy="strict"),
    replace(
        _case(
            "strict is content with an atomic that acquires",
            _FENCE,
            "",
            count=_COUNT.replace("atom", "atom.acquire.gpu"),
        ),
        policy="strict",
    ),
    _case("other bytes are read than are stored", read=_READ.replace("%rd2", "%rd1+4")),
    _case(
        "the result of the atomic does not determine the reader", last="", read=f"{_READ} //! PTX624 store", after=""
    ),
    replace(_case("data decide which CTA stores", store=_STORE_BY_DATA), undecided=("PTX623",)),
    _case("a fence releases where data decide which CTA stores", _FENCE, store=_STORE_BY_DATA),
    replace(
        _case("data decide which CTA stores, and nothing acquires", _FENCE, "", store=_STORE_BY_DATA),
        undecided=("PTX623",),
    ),
    _case(
        "an atomic acquires where data decide which CTA stores",
        _FENCE,
        "",
        store=_STORE_BY_DATA,
        count=_COUNT.replace("atom", "atom.acquire.gpu"),
    ),
    replace(_case("data decide which CTA reads", last=_LAST_BY_DATA), undecided=("PTX623",)),
    _case("data decide which CTA reads another buffer", last=_LAST_BY_DATA, read=_READ.replace("%rd2", "%rd1+4")),
    _case("data decide which CTA reads its own part", last=_LAST_BY_DATA, read=_READ.replace("%rd2", "%rd4")),
    replace(_case("data decide the offset of the store", store=_STORE_AT_DATA), undecided=("PTX623",)),
    replace(
        _case(
            "data decide the address of the counter",
            count=f"{_DATA} cvt.u64.u32 %rd8, %r14; add.u64 %rd8, %rd8, %rd1; {_COUNT.replace('%rd1', '%rd8')}",
        ),
        undecided=("PTX623",),
    ),
    replace(
        _case(
            "a clock decides who reads",
            last=_LAST.replace("sub.u32", "mov.u32 %r15, %clock; prmt.b32 %r11, %r11, %r15, 0x3210; sub.u32"),
        ),
        undecided=("PTX623",),
    ),
    _case(
        "a flag in memory may be waited for besides",
        last=f"{_LAST} wait: ld.acquire.gpu.global.u32 %r14, [%rd1+8]; setp.eq.u32 %p5, %r14, 0; @%p5 bra wait;",
    ),
    _case("each CTA counts by itself", count=_COUNT.replace("%rd1", "%rd4+64")),
    _case("all CTAs store one word", store="st.global.b32 [%rd2], %r1;"),
    _case("the store is of the last CTA", store="", read=f"{_STORE} {_READ}"),
)
