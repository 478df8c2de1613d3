"""PTX9xx: performance and style: notes, on request."""

from __future__ import annotations

from functools import partial

from ptxkit.diagnostics.code import DiagnosticCode, Severity
from ptxkit.diagnostics.message import MessageTemplate
from ptxkit.fast_dataclasses import dataclass

REDUNDANT_PROXY_FENCE = DiagnosticCode(
    "PTX901", "redundant-proxy-fence", Severity.NOTE, sections=("Async Proxy", "membar / fence")
)
_text = partial(MessageTemplate, REDUNDANT_PROXY_FENCE)
FENCE_ORDERS_NOTHING = _text(
    "this fence orders nothing: no generic access of shared memory precedes it, or no async one follows"
)
FENCED_BEFORE = _text("this fence orders nothing: earlier fences follow all generic accesses before it")
FENCED_AFTER = _text("this fence orders nothing: later fences precede all async accesses after it")
REMOVE_FENCE = _text("remove it")

EMPTY_WAIT = DiagnosticCode(
    "PTX902",
    "empty-wait",
    Severity.NOTE,
    sections=("cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group", "wgmma.wait_group"),
)
_text = partial(MessageTemplate, EMPTY_WAIT)
WAIT_FOR_NO_GROUP = _text("this wait is redundant: no group is pending here that it would complete")
REMOVE_WAIT = _text("remove it, or wait for the kind of group that is pending")

DUPLICATE_SYNC = DiagnosticCode(
    "PTX903", "duplicate-sync", Severity.NOTE, sections=("membar / fence", "bar, barrier", "wgmma.fence")
)
_text = partial(MessageTemplate, DUPLICATE_SYNC)
SYNC_REPEATED = _text("this {kind} repeats the one at line {1}, with only arithmetic between")
SAME_OR_MORE = _text("orders the same, or more")
REMOVE_SYNC = _text("remove it")

EMPTY_GROUP = DiagnosticCode(
    "PTX904",
    "empty-group",
    Severity.NOTE,
    sections=("cp.async.commit_group", "cp.async.bulk.commit_group", "wgmma.commit_group"),
)
_text = partial(MessageTemplate, EMPTY_GROUP)
GROUP_ALWAYS_EMPTY = _text("this group is always empty: no operation of its kind was started since the last commit")
GROUP_NOT_AWAITED = _text("this commit is redundant: without it, the next wait completes the same operations")
REMOVE_COMMIT = _text("remove it")
REMOVE_OR_MOVE_COMMIT = _text("remove it, or move it after the operation that it is for")

OVERBROAD_PROXY_FENCE = DiagnosticCode(
    "PTX905", "overbroad-proxy-fence", Severity.NOTE, sections=("membar / fence", "Async Proxy")
)
_text = partial(MessageTemplate, OVERBROAD_PROXY_FENCE)
FENCE_FOR_ALL_MEMORY = _text("this fence covers all memory, but only accesses to shared memory need it")
WRITE_STATEMENT = _text("write `{statement}`")


@dataclass(frozen=True, slots=True)
class SuggestedStatement:
    """A statement to write in the place of the one that is reported."""

    text: str


SLOW_MULTICAST = DiagnosticCode(
    "PTX906", "slow-multicast", Severity.NOTE, sections=("cp.async.bulk", "cp.async.bulk.tensor")
)
_text = partial(MessageTemplate, SLOW_MULTICAST)
MULTICAST_MAY_BE_SLOW = _text("copies to several CTAs, which may be much slower when compiled for {target}")
COMPILE_FOR_FEATURES = _text("compile for {target}a where the kernel runs there only")

INEFFECTIVE_SYNC = DiagnosticCode(
    "PTX907",
    "ineffective-sync",
    Severity.NOTE,
    sections=("membar / fence", "bar.warp.sync", "bar, barrier", "wgmma.fence", "cp.async.mbarrier.arrive"),
)
_text = partial(MessageTemplate, INEFFECTIVE_SYNC)
NO_OTHER_CTA = _text("this fence orders nothing: no relaxed operation of the kernel signals another CTA of the cluster")
NOTHING_TO_ORDER = _text("this barrier orders nothing: no access or other synchronization precedes it on any path")
OTHERS_ORDER_THE_SAME = _text("this barrier orders nothing that the barriers before and after it do not order")
OTHER_ORDERS_THE_SAME = _text(
    "either this barrier or the one at line {1} is redundant: nothing between them needs both"
)
STAYS_INSTEAD = _text("orders the same, if it stays")
REMOVE_EITHER = _text("remove one of the two")
NO_REGISTER_ACCESS = _text(
    "this fence orders nothing: no access to the registers follows the last fence or multiplication"
)
COPIES_TRACKED_AGAIN = _text("this arrival has no effect: the one at line {1} waits for the same copies")
TRACKS_AS_WELL = _text("tracks all earlier copies of the thread")
COMPLETED_IN_TIME = _text(
    "nothing depends on this {kind} as long as the others stay: later waits complete the same operations in time"
)
ORDERED_WITHOUT = _text(
    "nothing depends on this {kind} as long as the others stay: without it, all accesses to the same shared memory are "
    "proven to be ordered"
)
COMPLETES_THE_SAME = _text("completes the same operations, if it stays")
REMOVE_INEFFECTIVE = _text("remove it")

UNUSED_MBARRIER = DiagnosticCode(
    "PTX908", "unused-mbarrier", Severity.NOTE, sections=("Lifecycle of the mbarrier object",)
)
_text = partial(MessageTemplate, UNUSED_MBARRIER)
NOTHING_USES_MBARRIER = _text("initializes an mbarrier that no other instruction of the kernel can use")
REMOVE_INITIALIZATION = _text("remove it, or use the mbarrier")

REDUNDANT_CODES = (
    REDUNDANT_PROXY_FENCE,
    EMPTY_WAIT,
    DUPLICATE_SYNC,
    EMPTY_GROUP,
    INEFFECTIVE_SYNC,
    UNUSED_MBARRIER,
)
"""The codes that call an instruction redundant: without it, the kernel does the same."""
