"""PTX701 to PTX708 and PTX316: Tensor Memory allocated, used, waited for and deallocated."""

from __future__ import annotations

from typing import Literal

from tests.rules.support import Case

_ALLOCATE = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;"
_GIVE_BACK = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;"
_BEFORE = "tcgen05.fence::before_thread_sync;"
_AFTER = "tcgen05.fence::after_thread_sync;"
_MULTIPLY = "tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd6, %rd7, %r13, %p4;"
_COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];"
_LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r12];"
_STORE = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%r1};"
_LOADED = "tcgen05.wait::ld.sync.aligned;"
_STORED = "tcgen05.wait::st.sync.aligned;"
_WAIT = "again: mbarrier.try_wait.parity.shared::cta.b64 %p5, [bars], 0; @!%p5 bra again;"
_RELAXED = _WAIT.replace(".shared::cta", ".relaxed.cta.shared::cta")
_OUT = "st.global.b32 [%rd2], %r20;"
_PACK = "mov.b64 %rd7, {%r20, %r1};"
_LEAVE = f"{_BEFORE} bar.sync 0; @!%p3 bra end;\n{_GIVE_BACK}\nend:"

#: The first warp allocates, all threads read the address; %r12 has the lanes of the executing warp.
_BEGIN = f""".shared .align 16 .b8 base[16];
setp.lt.u32 %p3, %r1, 32; @%p1 mbarrier.init.shared::cta.b64 [bars], 1;
fence.proxy.async.shared::cta;
@!%p3 bra allocated;
{_ALLOCATE} //= allocate
allocated: {_BEFORE} bar.sync 0; //= barrier
ld.shared.u32 %r10, [base]; shr.u32 %r11, %r1, 5; shl.b32 %r11, %r11, 21; add.u32 %r12, %r10, %r11;
shr.u32 %r14, %r2, 4; cvt.u64.u32 %rd5, %r14; or.b64 %rd6, %rd5, 70437464178688; add.u64 %rd7, %rd6, 256;
mov.u32 %r13, 134742032; setp.ne.u32 %p4, %r1, %r1;
"""


def _case(name: str, body: str, begin: str = f"{_BEGIN}{_AFTER}\n", undecided: tuple[str, ...] = ()) -> Case:
    return Case(name, f"{begin}{body}", target="sm_100a", undecided=undecided)


_DATA = "ld.global.u32 %r22, [%rd1]; setp.eq.u32 %p6, %r22, 7; "
_ISSUE = f"@!%p1 bra issued;\n{_MULTIPLY} //= issue\n{_COMMIT} //= commit\nissued:\n"

ALLOCATION = (
    _case("the allocated columns are deallocated", _LEAVE),
    _case(
        "a warp that divides the address into its parts, and unites them, uses the columns until a barrier",
        f"""and.b32 %r16, %r10, 0xffff; and.b32 %r15, %r10, -65536;
add.u32 %r15, %r15, %r11; or.b32 %r12, %r15, %r16; {_LOAD} //= load
{_LOADED} {_OUT} @!%p3 bra end;\n{_GIVE_BACK} //! PTX708 load\nend:""",
    ),
    Case(
        "a function deallocates the columns",
        f"""{_BEGIN}{_AFTER}
{_BEFORE} bar.sync 0; @!%p3 bra end;
{{ .param .b32 columns; st.param.b32 [columns], %r10; call give_back, (columns); }}
end:""",
        target="sm_100a",
        before=f""".func give_back(.param .b32 columns) {{ .reg .b32 %r<12>; ld.param.b32 %r10, [columns];
{_GIVE_BACK}
ret; }}""",
        undecided=("PTX621",),
    ),
    _case("columns that are never deallocated are lost", "", _BEGIN.replace("//= allocate", "//! PTX701")),
    _case(
        "fewer columns than were taken are no deallocation",
        f"bar.sync 0; @!%p3 bra end;\n{_GIVE_BACK.replace('32;', '64;')} //! PTX701 allocate\nend:",
    ),
    _case(
        "without an allocation nothing can be deallocated",
        f"bar.sync 0; @!%p3 bra end;\n{_GIVE_BACK} //! PTX701\nend:",
        _BEGIN.replace(_ALLOCATE, "@%p1 st.shared.u32 [base], 0;"),
    ),
    _case("one lane is no warp", f"bar.sync 0;\n@%p1 {_GIVE_BACK} //! PTX701"),
    _case(
        "a CTA that gave up the permit may not allocate",
        f"{_LEAVE}\n",
        _BEGIN.replace(
            _ALLOCATE, f"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; //= permit\n{_ALLOCATE}"
        ).replace("//= allocate", "//! PTX701 permit"),
    ),
    _case(
        "a deallocation of a pair does not fit an allocation of one CTA",
        f"bar.sync 0; @!%p3 bra end;\n{_GIVE_BACK.replace('::1', '::2')} //! PTX702 allocate\nend:",
    ),
    _case(
        "a permit of a pair does not fit an allocation of one CTA",
        f"tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned; //! PTX702 allocate\n{_LEAVE}",
    ),
)

