"""Compiled kernels in the user's cache folder: found by all their inputs, and never partly written."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ptxkit.build import Global, Kernel, VerificationError, f32
from ptxkit.content_store import user_cache_folder
from ptxkit.device import compile as compile_kernel
from ptxkit.device import compiler, cubin_cache


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache has no compiled kernel, but the table and the grammar, which a process takes seconds to make."""
    made, own = user_cache_folder(), tmp_path / "ptxkit"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for path in Path(made).iterdir() if made is not None else ():
        if path.name.startswith(("lark.", "syntax.", "table.")):
            own.mkdir(mode=0o700, exist_ok=True)
            shutil.copy2(path, own)
    return own


def kernel(value: float = 1.0) -> Kernel:
    k = Kernel("k", threads=32)
    k.param(Global[f32], "data")[k.tid.x].store(value)
    return k


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("cubin.*"))


def test_a_compiled_kernel_is_not_compiled_or_verified_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compile_kernel(kernel())
    assert len(entries(folder)) == 1
    for name in ("verify_assembled", "_link_source"):
        monkeypatch.setattr(compiler, name, lambda *_, name=name: pytest.fail(f"{name} was called"))
    again = compile_kernel(kernel())
    assert (again.code, again.log, again.kernels) == (first.code, first.log, first.kernels)


def test_another_kernel_target_or_option_is_another_entry(folder: Path) -> None:
    compile_kernel(kernel())
    for other, options in (
        (kernel(2.0), {}),
        (kernel(), {"target": "sm_80"}),
        (kernel(), {"options": ("-lineinfo",)}),
        (kernel(), {"verify": False}),
    ):
        before = len(entries(folder))
        compile_kernel(other, **options)  # type: ignore[arg-type]
        assert len(entries(folder)) == before + 1


def test_an_unverified_entry_is_not_used_by_callers_that_verify() -> None:
    k = Kernel("k", threads=32)
    tile, data = k.shared(f32, 128, align=16), k.param(Global[f32], "data", align=16)
    k.cp_async_cg(tile, data, 16)
    data.store(tile.load())
    assert compile_kernel(k, verify=False).code
    with pytest.raises(VerificationError):
        compile_kernel(k)


def test_the_cache_can_be_disabled(folder: Path) -> None:
    compile_kernel(kernel(), cache=False)
    assert not entries(folder)


def test_a_damaged_entry_counts_as_missing(folder: Path) -> None:
    code = compile_kernel(kernel()).code
    (path,) = entries(folder)
    for damaged in (b"", path.read_bytes()[:-1], path.read_bytes()[:40] + b"x" + path.read_bytes()[41:]):
        path.write_bytes(damaged)
        assert compile_kernel(kernel()).code == code


def test_without_a_writable_cache_everything_works_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cubin_cache, "user_cache_folder", lambda: None)
    assert compile_kernel(kernel()).code.startswith(b"\x7fELF")


def test_the_oldest_entries_are_removed_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cubin_cache, "MAX_CACHED_CUBINS", 2)
    for value in (1.0, 2.0, 3.0):
        compile_kernel(kernel(value))
    assert len(entries(folder)) == 2


def test_processes_may_write_concurrently(folder: Path) -> None:
    script = (
        "from ptxkit.build import Global, Kernel, f32\n"
        "k = Kernel('k', threads=32)\n"
        "k.param(Global[f32], 'data')[k.tid.x].store(1.0)\n"
        "print(len(k.compile().code))\n"
    )
    racing = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    sizes = {process.communicate(timeout=900)[0] for process in racing}
    assert len(sizes) == 1
    assert len(entries(folder)) == 1
    assert not list(folder.glob(".part-*"))


def test_a_later_process_builds_from_stored_selections_and_reads_no_table() -> None:
    script = (
        "from ptxkit.build import Global, Kernel, f32\n"
        "from ptxkit.isa import table\n"
        "k = Kernel('k', threads=32)\n"
        "k.param(Global[f32], 'data')[k.tid.x].store(1.0)\n"
        "k.compile()\n"
        "print(k)\n"
        "print('_instructions' in vars(table()))\n"
    )
    first, second = (
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
        for _ in range(2)
    )
    assert (first[-1], second[-1]) == ("True", "False")
    assert first[:-1] == second[:-1]
