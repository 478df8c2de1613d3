"""The third step of `scripts/demo`: from a kernel of the builder to a cubin, and to a run on the GPU if there is
one.
"""

from __future__ import annotations

import sys

import numpy as np

from ptxkit import device
from ptxkit.device.device_memory import to_device, use_device
from ptxkit.kernels.bulk_add_one import bulk_add_one, ctas

TARGET = "sm_90a"
COUNT = 1_000_003
"""The number of elements: many tiles, and an end that is not a multiple of any unit."""


def main() -> int:
    """Prints the result of each step. The exit status is 1 if the result of the GPU is wrong."""
    kernel = bulk_add_one()
    verdict = kernel.verify()
    print(f"built     {kernel.name}: {str(kernel).count(';')} statements of PTX")
    print(f"verified  {len(verdict.diagnostics)} findings, {len(verdict.undecided)} questions left open")
    cubin = device.compile(kernel, TARGET)
    print(f"compiled  {len(cubin.code):,} bytes of machine code for {TARGET}, without a GPU")
    try:
        gpu = use_device()
    except device.NoDeviceError as error:
        print(f"not run   {error}")
        return 0
    source = np.random.default_rng().random(COUNT, dtype=np.float32)
    inside, outside = to_device(source), to_device(np.zeros_like(source))
    stream = gpu.create_stream()
    device.launch(stream, kernel, inside, outside, COUNT, grid=ctas(COUNT))
    stream.sync()
    wrong = int(np.count_nonzero(outside.to_host() != source + np.float32(1)))
    print(f"run       on {gpu.name}: {COUNT:,} elements, {wrong or 'none'} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