#: Two multiplications, each of which all warps load.
_TWICE = f"""mov.u32 %r15, 0; next: @!%p1 bra issued;
{_MULTIPLY} {{multiply}}
{_COMMIT} issued: {_WAIT.replace(" 0;", " %r15;")} {_AFTER}
{_LOAD.replace("{", "{{").replace("}", "}}")} {{load}}
{_LOADED} {_OUT} {_BEFORE} {{sync}} {_AFTER} add.u32 %r15, %r15, 1; setp.lt.u32 %p6, %r15, 2; @%p6 bra next;
{_LEAVE}"""

COMPLETION = (
    _case(
        "a multiplication into columns that another warp may still load",
        _TWICE.format(multiply="//! PTX706 load", load="//= load", sync="bar.warp.sync -1;"),
    ),
    _case(
        "a multiplication after a barrier of the warps that load its columns",
        _TWICE.format(multiply="", load="", sync="bar.sync 0;"),
    ),
    _case(
        "a commit before the last of many multiplications leaves that one out",
        f"""@!%p1 bra issued; mov.u32 %r15, 0;
next: setp.eq.u32 %p6, %r15, 9;
@%p6 {_COMMIT}
{_MULTIPLY} //= issue
add.u32 %r15, %r15, 1; setp.lt.u32 %p7, %r15, 10; @%p7 bra next;
issued: {_WAIT} {_AFTER}
{_LOAD} //! PTX704 issue
{_LOADED} {_OUT} {_LEAVE}""",
    ),
    _case(
        "a commit after the last of many multiplications includes all of them",
        f"""@!%p1 bra issued; mov.u32 %r15, 0;
next: {_MULTIPLY}
add.u32 %r15, %r15, 1; setp.lt.u32 %p7, %r15, 10; @%p7 bra next;
{_COMMIT}
issued: {_WAIT} {_AFTER} {_LOAD} {_LOADED} {_OUT} {_LEAVE}""",
    ),
    _case("a commit that was waited for", f"{_ISSUE}{_WAIT} {_AFTER} {_LOAD} {_LOADED} {_OUT} {_LEAVE}"),
    _case(
        "a barrier does not wait for a multiplication",
        f"{_ISSUE}bar.sync 0; {_AFTER}\n{_LOAD} //! PTX704 issue commit\n{_LOADED} {_OUT} {_LEAVE}",
    ),
    _case(
        "a wait for a phase that is complete at once observes no commit",
        f"""{_ISSUE}setp.lt.u32 %p6, %r6, 0; selp.b32 %r15, 0, 1, %p6; {_WAIT.replace(" 0;", " %r15;")} {_AFTER}
{_LOAD} //! PTX704 issue commit
{_LOADED} {_OUT} {_LEAVE}""",
    ),
    _case(
        "a wait after the load is too late",
        f"{_ISSUE}bar.sync 0; {_AFTER}\n{_LOAD} //! PTX704 issue commit\n{_LOADED} {_OUT} {_WAIT} {_LEAVE}",
    ),
    Case(
        "the wait of another lane after the load is too late, too",
        f"""{_BEGIN}{_AFTER}
@%p1 {_MULTIPLY} //= issue
@%p1 {_COMMIT} //= commit
{_LOAD} //! PTX704 issue commit
{_LOADED} {_OUT} {_WAIT} {_LEAVE}""",
        target="sm_100a",
        bounds=".reqntid 32, 1, 1",
    ),
    Case(
        "the wait of another lane before the load",
        f"""{_BEGIN}{_AFTER}
@%p1 {_MULTIPLY}
@%p1 {_COMMIT}
@%p1 bra load; {_WAIT} load: bar.warp.sync 0xffffffff; {_AFTER} {_LOAD} {_LOADED} {_OUT} {_LEAVE}""",
        target="sm_100a",
        bounds=".reqntid 32, 1, 1",
    ),
    _case(
        "the commit of one multiplication includes earlier ones",
        f"@!%p1 bra issued;\n{_MULTIPLY} {_MULTIPLY} {_COMMIT}\nissued:\n"
        f"{_WAIT} {_AFTER} {_LOAD} {_LOADED} {_OUT} {_LEAVE}",
    ),
    _case(
        "a load directly after a wait is not ordered after it",
        f"{_ISSUE}{_WAIT} //= wait\n{_LOAD} //! PTX705 issue wait\n{_LOADED} {_OUT} {_LEAVE}",
    ),
    _case(
        "a fence before the wait orders nothing after it",
        f"{_ISSUE}{_AFTER} {_WAIT} //= wait\n{_LOAD} //! PTX705 issue wait\n{_LOADED} {_OUT} {_LEAVE}",
    ),
    _case(
        "a load directly after a wait, where loaded data lead to both",
        f"{_DATA}@%p6 bra over;\n{_ISSUE}{_WAIT} //= wait\n{_LOAD} //! PTX705 issue wait\n{_LOADED} {_OUT}\n"
        f"over: {_LEAVE}",
    ),
    _case(
        "a load directly after a wait, where data that the kernel writes lead to both",
        f"{_DATA}@%p6 bra over;\n{_ISSUE}{_WAIT} //= wait\n{_LOAD} //? PTX705 issue wait\n{_LOADED} {_OUT}\n"
        f"over: st.global.u32 [%rd1+4], %r1; {_LEAVE}",
    ),
    _case(
        "a fence between a wait and a load that loaded data may omit",
        f"{_DATA}{_ISSUE}{_WAIT}\n@%p6 bra unfenced; {_AFTER} unfenced: {_LOAD} {_LOADED} {_OUT} {_LEAVE}",
        undecided=("PTX705",),
    ),
    Case(
        "a kernel without any such fence is worth a warning only where the policy is strict",
        f"{_BEGIN.replace(_BEFORE, '')}{_ISSUE}{_WAIT} //= wait\n{_LOAD} //? PTX705 issue wait\n{_LOADED} {_OUT}\n"
        f"{_LEAVE.replace(_BEFORE, '')}",
        policy="strict",
        target="sm_100a",
    ),
    _case(
        "an access after another warp's allocation is ordered", f"{_LOAD} {_LOADED} {_OUT} {_AFTER} {_LEAVE}", _BEGIN
    ),
    Case(
        "a kernel without any such fence is not reported",
        f"{_BEGIN.replace(_BEFORE, '')}{_ISSUE}{_WAIT} {_LOAD} {_LOADED} {_OUT} {_LEAVE.replace(_BEFORE, '')}",
        target="sm_100a",
    ),
)

