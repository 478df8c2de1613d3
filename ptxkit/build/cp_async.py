"""`cp.async` with all of its options, between typed addresses.

    k.copy_async(tile[i], source[i])                                     # 16 bytes, cached in L2 only
    k.copy_async(tile[i], source[i], 4, prefetch=128)                    # 4 bytes; prefetches 128 into L2
    k.copy_async(tile[i], source[i], when=row < rows)                    # writes zeros where it does not hold
    k.copy_async(tile[i], source[i], 8, src_size=left, policy=stream)    # `left` bytes, then zeros

A group (`k.cp_async_commit_group()`, `k.thread_pipeline(stages)`) or an mbarrier (`bar.track_cp_async()`) tracks the
completion. `k.memcpy_async` is a copy by a group of threads.

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
"""The sizes of one copy in bytes, by the cache operator: `ca` caches at all levels, `cg` in L2 only."""
PREFETCHES = (64, 128, 256)
"""The sizes in bytes that a copy may prefetch into L2."""


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

    `cache` is `cg` (L2 only; 16 bytes, for which it is the default) or `ca` (all levels). If `when` does not hold or
    `ignore_src` holds, the source is not read and zeros are written. `src_size` is the number of bytes that are read;
    the rest is filled with zeros. At most one of these three may be given. `prefetch` is the number of bytes around the
    source that are prefetched into L2: 64, 128 or 256. `policy` is a cache policy, such as the result of
    `k.createpolicy_fractional_L2_evict_first()`. Raises `BuildTypeError` for addresses in other state spaces, and
    `BuildValueError` for other sizes.
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
        raise BuildValueError(f"a copy uses the caches {' or '.join(SIZES)}, not {cache!r}")
    found = cache or ("cg" if size in SIZES["cg"] else "ca")
    if size not in SIZES[found]:
        raise BuildValueError(f"cp.async.{found} copies {', '.join(map(str, SIZES[found]))} bytes, not {size!r}")
    return found


def _check_predicate(name: str, value: object) -> None:
    if not isinstance(value, Register) or value.type is not pred:
        raise BuildTypeError(f"`{name}` is a predicate register, such as the result of a comparison; got {value!r}")
