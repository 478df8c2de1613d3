"""Kernels that call functions: the variables of each, and the known state after the call."""

from __future__ import annotations

from tests.rules.support import Case

#: Initializes `bar` for some arrivals; all threads arrive and wait.
_MEET = """@%p1 mbarrier.init.shared.b64 [{bar}], {count};{sets}
bar.sync 0;
mbarrier.arrive.shared.b64 {state}, [{bar}];{arrives}
again: mbarrier.test_wait.shared.b64 %p3, [{bar}], {state};{waits}
@!%p3 bra again;"""

_FUNCTION = """.func {name}{parameters} {{ .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
{body}
ret; }}"""


def _function(name: str, body: str, parameters: str = "") -> str:
    return _FUNCTION.format(name=name, body=body, parameters=parameters)


def _meet(bar: str, count: str, state: str, *, stuck: bool = False) -> str:
    marks = (" //= sets", " //= arrives", " //! PTX504 arrives sets") if stuck else ("", "", "")
    sets, arrives, waits = marks
    return _MEET.format(bar=bar, count=count, state=state, sets=sets, arrives=arrives, waits=waits)


_OWN_BARRIER = _function("meet", ".shared .align 8 .b64 bar;\n" + _meet("bar", "128", "%rd1"))
_OWN_LOCALS = _function(
    "scribble",
    ".local .align 8 .b8 depot[16]; mov.b64 %rd1, depot; mov.b32 %r2, 3; st.local.b32 [%rd1], %r2;\n"
    "ld.local.b32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 3; @%p2 bar.sync 0;",
)
_SETS = _function("sets", "ld.param.b64 %rd1, [p]; mov.b32 %r2, {};\nst.b32 [%rd1], %r2;", "(.param .b64 p)")
_KEEPS = ".local .align 8 .b8 depot[16]; mov.b64 %rd3, depot; mov.b32 %r10, {};\nst.local.b32 [%rd3], %r10;"
_GIVES = "cvta.local.u64 %rd4, %rd3; {{ .param .b64 q; st.param.b64 [q], %rd4; call {}, (q); }}"
_LOADS = "ld.local.b32 %r11, [%rd3];\n"
_COUNTS, _STUCK = _LOADS + _meet("bars", "%r11", "%rd5"), _LOADS + _meet("bars", "%r11", "%rd5", stuck=True)

_MANY = "".join(f".shared .align 16 .b8 part{number}[40000];\n" for number in range(40))
_IN_PART = _function("in_part", "mov.u32 %r2, part38; st.shared.u32 [%r2], %r1;\nst.shared.u32 [part39+4], %r1;")

_PRINT = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);"
_PRINTS = """{ .param .b64 a; st.param.b64 [a], %rd1; .param .b64 b; st.param.b64 [b], %rd1; .param .b32 r;
call.uni (r), vprintf, (a, b); }"""
_TAKE = ".extern .func (.param .b64 r) malloc(.param .b64 a); .extern .func free(.param .b64 a);"
_TAKES = """{ .param .b64 a; st.param.b64 [a], 16; .param .b64 r; call.uni (r), malloc, (a); ld.param.b64 %rd9, [r]; }
{ .param .b64 a; st.param.b64 [a], %rd9; call.uni free, (a); }"""
_LAUNCH = ".extern .func (.param .b32 r) {}(.param .b64 a, .param .b64 b);"
_LAUNCHES = """{{ .param .b64 a; st.param.b64 [a], %rd1; .param .b64 b; st.param.b64 [b], 0; .param .b32 r;
call.uni (r), {}, (a, b); }}"""
_ASSERT = ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);"
_ASSERTS = """{ .param .b64 a; st.param.b64 [a], %rd1; .param .b64 b; st.param.b64 [b], %rd1; .param .b32 c;
st.param.b32 [c], 7; .param .b64 d; st.param.b64 [d], %rd1; .param .b64 e; st.param.b64 [e], 1;
call.uni __assertfail, (a, b, c, d, e); }"""
_WAITS = "wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra wait;"
_HOLLOW = """cp.async.cg.shared.global [%r4], [%rd1], 16; //! PTX301 wait
{}
cp.async.wait_group 0; //= wait"""
_RACE = "@%p1 st.shared.u32 [%r2], %r6; //= write\n{}\nld.shared.u32 %r10, [%r2]; //! PTX621 write"

