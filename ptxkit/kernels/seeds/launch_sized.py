"""Shared memory whose size the launch gives, used by two element types.

What it shows. A kernel does not have to know how much shared memory it has. All requests for launch-sized memory in a
kernel begin at one address; the kernel divides it. Here floats lie at the beginning, and after them a 16-bit index for
each; how many there are follows from the size.

What it becomes. One `.extern .shared` array without a size, aligned to the largest alignment asked for, and
`%dynamic_smem_size`, which holds the bytes of the launch. The addresses are `.shared` ones: no `cvta`. The wider type
comes first, so that both are aligned whatever the number is. More than 48 KB needs nothing but a launch that says so:
`kernel.launch(stream, grid=..., shared=bytes)`.

The twin in CUDA C++: `corpus/seeds/src/launch_sized.cu`, where `extern __shared__` memory is cast to each type.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32, u16, u32
from ptxkit.kernels.seeds.tile_folding import THREADS

BOTH = 6
"""Bytes of a float and its index."""


def launch_sized(*, debug: bool = False) -> Kernel:
    """`target[i] = source[order[i]]` within the part of each CTA, which has as many elements as shared memory holds.

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
