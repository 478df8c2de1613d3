"""Limits of the device layer: what launches may ask of every device, and the sizes of caches.

Source: CUDA C++ Programming Guide, "Compute Capabilities: Technical Specifications".
"""

from __future__ import annotations

MAX_GRID = (2**31 - 1, 65535, 65535)
"""CTAs of a grid in each dimension."""

MAX_BLOCK = (1024, 1024, 64)
"""Threads of a CTA in each dimension; `MAX_CTA_THREADS` bounds their product."""

PORTABLE_CLUSTER_CTAS = 8
"""CTAs of a cluster on every device that has clusters; for more, the kernel needs an attribute."""

MAX_CACHED_LAUNCHES = 256
"""Entries of a table of launches by geometry. The oldest goes first, and is made again when it is asked for: a program
that launches each time with another grid keeps no more of them."""

MAX_CACHED_CUBINS = 512
"""Cubins that the user's cache folder keeps; the oldest go first."""

PTXAS_QUERY_SECONDS = 60
"""How long a ptxas may take to state its version or its targets. One that hangs is left out."""
