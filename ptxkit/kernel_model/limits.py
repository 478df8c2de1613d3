"""Limits of every device that the builder and the device layer both check, and of what messages show.

Source: CUDA C++ Programming Guide, "Compute Capabilities: Technical Specifications".
"""

from __future__ import annotations

MAX_CLUSTER_CTAS = 16
"""CTAs of a cluster. More than eight need a launch attribute, and a device that has room for them."""

MAX_STATIC_SHARED_BYTES = 48 * 1024
"""Bytes of shared memory that a CTA has without a request: what a kernel may declare with a size. More of it is
launch-sized, and the driver has to permit it for the kernel."""

MAX_PTX_COLUMNS = 160
"""Columns of PTX that an error shows: a matrix multiplication names its 128 registers in one line."""
