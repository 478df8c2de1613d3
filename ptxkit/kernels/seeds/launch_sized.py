"""Shared memory whose size the launch determines, used with two element types.

Purpose. A kernel does not need to know the size of its shared memory. All requests for launch-sized memory in a kernel
return the same base address, and the kernel divides the memory. Here floats are at the beginning, followed by a 16-bit
index for each of them; their number follows from the size.

Generated PTX. One `.extern .shared` array without a size, aligned to the largest requested alignment, and
`%dynamic_smem_size`, the number of bytes of the launch. The addresses are `.shared` addresses, without `cvta`. The
wider type comes first, so that both are aligned for all sizes. More than 48 KB only needs a launch that requests it:
`kernel.launch(stream, grid=..., shared=bytes)`.

The equivalent in CUDA C++: `corpus/seeds/src/launch_sized.cu`, where `extern __shared__` memory is cast to each type.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32, u16, u32
from ptxkit.kernels.seeds.tile_folding import THREADS

BOTH = 6
"""The bytes of a float and its index."""


def launch_sized(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `target[i] = source[order[i]]` within the part of each CTA.

    A part has as many elements as shared memory can hold.

    Parameters: source, target: f32 arrays; order: u32 array for one part. Block: THREADS; grid: parts; shared memory:
    BOTH bytes for each element of a part, at most 65536 of them.
    """
    k = Kernel("launch_sized", threads=THREADS, debug=debug)
    source, target = k.param(Global[f32], "source"), k.param(Global[f32], "target")
    order = k.param(Global[u32], "order")
    count = k.dynamic_smem_size // BOTH
    values = k.dynamic_shared(f32)
    places = k.dynamic_shared(u16)[count * 2]
    first = k.ctaid.x * count
    with k.for_range(k.tid.x, count, THREADS) as i:
        values[i].store(source[first + i].load())
        places[i].store(order[i].load().convert(u16))
    k.cta_sync()
    with k.for_range(k.tid.x, count, THREADS) as i:
        target[first + i].store(values[places[i].load().convert(u32)].load())
    return k
