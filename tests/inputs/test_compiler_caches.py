"""The folders in which compilers store their PTX."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ptxkit.inputs.compiler_caches import CACHES, cache_folders


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.setenv("LOGNAME", "some:one")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path


def test_without_settings_they_are_at_the_defaults_of_the_compilers(home: Path) -> None:
    assert cache_folders("triton", {}) == [str(home / "home" / ".triton" / "cache")]
    assert cache_folders("inductor", {}) == [str(home / "tmp" / "torchinductor_some_one")]
    assert cache_folders("cute-dsl", {}) == [str(home / "tmp" / "some_one" / "cutlass_python_cache")]


def test_the_environment_moves_them() -> None:
    assert cache_folders("triton", {"TRITON_CACHE_DIR": "/c", "TRITON_HOME": "/h"}) == ["/c"]
    assert cache_folders("triton", {"TRITON_HOME": "/h"}) == [os.path.join("/h", ".triton", "cache")]
    assert cache_folders("inductor", {"TORCHINDUCTOR_CACHE_DIR": "/i"}) == ["/i"]
    assert cache_folders("cute-dsl", {"CUTE_DSL_DUMP_DIR": "/d", "CUTE_DSL_CACHE_DIR": "/k"}) == ["/d", "/k"]


def test_an_unknown_cache_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="the known caches are triton, inductor, cute-dsl"):
        cache_folders("numba", {})
    assert all(cache_folders(cache, {}) for cache in CACHES)
