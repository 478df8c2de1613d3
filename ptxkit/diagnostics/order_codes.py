"""The codes of the rules about the order of accesses to memory.

Source: PTX ISA, "Causality Order", "Async Proxy".
"""

from __future__ import annotations

from ptxkit.diagnostics.catalogue import ptx3xx, ptx4xx, ptx6xx

ORDER_CODES: frozenset[str] = frozenset(
    map(
        str,
        (
            ptx3xx.GROUP_NEVER_COMMITTED,
            ptx3xx.READ_BEFORE_WAIT,
            ptx3xx.SOURCE_REUSED_IN_FLIGHT,
            ptx3xx.OVERLAPPING_COPIES,
            ptx4xx.MISSING_PROXY_FENCE,
            ptx6xx.SHARED_MEMORY_RACE,
        ),
    )
)
"""The codes of the rules about the order of accesses to memory."""
