"""The list of known differences."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.testing import known
from ptxkit.testing.known import Known, known_differences


def test_every_known_difference_has_a_reason() -> None:
    assert all(len(each.reason) > 20 for each in known_differences())


def test_a_difference_is_covered_only_where_all_that_is_said_holds() -> None:
    entry = Known("ptxkit", "why", ptxas="13.0", opcode="atom.*", says="status -11")
    assert entry.covers("atom.add.u32", "13.0", "ptxkit", "ends with status -11")
    assert not entry.covers("red.add.u32", "13.0", "ptxkit", "ends with status -11")
    assert not entry.covers("atom.add.u32", "13.5", "ptxkit", "ends with status -11")
    assert not entry.covers("atom.add.u32", "13.0", "ptxas", "ends with status -11")
    assert not entry.covers("atom.add.u32", "13.0", "ptxkit", "syntax error")


@pytest.mark.parametrize(
    "entry", ['accepts = "nobody"\nreason = "x"', 'accepts = "ptxas"', 'accepts = "ptxas"\nreason = "x"\nrelease = "1"']
)
def test_a_wrong_entry_is_reported_with_its_file_and_number(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "isa").mkdir()
    (tmp_path / "isa" / "tolerated.toml").write_text(f"[[difference]]\n{entry}\n")
    monkeypatch.setattr(known, "grammars", lambda: tmp_path)
    with pytest.raises(ValueError, match=r"tolerated\.toml: difference 1: "):
        known_differences.__wrapped__()
