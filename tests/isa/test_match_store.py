"""The matches of opcodes, stored for other processes: they are restored unchanged, and never confused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ptxkit.installation import installation_stamp
from ptxkit.isa import match_store, table
from ptxkit.isa.forms import Match
from ptxkit.isa.match_store import MatchStore, load_store
from ptxkit.isa.table import InstructionTable
from ptxkit.syntax.tree import Instruction, Name

OPCODES = Path(__file__).resolve().parents[2] / "corpus" / "compilers" / "opcodes.tsv"
ADD = Instruction("add.u32", (Name("%r1"), Name("%r2"), Name("%r3")))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ptxkit"


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("matches.*"))


def whole_table() -> InstructionTable:
    """Returns the store of the installation, with the present matches."""
    return reload_table(table()._instructions)


def without_table() -> InstructionTable:
    """Returns a store that may only read."""
    return reload_table(lambda: pytest.fail("the table was read"))


def reload_table(given: Any) -> InstructionTable:
    found = InstructionTable(given, load_store)
    found.load_match_store()
    return found


def add(known: InstructionTable) -> Match:
    found = known.match(ADD)
    assert isinstance(found, Match)
    return found


def test_the_forms_of_every_opcode_of_the_corpus_are_restored() -> None:
    opcodes = [line.split("\t")[0] for line in OPCODES.read_text("utf-8").splitlines()]
    found = {opcode: table().candidates(opcode) for opcode in opcodes if table().candidates(opcode)}
    assert len(found) > 500
    MatchStore({}, {}).store(found, {})
    again = load_store()
    for opcode, matches in found.items():
        assert again.candidates(opcode) == matches, opcode


def test_stored_matches_and_selections_need_no_table_in_another_process() -> None:
    first = whole_table()
    match = add(first)
    first.store_choices({("plus", "u32", 1): match})
    later = without_table()
    assert add(later) == match
    assert later.stored_choice(("plus", "u32", 1)) is add(later)
    assert later.has_stored_choice("plus")
    assert not later.has_stored_choice("minus")
    assert later.stored_choice(("plus", "u32", 2)) is None


def test_nothing_is_read_without_a_built_kernel() -> None:
    known = InstructionTable(table()._instructions, lambda: pytest.fail("the memory was read"))
    assert add(known).canonical == "add.u32"
    known.store_choices({("plus", "u32", 1): add(known)})
    assert not known.has_stored_choice("plus")


def test_an_unknown_opcode_is_looked_up_in_the_table() -> None:
    whole_table().store_choices({})
    assert load_store().candidates("add.u32") is None
    assert add(whole_table()).canonical == "add.u32"


def test_stores_of_several_processes_are_merged(folder: Path) -> None:
    first, second = whole_table(), whole_table()
    add(first)
    second.match(Instruction("ret"))
    first.store_choices({})
    second.store_choices({})
    assert {"add.u32", "ret"} <= set(load_store().opcodes)
    assert len(files(folder)) == 1


def test_another_state_of_the_installation_shares_nothing_with_this_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = whole_table()
    add(kept)
    kept.store_choices({})
    monkeypatch.setattr(match_store, "installation_stamp", lambda: "another" * 8)
    assert not load_store().opcodes
    [path] = files(folder)
    os.rename(path, folder / path.name.replace(installation_stamp()[:16], ("another" * 8)[:16]))
    assert not load_store().opcodes, "a file under another's name is not believed"


def test_a_damaged_file_is_ignored(folder: Path) -> None:
    kept = whole_table()
    add(kept)
    kept.store_choices({})
    path = files(folder)[0]
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert not load_store().opcodes


def test_an_oversized_store_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_store, "MAX_MATCH_ENTRIES", 1)
    first, second = whole_table(), whole_table()
    add(first)
    first.store_choices({})
    second.match(Instruction("ret"))
    second.store_choices({})
    assert set(load_store().opcodes) == {"ret"}


def test_a_selection_by_a_key_that_cannot_be_stored_is_not_an_error(folder: Path) -> None:
    kept = whole_table()
    kept.store_choices({("plus", object()): add(kept)})
    assert not load_store().choices