_CLUSTER = ".reqntid 128, 1, 1 .reqnctapercluster 2, 1, 1"
_MEET = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
#: The first CTA multiplies for both, and signals both when it is complete. %p7: the thread that does.
_ISSUE_OF_PAIR = f"""@%p1 mbarrier.init.shared::cta.b64 [bars+8], 1; fence.mbarrier_init.release.cluster;
mov.u32 %r16, %cluster_ctarank; setp.eq.and.u32 %p7, %r16, 0, %p1; {_MEET} {_AFTER}
@!%p7 bra issued; mov.b16 %h1, 3;
{_MULTIPLY} //= issue
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bars], %h1; //= commit
issued:
"""
_WAIT_OF_CLUSTER = "once: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p5, [bars+8], 0; @!%p5 bra once;"
_LEAVE_PAIR = f"{_BEFORE} {_MEET} @!%p3 bra end;\n{_GIVE_BACK}\nend:"


def _pair(name: str, body: str, undecided: tuple[str, ...] = ()) -> Case:
    text = f".reg .b16 %h<3>; {_BEGIN}{_AFTER}\n{_ISSUE_OF_PAIR}{body} {_LEAVE_PAIR}".replace(
        "cta_group::1", "cta_group::2"
    )
    return Case(name, text, target="sm_100a", bounds=_CLUSTER, undecided=undecided)


