"""The files that users install and run first: the wheel, with its grammars, and the scripts that make an
environment."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from ptxkit.cli.commands import cli
from ptxkit.resources import grammar_path
from tests.cli.support import BROKEN, CLEAN

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def test_the_wheel_contains_the_package_and_works_where_it_is_installed(tmp_path: Path) -> None:
    """One test, since each process that got one of several would build and install the wheel for itself."""
    wheel = build_wheel(tmp_path / "wheel")
    the_wheel_holds_every_grammar_and_every_module(wheel)
    the_wheel_holds_nothing_but_the_package(wheel)
    target = tmp_path / "installed"
    options = ("--no-deps", "--no-index", "--no-compile", "--no-input", "--disable-pip-version-check")
    done = run(sys.executable, "-m", "pip", "install", *options, "--target", target, wheel)
    assert done.returncode == 0, done.stderr
    ptxkit_lints_from_an_installed_wheel(target, tmp_path)
    the_wheel_brings_its_compiled_grammars_along(target, tmp_path)


def build_wheel(folder: Path) -> Path:
    """Returns the wheel of this checkout, built by hatchling without a network."""
    done = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = folder.glob("*.whl")
    return built


def the_wheel_holds_every_grammar_and_every_module(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    folder = grammar_path()
    wanted = {f"ptxkit/_grammars/{path.relative_to(folder).as_posix()}" for path in folder.rglob("*") if path.is_file()}
    for pattern in ("*.py", "*.css", "*.js"):
        wanted |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "ptxkit").rglob(pattern)}
    assert wanted <= names
    assert {"ptxkit/_grammars/ptx.lark", "ptxkit/py.typed"} <= names


def the_wheel_holds_nothing_but_the_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"ptxkit"}
    data = sorted(name.split(".data/")[1] for name in names if ".data/" in name)
    assert data == sorted(f"data/share/man/man1/{name}" for name in man_page_names())
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if "__pycache__" in name]


def man_page_names() -> set[str]:
    return {"ptxkit.1", *(f"ptxkit-{command.name}.1" for command in cli.commands.values())}


def ptxkit_lints_from_an_installed_wheel(target: Path, tmp_path: Path) -> None:
    (tmp_path / "clean.ptx").write_text(CLEAN)
    (tmp_path / "broken.ptx").write_text(BROKEN)

    def lint(name: str) -> subprocess.CompletedProcess[str]:
        return run(sys.executable, "-m", "ptxkit", "lint", name, cwd=tmp_path, PYTHONPATH=str(target))

    where = run(sys.executable, "-c", "import ptxkit; print(ptxkit.__file__)", cwd=tmp_path, PYTHONPATH=str(target))
    assert Path(where.stdout.strip()).is_relative_to(target)
    clean, broken = lint("clean.ptx"), lint("broken.ptx")
    assert clean.returncode == 0, clean.stdout + clean.stderr
    assert broken.returncode == 1, broken.stdout + broken.stderr


def the_wheel_brings_its_compiled_grammars_along(target: Path, tmp_path: Path) -> None:
    """They are used, and where they cannot be, everything works without them: nothing can be written here."""
    script = (
        "import ptxkit.isa.loader, ptxkit.syntax.lark_tables as tables\n"
        "from ptxkit.isa import table\n"
        "compiled = []\n"
        "loader = ptxkit.isa.loader\n"
        "for module, name in ((loader, 'load_instructions'), (tables, 'terminals'), (tables, 'compile_tables')):\n"
        "    def noted(*args, name=name, made=getattr(module, name)): compiled.append(name); return made(*args)\n"
        "    setattr(module, name, noted)\n"
        "assert len(table().names) > 100\n"
        "assert str(ptxkit.parse('.version 8.0 .target sm_80')).startswith('.version 8.0')\n"
        "tables.lark_parser()\n"
        "print(sorted(compiled))"
    )

    def compiled_now() -> str:
        done = run(sys.executable, "-c", script, cwd=tmp_path, PYTHONPATH=str(target), XDG_CACHE_HOME="/dev/null")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert compiled_now() == "[]"
    for path in (target / "ptxkit" / "_compiled").iterdir():
        path.write_bytes(b"garbage")
    assert compiled_now() == "['compile_tables', 'load_instructions', 'terminals']"


def test_the_dependencies_of_the_tests_are_declared() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(line.startswith("nvidia-cuda-nvcc>=13.5") for line in extras["dev"])
    assert set(extras) >= {"cuda", "testing", "dev"}


@pytest.mark.skipif(os.name != "posix", reason="the scripts are for a POSIX shell")
@pytest.mark.parametrize("name", ["environment", "test", "demo"])
def test_the_scripts_are_posix_shell(name: str) -> None:
    done = run("sh", "-n", ROOT / "scripts" / name)
    assert (done.returncode, done.stderr) == (0, "")
    assert "[[" not in (ROOT / "scripts" / name).read_text()


def checkout(tmp_path: Path, python: str) -> Path:
    """Returns a folder with the scripts, the project file, and a `python` that is this shell script."""
    (tmp_path / "scripts").mkdir()
    for name in ("pyproject.toml", "scripts/environment", "scripts/test"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    interpreter = tmp_path / "python"
    interpreter.write_text(f"#!/bin/sh\n{python}\n")
    interpreter.chmod(0o755)
    return interpreter


@pytest.mark.skipif(os.name != "posix", reason="the scripts are for a POSIX shell")
def test_an_old_python_is_rejected_with_a_message(tmp_path: Path) -> None:
    python = checkout(tmp_path, 'case "$1" in --version) echo Python 3.8.18 ;; *) exit 1 ;; esac')
    done = run("sh", "scripts/test", cwd=tmp_path, PYTHON=str(python))
    assert done.returncode == 2
    assert "is Python 3.8.18; ptxkit needs Python 3.11 or later" in done.stderr
    assert "PYTHON=" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="the scripts are for a POSIX shell")
def test_a_missing_python_is_reported(tmp_path: Path) -> None:
    checkout(tmp_path, "")
    done = run("sh", "scripts/test", cwd=tmp_path, PYTHON="python-of-nobody")
    assert done.returncode == 2
    assert "python-of-nobody is not on the PATH" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="the scripts are for a POSIX shell")
def test_a_python_without_venv_names_the_package_to_install(tmp_path: Path) -> None:
    python = checkout(tmp_path, 'case "$1 $2" in "-m "*) exit 1 ;; *) exec ' + f"'{sys.executable}'" + ' "$@" ;; esac')
    done = run("sh", "scripts/test", cwd=tmp_path, PYTHON=str(python))
    assert done.returncode == 2
    assert "apt install python3-venv" in done.stderr