#: The threads that only large blocks have call code that is not here; the others do what follows.
_UPPER_CALL = """{first} bar.sync 0;
.reg .b64 %f; ld.global.u64 %f, [%rd1]; none: .callprototype _ ();
setp.lt.u32 %p4, %r1, 128; @%p4 bra low; call %f, (), none; bra end;
low: {rest}
end:"""
_INIT = "@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;"
_EXPECT = "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r5], 64;"
_ARRIVE = "@%p1 mbarrier.arrive.shared.b64 %rd9, [%r5];"

CASES = (
    Case("printing commits no group", _HOLLOW.format(_PRINTS), before=_PRINT),
    Case("printing orders no threads", _RACE.format(_PRINTS), before=_PRINT),
    Case("allocating and freeing memory commits no group", _HOLLOW.format(_TAKES), before=_TAKE),
    *[
        Case(
            f"the device runtime commits no group: {name}",
            _HOLLOW.format(_LAUNCHES.format(name)),
            before=_LAUNCH.format(name),
        )
        for name in ("cudaLaunchDeviceV2", "cudaLaunchDevice_ptsz", "__cudaCDP2LaunchDeviceV2_ptsz")
    ],
    Case(
        "a function of the module with the name of a system function is analyzed by its body",
        f"cp.async.cg.shared.global [%r4], [%rd1], 16;\n{_PRINTS}\ncp.async.wait_group 0;",
        before=".func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b) { cp.async.commit_group; ret; }",
    ),
    Case(
        "cooperative groups wait for others",
        f"@%p1 st.shared.u32 [%r2], %r6; {_LAUNCHES.format('cudaCGSynchronize')} ld.shared.u32 %r10, [%r2];",
        before=_LAUNCH.format("cudaCGSynchronize"),
        undecided=("PTX300", "PTX621"),
    ),
    Case(
        "an assertion that may fail commits no group, and the other threads continue",
        _HOLLOW.format(f"ld.global.u32 %r10, [%rd1]; setp.ne.u32 %p3, %r10, 0; @%p3 bra good;\n{_ASSERTS}\ngood:"),
        before=_ASSERT,
    ),
    Case(
        "no code follows an assertion that fails",
        f"@!%p1 bra end; {_ASSERTS}\ncp.async.cg.shared.global [%r4], [%rd1], 16; end:",
        before=_ASSERT,
    ),
    Case(
        "a missing wait after an indirect call is a question",
        """.reg .b64 %f; mov.b64 %f, elsewhere; none: .callprototype _ ();
cp.async.cg.shared.global [%r4], [%rd1], 16; call %f, (), none; cp.async.wait_group 0;""",
        before=".extern .func elsewhere;",
        undecided=("PTX300", "PTX301"),
    ),
    *[
        Case(
            f"code that is not here, in threads that small blocks lack, may {what}: {bounds or 'no size'}",
            _UPPER_CALL.format(first=first, rest=rest),
            bounds=bounds,
            target="sm_90a",
            undecided=undecided,
        )
        for bounds in (".maxntid 256, 1, 1", "")
        for what, first, rest, undecided in (
            ("arrive", _INIT, _WAITS, ("PTX300", "PTX503")),
            ("copy the bytes", _INIT, f"{_EXPECT} {_WAITS}", ("PTX300", "PTX503")),
            ("arrive second", _INIT.replace("1;", "2;"), f"{_ARRIVE} {_WAITS}", ("PTX300", "PTX503", "PTX504")),
            ("come to the barrier", "", "bar.sync 1, 256;", ("PTX300", "PTX601")),
        )
    ],
    *[
        Case(
            f"an mbarrier that code that is not here may initialize: {bounds or 'no size'}",
            _UPPER_CALL.format(first="", rest=f"bar.sync 0; {_ARRIVE} {_WAITS}").replace("bra end;", "").lstrip(),
            bounds=bounds,
            undecided=undecided,
        )
        for bounds, undecided in (
            (".maxntid 256, 1, 1", ("PTX300", "PTX501", "PTX503", "PTX603")),
            ("", ("PTX501",)),
        )
    ],
    Case(
        "a cluster of small blocks proves no missing arrival where larger ones execute code that is not here",
        _UPPER_CALL.format(first=_INIT, rest=f"{_WAITS} barrier.cluster.arrive; barrier.cluster.wait;"),
        bounds=".maxntid 160, 1, 1 .explicitcluster .reqnctapercluster 2, 1, 1",
        undecided=("PTX300", "PTX503", "PTX613"),
    ),
    Case(
        "all threads wait if the only arrival is in a function that they call for large arguments only",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0;
@!%p1 bra wait;
setp.lt.u32 %p4, %r6, 1073741824; @%p4 bra end;
{{ .param .b32 q; st.param.b32 [q], %r5; call arrive, (q); }}
{_WAITS} //! PTX503
end:""",
        before=_function(
            "arrive", "ld.param.b32 %r2, [a];\nmbarrier.arrive.shared.b64 %rd1, [%r2];", "(.param .b32 a)"
        ),
        undecided=("PTX300",),
    ),
    Case(
        "an mbarrier of the caller is not one of the callee",
        _meet("bars", "128", "%rd5") + "\ncall meet;",
        before=_OWN_BARRIER,
    ),
    Case(
        "an mbarrier of a callee is initialized by each call of it",
        "call meet;\nbar.sync 0;\ncall meet;",
        before=_OWN_BARRIER.replace(
            "@%p1 mbarrier.init.shared.b64 [bar], 128;", "@%p1 mbarrier.init.shared.b64 [bar], 128; //! PTX502"
        ),
    ),
    Case(
        "local memory of the caller is not that of the callee",
        f"{_KEEPS.format(128)} call scribble; {_COUNTS}",
        before=_OWN_LOCALS,
    ),
    Case(
        "local memory of the caller holds too much, whatever the callee has",
        f"{_KEEPS.format(129)} call scribble; {_STUCK}",
        before=_OWN_LOCALS,
    ),
    Case(
        "a callee stores through an address of the caller's local memory",
        f"{_KEEPS.format(129)} {_GIVES.format('sets')} {_COUNTS}",
        before=_SETS.replace("{}", "128"),
    ),
    Case(
        "a callee stores too much through an address of the caller's local memory",
        f"{_KEEPS.format(128)} {_GIVES.format('sets')} {_STUCK}",
        before=_SETS.replace("{}", "129"),
    ),
    Case(
        "code that is not here may store through an address of the caller's local memory",
        f"{_KEEPS.format(7)} {_GIVES.format('elsewhere')} ld.local.b32 %r11, [%rd3];\n"
        "mov.u32 %r12, tile; add.u32 %r12, %r12, %r11; ld.shared.u32 %r13, [%r12];",
        before=".extern .func elsewhere(.param .b64 p);",
        undecided=("PTX207", "PTX300"),
    ),
    Case(
        "a module has more shared memory than a CTA, and its kernel calls a function that uses some of it",
        "call in_part;\nmov.u32 %r10, part39; @%p1 st.shared.u32 [%r10], %r1;",
        before=_MANY + _IN_PART,
        undecided=("PTX621",),
    ),
    Case(
        "nothing is reported for a kernel that mentions more shared memory than a CTA can have",
        "".join(f"mov.u32 %r10, part{number}; st.shared.u32 [%r10], %r1;\n" for number in range(10))
        + "cp.async.ca.shared.global [%r4], [%rd1], 16; ld.shared.u32 %r11, [%r4];",
        before=_MANY,
        undecided=("PTX300",),
    ),
)