PAIRS = (
    _pair(
        "both CTAs of a pair wait for the multiplication of the first one", f"{_WAIT} {_AFTER} {_LOAD} {_LOADED} {_OUT}"
    ),
    _pair(
        "a load of a pair directly after the wait is not ordered after it",
        f"{_WAIT} //= wait\n{_LOAD} //! PTX705 issue wait\n{_LOADED} {_OUT}",
    ),
    _pair(
        "no CTA of a pair waits for the multiplication",
        f"bar.sync 0; {_AFTER}\n{_LOAD} //! PTX704 issue commit\n{_LOADED} {_OUT}",
    ),
    _pair(
        "another CTA of a pair waits, and signals the first one",
        f"""setp.eq.u32 %p6, %r16, 0; @%p6 bra told; {_WAIT}
@%p1 mapa.shared::cluster.u32 %r17, %r5, 0;
@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r17+8]; bra.uni meet;
told: {_WAIT_OF_CLUSTER}
meet: {_AFTER} {_LOAD} {_LOADED} {_OUT}""",
    ),
    Case(
        "a CTA of a pair deallocates columns that other warps may still load",
        f".reg .b16 %h<3>; {_BEGIN}{_AFTER}\n{_ISSUE_OF_PAIR}{_WAIT} {_AFTER}\n{_LOAD} //= load\n"
        f"{_LOADED} {_OUT} @!%p3 bra end;\n{_GIVE_BACK} //! PTX708 load\nend:".replace("cta_group::1", "cta_group::2"),
        target="sm_100a",
        bounds=_CLUSTER,
    ),
    Case(
        "a multiplication of each CTA of a cluster for itself, of words that other warps may still store",
        f"{_BEGIN}{_AFTER}\n{_STORE} //= store\n{_BEFORE} bar.sync 0; {_AFTER}\n"
        f"{_ISSUE.replace('//= issue', '//! PTX706 store')} {_WAIT} {_AFTER} {_LEAVE_PAIR}",
        target="sm_100a",
        bounds=_CLUSTER,
    ),
    Case(
        "a multiplication of each CTA of a cluster for itself, of words that are stored",
        f"{_BEGIN}{_AFTER}\n{_STORE} {_STORED} {_BEFORE} bar.sync 0; {_AFTER}\n{_ISSUE} {_WAIT} {_AFTER} {_LEAVE_PAIR}",
        target="sm_100a",
        bounds=_CLUSTER,
    ),
)

_LATER = f"""@!%p1 bra issued;
{_MULTIPLY} //? PTX705 store sync
{_COMMIT}
issued: {_WAIT} {_AFTER} {_LOAD} {_LOADED} {_OUT}"""


def _hand_over(name: str, sync: str, policy: Literal["isa", "strict"] = "strict") -> Case:
    """All warps store, and a thread of the first one multiplies into the same columns. sync: what is between them."""
    body = f"{_STORE} //= store\n{_STORED} {sync} {_AFTER} {_LATER} {_LEAVE}"
    if policy == "isa" or _BEFORE in sync:
        body = body.replace("//? PTX705 store sync", "")
    return Case(name, f"{_BEGIN}{_AFTER}\n{body}", policy=policy, target="sm_100a")


HAND_OVERS = (
    _hand_over("a store that was waited for is ordered by the fence before the barrier", f"{_BEFORE} bar.sync 0;"),
    _hand_over("no fence is between a store and the barrier", "bar.sync 0; //= sync\n"),
    _hand_over("only strict demands a fence after the wait for a store", "bar.sync 0;", "isa"),
)

