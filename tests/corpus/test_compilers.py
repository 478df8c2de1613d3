"""corpus/compilers and corpus/kernels: texts of compilers are read, printed, validated, and not reported wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit import Severity, lint, parse
from ptxkit.validate import validate

from .support import CORPUS, CompilerFile, assemble, compiler_files, kernels, stated_codes

FILES = compiler_files()
each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
each_kernel = pytest.mark.parametrize("path", kernels(), ids=lambda path: path.stem)


@each_file
def test_a_compilers_file_is_restored_by_printing_and_parsing(file: CompilerFile) -> None:
    module = parse(file.path.read_text(), str(file.path))
    assert parse(str(module)) == module


@each_file
def test_a_compilers_file_is_valid_where_ptxas_accepts_it(file: CompilerFile) -> None:
    found = validate(parse(file.path.read_text(), str(file.path))).diagnostics
    assert bool(stated_codes(found, Severity.ERROR)) != file.accepted_by_ptxas


@pytest.mark.parametrize("file", [file for file in FILES if file.kind == "real"], ids=lambda file: file.name)
def test_a_real_kernel_has_no_errors(file: CompilerFile) -> None:
    found = lint(file.path.read_text(), path=str(file.path)).diagnostics
    assert not stated_codes(found, Severity.ERROR)


@each_file
def test_the_manifest_agrees_with_ptxas(file: CompilerFile, tmp_path: Path) -> None:
    done = assemble(file.path, tmp_path)
    assert (done.returncode == 0) == file.accepted_by_ptxas, done.stderr


def test_the_manifest_names_every_file_and_the_readme_too() -> None:
    listed = {file.name for file in FILES}
    present = {str(path.relative_to(CORPUS / "compilers")) for path in (CORPUS / "compilers").rglob("*.ptx")}
    readme = (CORPUS / "compilers" / "README.md").read_text()
    assert listed == present
    assert not [name for name in listed if f"`{name}`" not in readme]


@each_kernel
def test_ptxas_compiles_a_correct_kernel(path: Path, tmp_path: Path) -> None:
    done = assemble(path, tmp_path)
    assert done.returncode == 0, done.stderr


@each_kernel
def test_a_correct_kernel_describes_itself_and_the_rules_it_observes(path: Path) -> None:
    header = [line for line in path.read_text().splitlines() if line.startswith("//")]
    assert len(header) >= 3
    assert any("Keeps:" in line for line in header)
