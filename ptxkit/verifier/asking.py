"""Whether a kernel's own code asks for such a launch as was chosen, or a finding may come of the choice alone.

A kernel that compares one number as it was passed is made for either outcome, and a finding counts. A finding on whose
way the kernel computes with numbers that were chosen, or needs several that fit each other, is a question.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from ptxkit.analysis.dependence import Leaf
from ptxkit.emulate import Finding
from ptxkit.verifier.evidence import Evidence
from ptxkit.verifier.influence import Influence

NUMBERS = "numbers that were chosen may decide it (--arg)"
DEGENERATE = "a number that was chosen is 0 or 1 (--arg)"
_WARP = 32
_SHARED = ("%dynamic_smem_size", "%total_smem_size")


class Open(Protocol):
    """What of the launch nobody said: see `Chosen`."""

    @property
    def contents(self) -> bool: ...
    @property
    def block(self) -> bool: ...
    @property
    def exhausted(self) -> bool: ...
    @property
    def evidence(self) -> Evidence: ...


def why_chosen(finding: Finding, open_: Open, influence: Influence, *, is_degenerate: bool) -> str:
    """Why a finding of a run with numbers, or a block, that were chosen may come of these; empty where the kernel's
    code asks for them."""
    if is_degenerate:
        return DEGENERATE
    return _of_numbers(finding, open_, influence) or _of_sizes(finding, open_, influence)


def _of_numbers(finding: Finding, open_: Open, influence: Influence) -> str:
    protocol = influence.protocol
    own, places = influence.control(finding), influence.places(finding)
    if own is None or places is None or not protocol.is_whole:
        return NUMBERS if influence.has_numbers else ""
    counted = influence.numbers(protocol.counts | places)
    if counted:
        return f"how many it waits for, or where it points, depends on {named(counted)}, chosen here (--arg)"
    deciding = influence.numbers(protocol.ways | own)
    if len(deciding) > 1 or (set(deciding) & set(influence.structures)):
        return f"which way it takes depends on {named(deciding)}, chosen here, which may have to fit each other (--arg)"
    if not set(deciding) <= protocol.tested:
        return f"which way it takes depends on what it computes of {named(deciding)}, chosen here (--arg)"
    if open_.contents and protocol.asks_data:
        return "which way it takes depends on what memory holds, chosen here (--arg)"
    return ""


def _of_sizes(finding: Finding, open_: Open, influence: Influence) -> str:
    leaves = influence.protocol.ways | influence.protocol.counts
    if _mentions(leaves, _SHARED):
        return "the number of bytes of dynamic shared memory was chosen (--shared)"
    if not open_.block or open_.exhausted:
        return ""
    warps = {
        (each.cta, *(number // _WARP for number in each.thread[:1]), *each.thread[1:]) for each in finding.witnesses
    }
    if not any(each.space for each in finding.witnesses) or (len(warps) > 1 and not open_.evidence.meets):
        return "the number of threads in a CTA was chosen (--block)"
    return ""


def counts_blindly(leaves: Collection[Leaf]) -> bool:
    """Whether an address is made of the thread's number, and not of how many there are in a CTA."""
    return _mentions(leaves, ("%tid",)) and not _mentions(leaves, ("%ntid",))


def named(names: Sequence[str]) -> str:
    """`` `a` and `b` ``; of many the first three."""
    shown = [f"`{each}`" for each in names[:3]] + (["others"] if len(names) > 3 else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _mentions(leaves: Collection[Leaf], names: tuple[str, ...]) -> bool:
    return any(leaf.kind == "special" and leaf.name.startswith(names) for leaf in leaves)
