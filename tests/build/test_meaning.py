"""The builder's helpers on the reference machine: correct results, and no findings."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.build import External, Generic, f16, f32, s16, u8
from ptxkit.device import link
from ptxkit.emulator import TensorMapArgument, run
from tests.build.programs import PROGRAMS, calling, narrow

OPEN = {f"product_{each}" for each in ("f16_transposed", "bf16_transposed", "e4m3", "e5m2", "s8")}
"""One warp copies a matrix word by word, in loops that are longer than the executions of the analysis."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_built_kernels_compute_the_results_of_numpy(name: str) -> None:
    program = PROGRAMS[name]()
    k = program.kernel
    verdict = k.verify()
    assert verdict.diagnostics == ()
    assert {each.code for each in verdict.undecided} == ({"PTX621"} if name in OPEN else set())
    arguments = [
        array if form is None else TensorMapArgument.tiled(array, box=form.box, swizzle=form.swizzle)
        for form, array in zip((each.tensor for each in k.parameters), program.arguments, strict=True)
    ]
    outcome = run(k.module(), k.name, grid=program.grid, block=k.threads, cluster=program.cluster, arguments=arguments)
    assert outcome.is_clean, (outcome.findings, outcome.incomplete_reason, outcome.unsupported_reason)
    for number, expected in program.expected.items():
        found = np.asarray(outcome.outputs[number]).view(program.arguments[number].dtype)
        assert np.array_equal(found.ravel(), expected.ravel())


def test_functions_of_another_module_are_linked() -> None:
    outside = External("narrow", params=(s16, u8, f16, Generic[f32]), results=(s16, u8, Generic[f32]))
    program = link([calling(outside), narrow().module()], cache=False)
    assert program.cubin.code
