"""PTX903: the same fence or barrier twice in a row (a note, given with `--notes`).

What it does
    Finds two fences of one kind with nothing between them but arithmetic, and two `bar.sync` of all threads, where all
    threads of the CTA execute both and do nothing between.

Why it matters
    The second one orders what the first has ordered already. Barriers cost each warp a wait for the slowest.

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
    """Looks at fences and barriers that follow each other in one block."""
    for repeat in find_redundant_sync(kernel):
        yield Observation((repeat.redundant, repeat.other), 0, True, _finding(repeat))


def _finding(repeat: RedundantSync) -> Finding:
    return Finding(
        primary=repeat.redundant,
        message=ptx9xx.SYNC_REPEATED(kind=repeat.kind),
        labels=((repeat.other, ptx9xx.SAME_OR_MORE()),),
        help=ptx9xx.REMOVE_SYNC(),
    )


RULE = Rule(ptx9xx.TWICE_IN_A_ROW, check, on_request=True)
