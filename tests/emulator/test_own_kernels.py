"""The project's own kernels on the machine, with larger cases: NumPy's results, and no findings.

Each runs under half of the policies; test_builder_kernels.py has the smallest cases under all, `scripts/soak_emulator`
all of both.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from ptxkit.build import Kernel
from ptxkit.emulator import POLICIES, RunBudget, run
from ptxkit.kernels import kernel_cases
from ptxkit.kernels.kernel_check import KernelCase
from ptxkit.kernels.seeds import seed_cases as seeds
from ptxkit.testing.hardware.emulator_soak import small_cases

CASES = 2
SUBJECTS = {each.build.__name__: each for each in (*kernel_cases.CHECKED_KERNELS, *seeds.CHECKED_SEEDS)}
"""Those with tensor maps have separate tests."""
WITH_MAPS = {"transpose", "tensor_tile"}


def shared_bytes(kernel: Kernel, case: KernelCase) -> int:
    """Launch-sized shared memory: the kernel's request, unless the case specifies more."""
    return max(case.shared or 0, kernel.dynamic_bytes)


NAMES = sorted(SUBJECTS.keys() - WITH_MAPS)


@pytest.mark.parametrize(
    ("name", "policy"), [(name, policy) for at, name in enumerate(NAMES) for policy in POLICIES[at % 2 :: 2]]
)
def test_a_kernel_gives_the_result_of_numpy_and_breaks_no_rule(name: str, policy: str) -> None:
    kernel = SUBJECTS[name].build()
    text = str(kernel)
    sizes = small_cases(SUBJECTS[name])[:CASES]
    case = sizes[POLICIES.index(policy) // 2 % len(sizes)]
    target = np.zeros_like(case.expected) if case.initial_target is None else case.initial_target.copy()
    found = run(
        text,
        kernel.name,
        grid=case.grid,
        shared=shared_bytes(kernel, case),
        arguments=[case.source, target, *case.extra_arguments],
        policy=policy,
        seed=len(case.size),
        budget=RunBudget(seconds=200),
    )
    assert not found.unsupported_reason
    assert not found.findings, found.findings[0]
    assert not found.incomplete_reason
    got = found.outputs[1]
    if case.tolerance:
        scale = np.abs(case.expected).max(-1, keepdims=True)
        assert (np.abs(got.astype(np.float64) - case.expected) <= case.tolerance * scale).all()
    else:
        assert (got.view(np.uint32) == case.expected.view(np.uint32)).all()


def test_a_kernel_that_lacks_a_barrier_is_found() -> None:
    text = str(SUBJECTS["plain_staging"].build())
    case = small_cases(SUBJECTS["plain_staging"])[-1]
    broken, count = re.subn(
        r"^\s*(bar\.sync|barrier\.sync|bar\.cta\.sync|barrier\.cta\.sync)[^;]*;", "", text, count=1, flags=re.M
    )
    assert count == 1
    arguments = [case.source, np.zeros_like(case.expected), *case.extra_arguments]
    assert not run(text, "plain_staging", grid=case.grid, arguments=arguments).findings
    found = run(broken, "plain_staging", grid=case.grid, arguments=arguments).findings
    assert {each.code for each in found} == {"PTX621"}