MOVES = (
    _case("a load after a store that was waited for", f"{_STORE} {_STORED} {_LOAD} {_LOADED} {_OUT} {_LEAVE}"),
    _case(
        "a load after a store in flight",
        f"{_STORE} //= store\n{_LOAD} //? PTX706 store\n{_LOADED} {_STORED} {_OUT} {_LEAVE}",
    ),
    _case(
        "a store after a load in flight",
        f"{_LOAD} //= load\n{_STORE} //! PTX706 load\n{_LOADED} {_STORED} {_LEAVE}",
    ),
    _case(
        "a store after two loads into the same registers, which nothing reads",
        f"{_LOAD} //= load\n{_LOAD}\n{_STORE} //! PTX706 load\n{_LOADED} {_STORED} {_LEAVE}",
    ),
    _case("a store after a load whose results are used", f"{_LOAD} {_OUT} {_STORE} {_STORED} {_LEAVE}"),
    _case("a relaxed wait and the fence of Tensor Memory", f"{_ISSUE} {_RELAXED} {_AFTER} {_LOAD} {_LOADED} {_LEAVE}"),
    _case(
        "a relaxed wait and no fence",
        f"{_ISSUE} {_RELAXED}\n{_LOAD} //! PTX704 issue commit\n{_LOADED} {_OUT} {_LEAVE}",
    ),
    _case(
        "stores of several warps to constant columns without lanes",
        f"mov.u32 %r12, 16; {_STORE} {_STORED} {_LOAD} {_LOADED} {_OUT} {_LEAVE}",
    ),
    _case(
        "a product of words that other warps may still store",
        f"{_STORE} //= store\n{_STORED}\n{_ISSUE.replace('//= issue', '//! PTX706 store')} {_WAIT} {_AFTER} {_LEAVE}",
    ),
    _case(
        "a product of words that all warps have stored",
        f"{_STORE} {_STORED} {_BEFORE} bar.sync 0; {_AFTER}\n{_ISSUE} {_WAIT} {_AFTER} {_LEAVE}",
    ),
    _case("a load after a load in flight", f"{_STORE} {_STORED} {_LOAD} {_LOAD} {_LOADED} {_OUT} {_LEAVE}"),
    _case(
        "other columns than those in flight",
        f"{_STORE} add.u32 %r15, %r12, 1; {_LOAD.replace('%r12', '%r15')} {_LOADED} {_STORED} {_OUT} {_LEAVE}",
    ),
    _case(
        "the lanes of the first warp belong to it only",
        f"{_LOAD.replace('%r12', '%r10')} //! PTX707\n{_LOADED} {_OUT} {_LEAVE}",
    ),
    _case(
        "lanes beyond a warp's own belong to the next",
        f"add.u32 %r15, %r12, 2097152;\n{_LOAD.replace('%r12', '%r15')} //! PTX707\n{_LOADED} {_OUT} {_LEAVE}",
    ),
    _case(
        "a register of an address that held an argument before",
        "ld.param.u32 %r15, [n]; st.global.u32 [%rd2], %r15; add.u32 %r15, %r12, 2097152;\n"
        f"{_LOAD.replace('%r12', '%r15')} //! PTX707\n{_LOADED} {_OUT} {_LEAVE}",
    ),
    _case(
        "one wrong offset of a warp is one finding with two locations",
        f"{_LOAD.replace('%r12', '%r10')} //! PTX707\n{_LOADED} {_OUT}\n"
        f"{_LOAD.replace('%r12', '%r10+1')} {_LOADED} {_LEAVE}",
    ),
    _case(
        "columns deallocated while other warps load them",
        f"{_LOAD} //= load\n{_LOADED} {_OUT} @!%p3 bra end;\n{_GIVE_BACK} //! PTX708 load\nend:",
    ),
    *(
        Case(
            f"a deallocation follows the loads of other warps without an order, in a block of {size}",
            f"""{_BEGIN}{_AFTER}
setp.eq.u32 %p6, %r6, 77777; @!%p6 bra load; bar.sync 0;
load: {_LOAD} //= load
{_LOADED} {_OUT} @!%p3 bra end;
{_GIVE_BACK} {expected}
end:""",
            target="sm_100a",
            bounds=bounds,
            undecided=undecided,
        )
        for size, bounds, expected, undecided in (
            ("at most 128 threads", ".maxntid 128, 1, 1", "//! PTX708 load", ()),
            ("an unknown size", "", "//? PTX708 load", ("PTX707",)),
        )
    ),
    _case(
        "columns deallocated while a load of them is waited for too late",
        f"{_LOAD} //= load\nbar.sync 0; {_LOADED} {_OUT} @!%p3 bra end;\n{_GIVE_BACK} //! PTX708 load\nend:",
    ),
    _case(
        "columns deallocated while a multiplication writes them",
        f"{_ISSUE}bar.sync 0; @!%p3 bra end;\n{_GIVE_BACK} //! PTX708 issue commit\nend:",
    ),
    _case("columns deallocated after the multiplication", f"{_ISSUE}{_WAIT} {_LEAVE}"),
)


