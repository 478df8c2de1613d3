"""Verification: the verifier's errors, reported at the user's Python line."""

from __future__ import annotations

import pytest

from ptxkit import Severity
from ptxkit.build import Global, Kernel, NeverWaitedWarning, VerificationError, bf16, f32
from tests.build.support import marked_line


def build_stages(*, wait: bool) -> Kernel:
    """Copies four elements through shared memory, with or without waiting."""
    k = Kernel("staged", threads=1)
    source, target = k.param(Global[f32], "source", align=16), k.param(Global[f32], "target", align=16)
    tile = k.shared(f32, 4, align=16, name="tile")
    k.cp_async_cg(tile, source, 16)  # the copy
    k.cp_async_commit_group()
    if wait:
        k.cp_async_wait_group(0)
    k.st_v4(target, k.ld_v4(tile))  # the early read
    return k


def test_a_correct_kernel_returns_its_verdict() -> None:
    verdict = build_stages(wait=True).verify()
    assert not [found for found in verdict.diagnostics if found.severity is Severity.ERROR]


def test_an_error_names_the_users_line_and_the_ptx() -> None:
    with pytest.raises(VerificationError) as caught, pytest.warns(NeverWaitedWarning):
        build_stages(wait=False).verify()
    (blame,) = caught.value.blames
    assert blame.diagnostic.code == "PTX302"
    assert blame.location == marked_line("the early read")
    text = str(caught.value)
    assert f"{blame.location}: PTX302 error:" in text
    assert "k.st_v4(target, k.ld_v4(tile))" in text
    assert "staged.ptx:" in text
    assert "ld.shared.v4.f32" in text


def test_a_line_of_ptx_with_a_hundred_registers_is_truncated() -> None:
    k = Kernel("k", threads=128, target="sm_90a")
    tile = k.matrix(k.shared(bf16, 256 * 64, align=1024))
    k.accumulator(256).multiply(tile, tile, bf16)
    with pytest.raises(VerificationError) as caught:
        k.verify()
    [line] = [line for line in str(caught.value).splitlines() if "= ptx: " in line]
    assert line.endswith("...")
    assert len(line) < 200


def test_the_other_access_is_reported_at_its_own_line() -> None:
    with pytest.raises(VerificationError) as caught, pytest.warns(NeverWaitedWarning):
        build_stages(wait=False).verify()
    (blame,) = caught.value.blames
    assert marked_line("the copy") in [where for where, *_ in blame.others]


def test_debugging_directives_do_not_shift_the_lines() -> None:
    k = build_stages(wait=False)
    k.debug = True
    with pytest.raises(VerificationError) as caught, pytest.warns(NeverWaitedWarning):
        k.verify()
    assert caught.value.blames[0].location == marked_line("the early read")
    assert caught.value.diagnostics[0].code == "PTX302"
