"""The signatures for editors and type checkers agree with the table and with the methods."""

from __future__ import annotations

import ast
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
    (line,) = defined_methods("mbarrier_expect_tx(")
    assert "bar: Generic[Any] | Shared[Any]" in line
    assert "tx: Register[T" in line
    assert "sc: Literal['cta', 'cluster'] | bool = ..." in line
    assert line.endswith("-> None:")


def test_each_method_is_documented_in_words() -> None:
    tree = ast.parse(STUB.read_text())
    (methods,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    seen: set[str] = set()
    for node in methods.body:
        assert isinstance(node, ast.FunctionDef)
        if node.name in seen:
            continue  # another overload
        seen.add(node.name)
        text = ast.get_docstring(node) or ""
        assert "PTX ISA, " in text, node.name
        assert "{" not in text, node.name
    assert len(seen) > 5000


def test_the_names_that_kernels_use_are_there() -> None:
    used = {"ld_v4", "st_v4", "fma_rn_f32", "ex2_approx_ftz", "mov_u32", "cvt_u32_u16", "cvt_rn_bf16x2_f32", "setp_lt"}
    used |= {"mbarrier_init", "wgmma_fence", "stmatrix_m8n8_x4", "fence_proxy_async_shared_cta", "cp_async_bulk", "ld"}
    names = {line.split("(")[0].removeprefix("    def ") for line in defined_methods("")}
    assert used <= names
