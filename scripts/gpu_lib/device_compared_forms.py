"""The forms in the kernels of the scripts that compare the machine with a GPU (`semantics_coverage --compared`)."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from random import Random
from typing import Any

from gpu_lib.matrix_forms import matrix_kernels as matrices
from ptxkit.testing.coverage.hardware_coverage import GPU, NEWEST, form_key, forms_in
from ptxkit.testing.generators.form_variants import variants
from ptxkit.testing.generators.random_kernels import random_kernel
from ptxkit.testing.hardware.emulator_vs_device import compared_launches
from ptxkit.testing.hardware.emulator_vs_device import subject_names as kernels

GENERATED = 300
"""The number of kernels of `device_kernels`, which runs thousands."""


def forms_by_script() -> dict[str, set[str]]:
    """Returns the forms by script, with its default options."""
    return {
        "device_numbers": {form_key(each.match.form) for each in variants(NEWEST, GPU, 40, 1)},
        "device_matrices": forms_in(each.text for each in matrices("8.4", GPU, 12, 1)),
        "device_textures": forms_in(_texture_texts()),
        "device_kernels": forms_in(_generated_texts()),
        "device_same": forms_in(_subject_texts()),
    }


def _texture_texts() -> Iterator[str]:
    script = _load_script("device_textures")
    yield from (script.KERNEL.format(body=case.body) for case in script.cases(0))


def _generated_texts() -> Iterator[str]:
    """Yields the first kernels of the script's seed."""
    for number in range(GENERATED):
        yield random_kernel(Random(1_000_003 + number), (8, 7), GPU, 16, "k").module()


def _subject_texts() -> Iterator[str]:
    for name in kernels():
        texts = [each.text for each in compared_launches(name, 1)]
        yield from (text for text in texts[:1] if ".target sm_10" not in text)


def _load_script(name: str) -> Any:
    """Loads a script as a module, although it has no suffix."""
    loader = SourceFileLoader(name, str(Path(__file__).parents[1] / name))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    made = sys.modules[name] = importlib.util.module_from_spec(spec)
    loader.exec_module(made)
    return made
