"""PTX614: requests to cancel other clusters, and the loops that a refusal ends."""

from __future__ import annotations

from typing import Literal

from tests.rules.support import Case

BEFORE = """.reg .b128 %rq<2>; .reg .b32 %parity; mov.u32 %parity, 0; mov.u32 %r12, 0;
@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0;"""
REQUEST = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], [%r5];"
QUERY = "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %rq1; //= query"
ASK = f"""{{wait: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r5], %parity; @!%p4 bra wait;}}
xor.b32 %parity, %parity, 1; ld.shared.b128 %rq1, [%r2]; fence.proxy.async.shared::cta; bar.sync 0;
{QUERY}"""
FIRST = "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r10, %rq1;"
BLOCK = "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r10, %r11, %r12, _}, %rq1;"


def _loop(after: str, mark: str = "") -> str:
    """Requests, waits for the response, and continues with `after`, which may jump to `again` or `end`."""
    expect = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 16;"
    return f"{BEFORE}\nagain:\n{expect}\n@%p1 {REQUEST} {mark}\n{ASK}\n{after}\nend:"


def _case(name: str, body: str, *, strict: bool = False, undecided: tuple[str, ...] = ()) -> Case:
    policy: Literal["strict", "isa"] = "strict" if strict else "isa"
    return Case(name, body, target="sm_100a", bounds=".reqntid 32, 1, 1", policy=policy, undecided=undecided)


CASES = (
    _case(
        "a loop that a refusal ends",
        _loop("@%p3 bra again;"),
        undecided=("PTX621",),
    ),
    _case(
        "a loop that counts its iterations makes further requests",
        _loop("add.u32 %r12, %r12, 1; setp.lt.u32 %p5, %r12, 5; @%p5 bra again;", "//! PTX614 query"),
    ),
    _case(
        "a loop that counts its iterations ends with a refusal",
        _loop("@!%p3 bra end; add.u32 %r12, %r12, 1; setp.lt.u32 %p5, %r12, 3; @%p5 bra again;"),
        undecided=("PTX621",),
    ),
    _case(
        "an answer in a register of bits is an answer",
        _loop("selp.u32 %r13, 1, 0, %p3; setp.eq.u32 %p5, %r13, 1; @%p5 bra again;"),
        undecided=("PTX621",),
    ),
    _case(
        "one more iteration after a refusal",
        _loop("@%p3 bra again; add.u32 %r12, %r12, 1; setp.eq.u32 %p5, %r12, 1; @%p5 bra again;", "//! PTX614 query"),
    ),
    _case(
        "the CTA of a granted request",
        _loop(f"@!%p3 bra end;\n{FIRST}\nbra again;"),
        undecided=("PTX621",),
    ),
    _case(
        "the CTA of a request that may be refused",
        _loop(f"{FIRST} //! PTX614\n{QUERY}\n@%p3 bra again;").replace(QUERY, "", 1),
    ),
    _case(
        "a known refusal is decoded, and the result is unused",
        _loop(f"{FIRST}\n@%p3 bra again;"),
        undecided=("PTX621",),
    ),
    _case("decoding a known refusal, strictly", _loop(f"{FIRST} //? PTX614 query\n@%p3 bra again;"), strict=True),
    _case(
        "a predicate keeps refusals out",
        _loop(f"@%p3 {BLOCK}\n@%p3 bra again;"),
        undecided=("PTX621",),
    ),
    _case(
        "all coordinates of a request that may be refused",
        _loop(f"{BLOCK} //! PTX614\n{QUERY}\n@%p3 bra again;").replace(QUERY, "", 1),
    ),
)
