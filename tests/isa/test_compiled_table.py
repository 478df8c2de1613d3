"""The compiled table is the table: the result of the loader is restored unchanged, and is read from its cache."""

from __future__ import annotations

import marshal
from functools import cache
from pathlib import Path

import pytest

from ptxkit.fast_dataclasses import replace
from ptxkit.installation import grammar_files
from ptxkit.isa import compiled_table, loader
from ptxkit.isa.forms import InstructionSet
from ptxkit.isa.loader import load_instructions


@cache
def table_of_the_files() -> InstructionSet:
    """Returns the table that the loader makes from the `.isa` files, which takes seconds."""
    return load_instructions()


@cache
def encode_table() -> bytes:
    return marshal.dumps(compiled_table.encode(table_of_the_files()))


def same(left: InstructionSet, right: InstructionSet) -> bool:
    def parts(table: InstructionSet) -> list[object]:
        values = [getattr(table, name) for name in table.__match_args__]
        return [value if isinstance(value, tuple) or not hasattr(value, "items") else dict(value) for value in values]

    return parts(left) == parts(right)


def test_the_table_is_restored_unchanged() -> None:
    assert same(compiled_table.decode(marshal.loads(encode_table())), table_of_the_files())


def test_a_table_without_one_of_its_forms_is_another_one() -> None:
    table = table_of_the_files()
    less = replace(table, forms=dict(list(table.forms.items())[1:]))
    assert not same(compiled_table.decode(compiled_table.encode(less)), table)


def test_truth_values_and_numbers_are_distinguished() -> None:
    stored = marshal.loads(encode_table())
    assert len({repr(entry) for entry in stored[0]}) == len(stored[0])
    assert {type(entry) for entry in stored[0] if entry in (0, 1)} == {int, bool}


def test_the_second_load_reads_the_file_of_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(loader, "load_instructions", table_of_the_files)
    first = compiled_table.load_cached()
    assert list((tmp_path / "ptxkit").glob("table.*"))
    monkeypatch.setattr(loader, "load_instructions", lambda: pytest.fail("the cache was not used"))
    assert same(compiled_table.load_cached(), first)


def test_the_copy_depends_on_every_chapter_and_on_the_code_that_reads_them() -> None:
    named = {Path(path).name for path in compiled_table.sources()}
    assert {
        "isa.lark",
        "gates.isa",
        "loader.py",
        "notation.py",
        "forms.py",
        "compiled_table.py",
        "compile_cache.py",
    } <= named
    assert {path.name for path in (Path(grammar_files("isa")[0]).parent).glob("*.isa")} <= named
