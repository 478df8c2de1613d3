"""`cp.async` with all of its operands: the text of each, and rejected combinations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptxkit.build import BuildError, BuildTypeError, BuildValueError, Global, Kernel, Register, Shared, b64, f32, pred
from tests.build.support import assert_ptxas_accepts


class Staging:
    """A kernel in which each thread copies its 16 bytes, waits and stores them."""

    def __init__(self, copy: Callable[[Staging], object]) -> None:
        self.k = k = Kernel("staging", threads=32)
        self.source, self.out = k.param(Global[f32], "source", align=16), k.param(Global[f32], "out", align=16)
        self.tile = k.shared(f32, 128, align=16, name="tile")
        self.at = k.tid.x * 4
        self.to, self.of = self.tile[self.at], self.source[self.at]
        copy(self)
        k.cp_async_commit_group()
        k.cp_async_wait_group(0)
        k.st_v4(self.out[self.at], k.ld_v4(self.to))

    @property
    def few(self) -> Register[pred]:
        return self.k.tid.x < 20

    @property
    def policy(self) -> Register[b64]:
        found: Register[b64] = self.k.createpolicy_fractional_L2_evict_first()
        return found

    def copy(self, size: int = 16, **how: Any) -> None:
        self.k.copy_async(self.to, self.of, size, **how)

    def lines(self) -> list[str]:
        """Returns the copies, without their addresses, and the instructions that compute their operands."""
        found = [line.strip() for line in str(self.k).splitlines() if line.strip().startswith(("cp.async.c", "selp"))]
        return [line for line in found if "commit" not in line]


PLAIN = "[%r2], [%rd2]"

EMITTED: list[tuple[Callable[[Staging], object], list[str]]] = [
    (lambda s: s.copy(), [f"cp.async.cg.shared.global {PLAIN}, 16;"]),
    (lambda s: s.copy(16, cache="ca"), [f"cp.async.ca.shared.global {PLAIN}, 16;"]),
    (lambda s: s.copy(8), [f"cp.async.ca.shared.global {PLAIN}, 8;"]),
    (lambda s: s.copy(4), [f"cp.async.ca.shared.global {PLAIN}, 4;"]),
    (lambda s: s.copy(8, src_size=5), [f"cp.async.ca.shared.global {PLAIN}, 8, 5;"]),
    (lambda s: s.copy(src_size=s.k.tid.x & 15), [f"cp.async.cg.shared.global {PLAIN}, 16, %r4;"]),
    (lambda s: s.copy(ignore_src=s.few), [f"cp.async.cg.shared.global {PLAIN}, 16, %p0;"]),
    (lambda s: s.copy(4, ignore_src=s.few), [f"cp.async.ca.shared.global {PLAIN}, 4, %p0;"]),
    (lambda s: s.copy(prefetch=64), [f"cp.async.cg.shared.global.L2::64B {PLAIN}, 16;"]),
    (lambda s: s.copy(8, prefetch=128), [f"cp.async.ca.shared.global.L2::128B {PLAIN}, 8;"]),
    (lambda s: s.copy(prefetch=256), [f"cp.async.cg.shared.global.L2::256B {PLAIN}, 16;"]),
    (lambda s: s.copy(policy=s.policy), [f"cp.async.cg.shared.global.L2::cache_hint {PLAIN}, 16, %rd3;"]),
    (
        lambda s: s.copy(4, src_size=3, policy=s.policy, prefetch=128),
        [f"cp.async.ca.shared.global.L2::cache_hint.L2::128B {PLAIN}, 4, 3, %rd3;"],
    ),
    (
        lambda s: s.copy(ignore_src=s.few, policy=s.policy),
        [f"cp.async.cg.shared.global.L2::cache_hint {PLAIN}, 16, %p0, %rd3;"],
    ),
    (lambda s: s.copy(when=s.few), ["selp.u32 %r4, 16, 0, %p0;", f"cp.async.cg.shared.global {PLAIN}, 16, %r4;"]),
]


@pytest.mark.parametrize(("copy", "expected"), EMITTED)
def test_each_operand_is_at_its_position_and_nothing_is_converted(
    copy: Callable[[Staging], object], expected: list[str], tmp_path: Path
) -> None:
    staging = Staging(copy)
    text = str(staging.k)
    found = [line.replace(f"[{staging.to.operand().base.text}]", "[%r2]") for line in staging.lines()]  # type: ignore[union-attr]
    found = [line.replace(f"[{staging.of.operand().base.text}]", "[%rd2]") for line in found]  # type: ignore[union-attr]
    assert found == expected
    assert "cvta" not in text
    assert staging.k.verify().diagnostics == ()
    assert_ptxas_accepts(text, tmp_path, "sm_80")


def test_a_predicate_in_place_of_a_size_needs_the_version_that_has_it() -> None:
    assert ".version 7.0" in str(Staging(lambda s: s.copy()).k)
    assert ".version 7.5" in str(Staging(lambda s: s.copy(ignore_src=s.few)).k)
    assert ".version 7.0" in str(Staging(lambda s: s.copy(when=s.few)).k)


def test_addresses_of_other_spaces_are_rejected() -> None:
    k = Kernel("k")
    tile, source = k.shared(f32, 4, align=16), k.param(Global[f32], "source", align=16)
    with pytest.raises(BuildTypeError, match=r"not to .*Global"):
        k.copy_async(source, source)  # type: ignore[arg-type]
    with pytest.raises(BuildTypeError, match=r"not from .*Shared"):
        k.copy_async(tile, tile)  # type: ignore[arg-type]
    with pytest.raises(BuildTypeError, match=r"not to .*Generic"):
        k.copy_async(tile.to_generic(), source)  # type: ignore[arg-type]
    k.copy_async(tile, source)


REFUSED: list[tuple[Callable[[Kernel, Shared[f32], Global[f32]], object], type[BuildError], str]] = [
    (lambda k, t, s: k.copy_async(t, s, 8, cache="cg"), BuildValueError, "cp.async.cg copies 16 bytes, not 8"),
    (lambda k, t, s: k.copy_async(t, s, 12), BuildValueError, "cp.async.ca copies 4, 8, 16 bytes, not 12"),
    (lambda k, t, s: k.copy_async(t, s, cache="cs"), BuildValueError, "caches ca or cg, not 'cs'"),
    (lambda k, t, s: k.copy_async(t, s, src_size=17), BuildValueError, "of 16 bytes, 0 to 16 are read, not 17"),
    (
        lambda k, t, s: k.copy_async(t, s, prefetch=32),
        BuildValueError,
        "64, 128, 256 bytes .* L2, not 32",
    ),
    (lambda k, t, s: k.copy_async(t[1], s), BuildTypeError, "aligned to 16 bytes"),
    (lambda k, t, s: k.copy_async(t, s, when=k.tid.x), BuildTypeError, "`when` is a predicate register"),  # type: ignore[arg-type]
    (
        lambda k, t, s: k.copy_async(t, s, when=k.tid.x < 3, src_size=4),
        BuildError,
        "one of `when`, `src_size` and `ignore_src` limits what is copied",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_impossible_copies_are_rejected(
    call: Callable[[Kernel, Shared[f32], Global[f32]], object], error: type[BuildError], message: str
) -> None:
    k = Kernel("k")
    tile, source = k.shared(f32, 8, align=16), k.param(Global[f32], "source", align=16)
    with pytest.raises(error, match=message):
        call(k, tile, source)
