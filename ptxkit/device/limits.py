"""Limits of the device layer: limits of every device for launches, and the sizes of caches.

Source: CUDA C++ Programming Guide, "Compute Capabilities: Technical Specifications".
"""

from __future__ import annotations

MAX_GRID = (2**31 - 1, 65535, 65535)
"""The largest number of CTAs of a grid in each dimension."""

MAX_BLOCK = (1024, 1024, 64)
"""The largest number of threads of a CTA in each dimension; `MAX_CTA_THREADS` bounds their product."""

PORTABLE_CLUSTER_CTAS = 8
"""The largest number of CTAs of a cluster that every device with clusters supports. More need an attribute of the
kernel.
"""

MAX_CACHED_LAUNCHES = 256
"""The number of entries of a table of launches by geometry. The oldest entry is removed and made again when it is
needed, so that a program that launches each time with another grid does not keep all of them.
"""

MAX_CACHED_CUBINS = 512
"""The number of cubins in the user's cache folder; the oldest are removed."""

PTXAS_QUERY_SECONDS = 60
"""The time in which a ptxas must report its version or its targets. One that does not respond is ignored."""

RESERVED_SHARED_BYTES = 1024
"""The bytes of shared memory that the system reserves in each CTA from compute capability 9.0 on. Cubins contain
it."""

DISASSEMBLY_SECONDS = 600
"""The time in which nvdisasm must print the code of a cubin."""

MIN_TIMED_LAUNCHES, MAX_TIMED_LAUNCHES = 5, 200
"""The numbers of launches of which the time of a kernel is measured."""

MAX_TIMED_SECONDS = 1.0
"""The seconds of GPU time after which no further launch is measured."""

OVERWRITTEN_BYTES = 256 << 20
"""The bytes that are written before a launch whose time is measured: more than the L2 cache of any GPU holds."""
