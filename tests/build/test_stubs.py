"""The signatures for editors and type checkers agree with the table and with the methods."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from ptxkit.build import Kernel

ROOT = Path(__file__).parents[2]
STUB = ROOT / "ptxkit" / "build" / "methods.pyi"


@pytest.fixture(scope="module")
def stub_generator() -> object:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        return importlib.import_module("script_lib.stub_generator")
    finally:
        sys.path.remove(str(ROOT / "scripts"))


def defined_methods(name: str) -> list[str]:
    """Returns the lines of the stub with this prefix."""
    return [line for line in STUB.read_text().splitlines() if line.startswith(f"    def {name}")]


def test_they_are_generated_from_the_table(stub_generator: object) -> None:
    assert STUB.read_text() == stub_generator.render_stub(), "run scripts/stubs"  # type: ignore[attr-defined]


def test_they_contain_every_method() -> None:
    k = Kernel("k")
    names = {line.split("(")[0].removeprefix("    def ") for line in defined_methods("")}
    assert len(names) > 250
    for name in names:
        assert getattr(k, name).__doc__


def test_they_contain_operands_results_and_modifiers() -> None:
    line = next(each for each in defined_methods("mbarrier_expect_tx(") if "mask" not in each)
    assert "bar: " in line
    assert "tx: Value" in line
    assert "sc: Literal['cta', 'cluster'] | bool = ..." in line
    assert line.endswith("-> None:")
