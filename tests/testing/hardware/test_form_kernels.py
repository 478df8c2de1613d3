"""Small kernels with forms that nothing else compares with hardware: clean here; a GPU runs them by `device_same`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptxkit import lint
from ptxkit.testing.hardware.form_kernels import form_kernels
from ptxkit.testing.hardware.form_template import FormKernel
from ptxkit.testing.oracles.compile_paths import compile_at_level

KERNELS = list(form_kernels())


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_machine_finds_nothing_and_computes_the_same_under_every_schedule(kernel: FormKernel) -> None:
    text, launch = kernel.module(), kernel.launch(3)
    assert lint(text).diagnostics == ()
    first, second, third = (launch.emulate(text, policy=policy, seed=4) for policy in ("eager", "late", "random"))
    assert first.is_clean, (first.unsupported_reason, first.incomplete_reason, first.findings)
    assert first.outputs[2].any() or kernel.name == "fields_of_tensor_maps"
    for other in (second, third):
        assert other.is_clean, (other.unsupported_reason, other.incomplete_reason, other.findings)
        assert all(np.array_equal(first.outputs[at], other.outputs[at]) for at in first.outputs)


def test_ptxas_accepts_them_all(tmp_path: Path) -> None:
    for kernel in KERNELS:
        made = compile_at_level(kernel.module(), "sm_90a", "1")
        assert not isinstance(made, str), (kernel.name, made)


def test_the_input_has_no_nan_and_no_subnormal_number() -> None:
    words = KERNELS[0].launch(1).arguments[0]
    for kind in (np.float32, np.float16):
        values = words.view(kind)
        assert np.isfinite(values).all()
        assert (np.abs(values.astype(np.float64)) >= np.finfo(kind).tiny).all()
    upper = (words & 0x7F80_0000) >> 23
    assert ((upper > 0) & (upper < 255)).all()  # and as bf16, upper and lower half
    lower = (words & 0x7F80) >> 7
    assert ((lower > 0) & (lower < 255)).all()


def test_a_box_of_a_map_with_replaced_fields_is_at_their_address() -> None:
    kernel = next(each for each in KERNELS if each.has_tensor_map)
    launch = kernel.launch(2)
    found = launch.emulate(kernel.module()).outputs[2].reshape(2, 64, 16)[:, :24, 0]
    scratch = launch.arguments[1].copy()
    scratch[:, 30:], scratch[90:] = 0, 0
    wanted = np.stack([scratch[at : at + 6 : 2, 24:] for at in (1, 86)])
    swizzled = wanted.reshape(2, 3, 2, 4)  # 32 bytes: halves of a row are exchanged in every second line of 128
    assert np.array_equal(found.reshape(2, 3, 2, 4), swizzled)
