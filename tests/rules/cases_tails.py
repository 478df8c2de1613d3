"""PTX503: bytes that are expected for a last phase, which some thread or no thread waits for."""

from __future__ import annotations

from tests.rules.support import Case

_INIT = "@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 1; bar.sync 0;"
_FILL = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
_BOX = "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes"
_TWO_CTAS = ".reqntid 128, 1, 1 .explicitcluster .reqnctapercluster 2, 1, 1"


def _expect(barrier: str = "%r5") -> str:
    return f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{barrier}], 1024;"


def _wait(label: str, parity: int, barrier: str = "%r5") -> str:
    return f"{label}: mbarrier.try_wait.parity.shared::cta.b64 %p3, [{barrier}], {parity}; @!%p3 bra {label};"


_ROUND = f"@%p1 {_expect()} @%p1 {_FILL} [%r2], [%rd1], 1024, [%r5]; {_wait('full', 0)}"
#: A wait that no simulation supports.
_UNKNOWN = """@%p1 mbarrier.arrive.shared::cta.b64 _, [%r5+8]; ld.global.u32 %r11, [%rd1];
more: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r5+8], %r11; @!%p4 bra more;"""

CASES = (
    Case(
        "bytes are expected for a last phase that no thread waits for",
        f"{_INIT} {_ROUND} @%p1 {_expect()}",
    ),
    Case(
        "bytes are expected for a last phase that threads wait for",
        f"""{_INIT} {_ROUND}
@%p1 {_expect()} //! PTX503
{_wait("last", 1)}""",
    ),
    Case(
        "a thread that waits twice for one phase does not wait for the next",
        f"""{_INIT} {_ROUND} mbarrier.test_wait.parity.shared::cta.b64 %p4, [%r5], 0; {_wait("again", 0)}
@%p1 {_expect()}""",
    ),
    Case(
        "bytes are expected for the only phase, which no thread waits for",
        f"{_INIT} @%p1 {_expect()}",
    ),
    Case(
        "more bytes are expected than copied in a phase that no thread waits for",
        f"{_INIT} @%p1 {_expect()} @%p1 {_FILL} [%r2], [%rd1], 512, [%r5];",
    ),
    Case(
        "more bytes are copied than expected in a phase that no thread waits for",
        f"""{_INIT}
@%p1 {_expect()} //! PTX503 copy
@%p1 {_FILL} [%r2], [%rd1], 2048, [%r5]; //= copy""",
    ),
    Case(
        "too few bytes are expected before a last phase that no thread waits for",
        f"""{_INIT}
@%p1 {_expect()} //! PTX503 copy
@%p1 {_FILL} [%r2], [%rd1], 2048, [%r5]; //= copy
{_wait("full", 0)} @%p1 {_expect()}""",
    ),
    Case(
        "two threads expect bytes for a phase that no thread waits for",
        f"@%p1 mbarrier.init.shared::cta.b64 [%r5], 2; bar.sync 0; @%p1 {_expect()} @%p2 {_expect()}",
    ),
    Case(
        "two threads expect bytes for a phase that threads wait for",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 2; bar.sync 0;
@%p1 {_expect()}
@%p2 {_expect()} //! PTX503
{_wait("full", 0)}""",
    ),
    Case(
        "boxes of one map are expected by one mbarrier once, and by the other with a phase that no thread waits for",
        f"""{_INIT}
@%p1 {_expect()} @%p1 {_BOX} [%r2], [%rd1, {{0}}], [%r5]; {_wait("first", 0)}
@%p1 {_expect("%r5+8")} @%p1 {_BOX} [%r8], [%rd1, {{8}}], [%r5+8]; {_wait("second", 0, "%r5+8")}
@%p1 {_expect()}""",
        undecided=("PTX503",),
    ),
    Case(
        "the last phase of an mbarrier in a cluster stays open",
        f"{_INIT} {_ROUND} @%p1 {_expect()}",
        bounds=_TWO_CTAS,
    ),
    Case(
        "threads of a cluster wait for the last phase",
        f"""{_INIT} @%p1 {_expect()}
@%p1 {_FILL} [%r2], [%rd1], 1024, [%r5]; //= copy
{_wait("full", 0)}
@%p1 {_expect()} //! PTX503 copy wait
{_wait("last", 1)} //= wait""",
        bounds=_TWO_CTAS,
    ),
    Case(
        "bytes are expected for a last phase with a wait of unknown parity",
        f"{_INIT} {_ROUND} @%p1 {_expect()}\n{_UNKNOWN}",
        undecided=("PTX504",),
    ),
    Case(
        "bytes are expected for a phase that threads wait for with a wait of unknown parity",
        f"""{_INIT} {_ROUND}
@%p1 {_expect()} //! PTX503
{_UNKNOWN} {_wait("last", 1)}""",
        undecided=("PTX504",),
    ),
    Case(
        "bytes are expected for a last phase, and the mbarrier of the waits is unknown",
        f"""{_INIT} {_ROUND} @%p1 {_expect()} ld.global.u32 %r11, [%rd1];
more: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r11], 1; @!%p4 bra more;""",
        undecided=("PTX501", "PTX503", "PTX504"),
    ),
)
