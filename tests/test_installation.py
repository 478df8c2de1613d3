"""The stamp and the checksum of the installation: the changes that affect them, and those that do not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ptxkit import installation


def test_a_touched_file_of_ptxkit_makes_another_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "rule.py").write_text("1")
    monkeypatch.setattr(installation, "PACKAGE", str(tmp_path))
    before = installation._installation_state()
    assert installation._installation_state() == before
    os.utime(tmp_path / "inner" / "rule.py", (1, 1))
    assert installation._installation_state() != before


def test_a_file_that_vanishes_meanwhile_is_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here.py").write_text("1")
    monkeypatch.setattr(installation, "PACKAGE", str(tmp_path))
    before = installation._installation_state()
    (tmp_path / "gone.py").symlink_to("nowhere")
    assert installation._installation_state() == before


def test_an_installed_package_has_the_contents_of_its_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for package, grammars in (("checkout/ptxkit", "checkout/grammars"), ("site/ptxkit", "site/ptxkit/_grammars")):
        for path, text in ((f"{package}/__init__.py", "1"), (f"{package}/isa/a.py", "2"), (f"{grammars}/b.isa", "3")):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        monkeypatch.setattr(installation, "PACKAGE", str(tmp_path / package))
        monkeypatch.setattr(installation, "grammar_folder", lambda folder=tmp_path / grammars: str(folder))
        found.append(installation.installation_checksum.__wrapped__())
    assert found[0] == found[1]
    (tmp_path / "site/ptxkit/isa/a.py").write_text("4")
    assert installation.installation_checksum.__wrapped__() != found[0]