def _long(rounds: int, *, first: str = "", last: str = "bar.sync 0;") -> str:
    """Three warps load in a loop of many iterations, the first one continues to the common barrier, and deallocates.

    first: the code of the three before their loop. last: how the warps synchronize.
    """
    return f"""{first} @%p3 bra join; mov.u32 %r21, 0;
more: {_LOAD} //= load
{_LOADED} {_OUT} add.u32 %r21, %r21, 1; setp.lt.u32 %p6, %r21, {rounds}; @%p6 bra more; {_BEFORE}
join: {last} @!%p3 bra end; {_AFTER}
"""


CUT = (
    _case("the columns that warps load in a short loop are deallocated", f"{_long(10)}{_GIVE_BACK}\nend:"),
    _case(
        "a loop beyond the budget may lead to the barrier",
        f"{_long(5000)}{_GIVE_BACK}\nend:",
        undecided=("PTX708",),
    ),
    _case(
        "a loop beyond the budget leads to no barrier",
        f"{_long(5000, last='')}{_GIVE_BACK} //! PTX708 load\nend:",
    ),
    _case(
        "a thread that waits for a multiplication may publish it after a long loop",
        f"{_ISSUE}{_long(5000, first=f'@%p3 bra join; {_WAIT} {_AFTER}')}{_GIVE_BACK}\nend:",
        undecided=("PTX708",),
    ),
    _case(
        "a thread that waits for a multiplication may order a load after it after a long loop",
        f"{_ISSUE}{_long(5000, first=f'@%p3 bra join; {_WAIT} {_AFTER}')}{_LOAD} {_LOADED} {_OUT} {_GIVE_BACK}\nend:",
        undecided=("PTX704", "PTX708"),
    ),
    _case(
        "the commit that is waited for is after a loop beyond the budget",
        f"""@%p1 mbarrier.init.shared::cta.b64 [bars+8], %r6; bar.sync 0; @!%p1 bra issued; mov.u32 %r15, 0;
next: {_MULTIPLY} {_COMMIT.replace("[bars]", "[bars+8]")}
add.u32 %r15, %r15, 1; setp.lt.u32 %p6, %r15, %r6; @%p6 bra next; {_COMMIT}
issued: {_WAIT} {_AFTER} {_LOAD} {_LOADED} {_OUT} {_LEAVE}""",
    ),
)


def _load_case(name: str, body: str) -> Case:
    begin = f"{_BEGIN}{_AFTER} {_STORE} {_STORED}\n"
    return Case(name, f"{begin}{body}\n{_LEAVE}", policy="strict", target="sm_100a")


REGISTERS = (
    _load_case("a register is used after the wait for its load", f"{_LOAD} {_LOADED} {_OUT}"),
    _load_case(
        "a register is used before the wait for its load", f"{_LOAD} //= load\n{_OUT} //? PTX316 load\n{_LOADED}"
    ),
    _load_case(
        "a wait for stores is none for a load", f"{_LOAD} //= load\n{_STORED}\n{_OUT} //? PTX316 load\n{_LOADED}"
    ),
    _load_case(
        "a register is packed before the wait and used after it",
        f"{_LOAD} {_PACK} {_LOADED} st.global.b64 [%rd2], %rd7;",
    ),
    _load_case(
        "a packed register is used before the wait",
        f"{_LOAD} {_PACK} //= load\nst.global.b64 [%rd2], %rd7; //? PTX316 load\n{_LOADED}",
    ),
    _load_case("another register is used before the wait", f"{_LOAD} st.global.b32 [%rd2], %r1; {_LOADED} {_OUT}"),
    _load_case(
        "a register is used before the wait for the second load of a block",
        f"{_LOAD} {_LOADED} {_OUT}\n{_LOAD} //= load\n{_OUT} //? PTX316 load\n{_LOADED}",
    ),
)

_MANY_LOADS = "\n".join(
    f"tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r{20 + number % 8}}}, [%r12 + {number % 32}]; {_LOADED} {_OUT}"
    for number in range(512)
)

#: A number of loads with which it is too expensive to compare each with all others.
MANY = (
    _case("each of many loads has a wait", f"{_MANY_LOADS}\n{_LEAVE}"),
    _case(
        "one store after many loads waits for the last of them",
        f"{_MANY_LOADS}\n{_LOAD.replace('%r20', '%r30')} //= load\n{_STORE} //! PTX706 load\n"
        f"{_LOADED} {_STORED} {_LEAVE}",
    ),
)

CASES = (*ALLOCATION, *COMPLETION, *PAIRS, *HAND_OVERS, *MOVES, *CUT, *REGISTERS, *MANY)
