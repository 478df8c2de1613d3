"""Notes below a diagnostic that state how it was found."""

from __future__ import annotations

from ptxkit.diagnostics.message import TextTemplate

LARGER_BLOCKS = TextTemplate(
    "the kernel does not declare its block size; this holds at each size of more than {limit} threads that was tried: "
    "{sizes}; the kernel has branches for the further threads"
)
BLOCK_SIZE_UNKNOWN = TextTemplate(
    "the kernel does not declare its block size; this holds at each size that was tried: {sizes}"
)
MORE_THAN_ONE_WARP = TextTemplate(
    "the kernel does not declare its block size; this holds at each size of more than one warp that was tried: "
    "{sizes}; a block of one warp does not execute the instruction"
)
COUNTED_BLOCK_SIZE = TextTemplate(
    "the kernel does not declare its block size; this holds with {threads} threads, as many as its barriers count: "
    "smaller and larger blocks violate a count"
)
CLUSTER_SIZE_UNKNOWN = TextTemplate("the kernel does not declare its cluster size; this holds if the size is {sizes}")
