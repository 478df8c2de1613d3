"""The number of keys with smaller digits, for all digits of all passes of a radix sort: each key is read once.

Algorithm. `radix_histogram` has a counter for each digit of each pass in the shared memory of each CTA. A thread counts
the digits of its keys there by atomic operations, and at the end the CTA adds its counters to those in global memory.
`radix_starts`, a small second launch, computes the prefix sums of each pass, and sets the counters to zero again.

A second launch takes two microseconds. The last CTA of the first could do its work instead, as in `reduction`; but the
order of barriers that only the last CTA executes is not proven by the verifier.

The rules that make the kernels correct: barriers separate the initialization of the counters in shared memory, the
counting, and the sums (PTX621 without them).

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: red".
"""

from __future__ import annotations

from typing import Any

from ptxkit.build import Global, Kernel, Register, Shared, u32
from ptxkit.kernels.limits import WARP_SIZE
from ptxkit.kernels.radix_config import (
    DIGIT_BITS,
    DIGITS,
    PASSES,
    KeyName,
    digit_of,
    encode_key,
    key_type,
    sum_threads_before,
)

VECTOR = 4
"""The keys of one load of 16 bytes."""
THREADS = DIGITS
"""The threads of a CTA, one for each digit."""


def radix_histogram(element: KeyName = "u32", *, debug: bool = False) -> Kernel:
    """Returns a kernel that adds the number of keys with each digit in each pass to `counts[pass, digit]`.

    Parameters: source: an array of the type `element`, aligned to 16 bytes; counts: a u32 array of PASSES * DIGITS
    elements; count: u32, below 2**32 minus the keys of one round of the grid. Block: THREADS; grid: any number, such as
    `radix_histogram_ctas(count, room)`.
    """
    scalar: Any = key_type(element)
    k = Kernel("radix_histogram", threads=THREADS, debug=debug)
    source = k.param(Global[scalar], "source", align=16).cast(u32)
    counts = k.param(Global[u32], "counts")
    count = k.param(u32, "count")
    bins = k.shared(u32, PASSES * DIGITS, name="bins")
    mine, total = bins[k.tid.x], counts[k.tid.x]

    # 1. Set the CTA's counters to zero.
    for start in range(0, PASSES * DIGITS, DIGITS):
        mine[start].store(0)
    k.cta_sync()

    # 2. Count: whole vectors, then the remaining keys.
    whole, step = count & -VECTOR, k.nctaid.x * (THREADS * VECTOR)
    with k.for_range((k.ctaid.x * THREADS + k.tid.x) * VECTOR, whole, step) as index:
        for key in source[index].load(VECTOR, read_only=True):
            _count_digits(bins, encode_key(element, key))
    rest = whole + (k.ctaid.x * THREADS + k.tid.x)
    with k.if_(rest < count):
        _count_digits(bins, encode_key(element, source[rest].load()))
    k.cta_sync()

    # 3. Add the CTA's counters to those of all.
    for start in range(0, PASSES * DIGITS, DIGITS):
        total[start].reduce("add", mine[start].load())
    return k


def radix_histogram_ctas(count: int, room: int) -> int:
    """Returns the number of CTAs for `count` keys if `room` CTAs can be resident at once."""
    return max(min(room, -(-count // (THREADS * VECTOR))), 1)


def radix_starts(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `starts[pass, digit]`, the number of keys with smaller digits in that pass, from
    `counts`, which it sets to zero.

    Parameters: counts, starts: u32 arrays of PASSES * DIGITS elements. Block: THREADS; grid: PASSES.
    """
    k = Kernel("radix_starts", threads=THREADS, debug=debug)
    counts = k.param(Global[u32], "counts")
    starts = k.param(Global[u32], "starts")
    index = k.ctaid.x * DIGITS + k.tid.x
    found = counts[index].load()
    counts[index].store(0)
    starts[index].store(sum_threads_before(k, THREADS // WARP_SIZE, found, name="sums"))
    return k


def _count_digits(bins: Shared[u32], number: Register[u32]) -> None:
    """Counts the digits of an encoded key in all passes."""
    for each in range(PASSES):
        bins[digit_of(number, each * DIGIT_BITS)][each * DIGITS].reduce("add", 1, scope="cta")
