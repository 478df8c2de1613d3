"""PTX903: a fence or barrier is repeated with nothing to order between (a note, reported with `--notes`).

What it does
    Finds two fences of one kind with only arithmetic between them, and two `bar.sync` of all threads of the CTA with
    only arithmetic between them.

Why it matters
    The second one orders nothing that the first one has not ordered. At a barrier, each warp waits for the slowest one.

Example
    st.shared.b32 [%r4], %r1;
    bar.sync 0;
    add.u32 %r6, %r4, 4;
    bar.sync 0;

Use instead
    st.shared.b32 [%r4], %r1;
    bar.sync 0;
    add.u32 %r6, %r4, 4;

ISA section
    "membar / fence", "bar, barrier", "wgmma.fence".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.memory.redundant_sync import RedundantSync, find_redundant_sync
from ptxkit.diagnostics.catalogue import ptx9xx
from ptxkit.rules.model import Finding, Observation, Rule


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks fences and barriers that follow each other in one block."""
    for repeat in find_redundant_sync(kernel):
        yield Observation((repeat.redundant, repeat.other), 0, True, _finding(repeat))


def _finding(repeat: RedundantSync) -> Finding:
    return Finding(
        primary=repeat.redundant,
        message=ptx9xx.SYNC_REPEATED(kind=repeat.kind),
        labels=((repeat.other, ptx9xx.SAME_OR_MORE()),),
        help=ptx9xx.REMOVE_SYNC(),
    )


RULE = Rule(ptx9xx.DUPLICATE_SYNC, check)
