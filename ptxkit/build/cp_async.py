"""`cp.async` with everything that it takes, by typed addresses.

    k.copy_async(tile[i], source[i])                                     # 16 bytes, past L1
    k.copy_async(tile[i], source[i], 4, prefetch=128)                    # 4 bytes; 128 are brought into L2
    k.copy_async(tile[i], source[i], when=row < rows)                    # zeros where it does not hold
    k.copy_async(tile[i], source[i], 8, src_size=left, policy=stream)    # `left` bytes, and zeros after them

A group (`k.cp_async_commit_group()`, `k.thread_pipeline(stages)`) or an mbarrier (`bar.track_cp_async()`) tracks its
completion. `k.memcpy_async` copies by many threads.

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async", "... createpolicy".
"""

from __future__ import annotations

from typing import Any

from ptxkit.build.addresses import Global, Shared
from ptxkit.build.errors import BuildError, BuildTypeError, BuildValueError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.registers import Register
from ptxkit.kernel_model.scalar_types import b64, pred, u32

SIZES = {"ca": (4, 8, 16), "cg": (16,)}
"""Bytes that one copy moves, by the caches that it goes through: `ca` all of them, `cg` L2 only."""
PREFETCHES = (64, 128, 256)
"""Bytes that may be brought into L2 in addition to those that are copied."""


def copy_async(  # noqa: PLR0913  (the modifiers and operands of the instruction)
    k: InstructionBuilder,
    destination: Shared[Any],
    source: Global[Any],
    size: int = 16,
    *,
    cache: str | None = None,
    when: Register[pred] | None = None,
    src_size: int | Register[u32] | None = None,
    ignore_src: Register[pred] | None = None,
    prefetch: int | None = None,
    policy: Register[b64] | None = None,
) -> None:
    """Starts this thread's copy of 4, 8 or 16 bytes from global to shared memory: `cp.async`.

    `cache` is `cg` (L2 only; 16 bytes, and then the default) or `ca`. Where `when` does not hold, or `ignore_src`
    holds, nothing is read and zeros are written. `src_size` is the number of bytes that are read; zeros follow them.
    `prefetch` is the number of bytes around the source that L2 receives: 64, 128 or 256. `policy` is a cache policy, as
    `k.createpolicy_fractional_L2_evict_first()` gives.
    """
    for what, address, kind in (("to", destination, Shared), ("from", source, Global)):
        if not isinstance(address, kind):
            raise BuildTypeError(f"cp.async copies from global to the CTA's shared memory, not {what} {address!r}")
    if sum(each is not None for each in (when, src_size, ignore_src)) > 1:
        raise BuildError("one of `when`, `src_size` and `ignore_src` limits what is copied")
    operands: list[object] = [destination, source, size]
    if when is not None:
        _check_predicate("when", when)
        operands.append(k.instruction("selp_u32", (size, 0, when)))
    elif ignore_src is not None:
        _check_predicate("ignore_src", ignore_src)
        operands.append(ignore_src)
    elif src_size is not None:
        if isinstance(src_size, int) and not 0 <= src_size <= size:
            raise BuildValueError(f"of {size} bytes, 0 to {size} are read, not {src_size}")
        operands.append(src_size)
    words = ["cp_async", _select_cache(cache, size)]
    if policy is not None:
        words.append("L2_cache_hint")
        operands.append(policy)
    if prefetch is not None:
        if prefetch not in PREFETCHES:
            raise BuildValueError(f"{', '.join(map(str, PREFETCHES))} bytes are brought into L2, not {prefetch!r}")
        words.append(f"L2_{prefetch}B")
    k.instruction("_".join(words), operands)


def _select_cache(cache: str | None, size: int) -> str:
    if cache is not None and cache not in SIZES:
        raise BuildValueError(f"a copy goes through the caches {' or '.join(SIZES)}, not {cache!r}")
    found = cache or ("cg" if size in SIZES["cg"] else "ca")
    if size not in SIZES[found]:
        raise BuildValueError(f"cp.async.{found} copies {', '.join(map(str, SIZES[found]))} bytes, not {size!r}")
    return found


def _check_predicate(name: str, value: object) -> None:
    if not isinstance(value, Register) or value.type is not pred:
        raise BuildTypeError(f"`{name}` is a predicate register, such as a comparison gives; got {value!r}")
