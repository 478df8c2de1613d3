"""The limits of every device that the builder and the device layer both check, and those of messages.

Source: CUDA C++ Programming Guide, "Compute Capabilities: Technical Specifications".
"""

from __future__ import annotations

MAX_CLUSTER_CTAS = 16
"""The maximum number of CTAs of a cluster.

More than eight need a launch attribute, and a device that has room for them.
"""

MAX_STATIC_SHARED_BYTES = 48 * 1024
"""The maximum size in bytes of statically sized shared memory of a CTA.

Larger memory must be launch-sized, and the driver has to permit it for the kernel.
"""

MAX_PTX_COLUMNS = 160
"""The maximum number of columns of PTX that an error shows.

A matrix multiplication names its 128 registers in one line.
"""
