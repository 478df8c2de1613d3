"""The signatures for editors and type checkers agree with the methods."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from ptxkit.build import Kernel

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(scope="module")
def stub() -> str:
    sys.path.insert(0, str(SCRIPTS))
    try:
        return str(importlib.import_module("script_lib.stub_generator").render_stub())
    finally:
        sys.path.remove(str(SCRIPTS))


def defined_methods(stub: str, name: str) -> list[str]:
    """Returns the lines of the stub with this prefix."""
    return [line for line in stub.splitlines() if line.startswith(f"    def {name}")]


def test_they_contain_every_method(stub: str) -> None:
    k = Kernel("k")
    names = {line.split("(")[0].removeprefix("    def ") for line in defined_methods(stub, "")}
    assert len(names) > 250
    for name in names:
        assert getattr(k, name).__doc__


def test_they_contain_operands_results_and_modifiers(stub: str) -> None:
    line = next(each for each in defined_methods(stub, "mbarrier_expect_tx(") if "mask" not in each)
    assert "bar: " in line
    assert "tx: Value" in line
    assert "sc: Literal['cta', 'cluster'] | bool = ..." in line
    assert line.endswith("-> None:")
