"""Results of earlier runs: used where all their inputs are the same, and never an obstacle."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ptxkit.batch import result_cache
from ptxkit.batch.cache_folder import UnusableCacheError, result_folder
from ptxkit.batch.job import Job, JobMode, JobResult, run_job
from ptxkit.batch.result_cache import ResultCache
from ptxkit.content_store import ContentStore
from ptxkit.diagnostics import Severity
from ptxkit.results import Status
from ptxkit.settings.model import DEFAULT, CodeSelection, Settings
from ptxkit.source import SourceFile
from tests.cli.support import BROKEN, CLEAN
from tests.rules.test_box_conditions import ONE_MAP

WARNED = CLEAN.replace("st.global.u32", "st.volatile.global.u32").replace("[%rd2]", "[%rd2+2]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path


def make_job(text: str = BROKEN, path: str = "k.ptx", settings: Settings = DEFAULT, wish: JobMode = "find") -> Job:
    return Job(SourceFile(path, text), settings, wish)


def fill_cache(folder: Path, question: Job) -> JobResult:
    """Stores the result of a job, as a run does."""
    store = ResultCache(str(folder))
    with_key, known = store.lookup(question)
    assert known is None
    answer = run_job(with_key)
    store.store(with_key, answer)
    return answer


def load_result(folder: Path, question: Job) -> JobResult | None:
    return ResultCache(str(folder)).lookup(question)[1]


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.result"))


@pytest.mark.parametrize("text", [CLEAN, BROKEN, WARNED])
def test_a_stored_result_is_the_found_result(folder: Path, text: str) -> None:
    answer = fill_cache(folder, make_job(text))
    assert load_result(folder, make_job(text)) == answer


def test_a_stored_question_has_its_conditions(folder: Path) -> None:
    answer = fill_cache(folder, make_job(ONE_MAP))
    assert answer.result.status is Status.CONDITIONAL
    assert load_result(folder, make_job(ONE_MAP)) == answer


def test_the_name_of_the_file_is_that_of_the_job(folder: Path) -> None:
    fill_cache(folder, make_job(path="a.ptx"))
    found = load_result(folder, make_job(path="b/c.ptx"))
    assert found is not None
    assert found.result.path == "b/c.ptx"
    assert {item.source.path for item in found.result.diagnostics} == {"b/c.ptx"}


@pytest.mark.parametrize(
    "other",
    [
        make_job(BROKEN + "\n"),
        make_job(settings=Settings(policy="strict")),
        make_job(settings=Settings(notes=True)),
        make_job(settings=Settings(target="sm_90a")),
        make_job(settings=Settings(ptx_version=(8, 7))),
        make_job(settings=Settings(selections=(CodeSelection(("PTX4",)),))),
        make_job(settings=Settings(severities=(("PTX4", Severity.NOTE),))),
        make_job(wish="offer"),
    ],
)
def test_another_text_or_other_settings_are_checked_again(folder: Path, other: Job) -> None:
    fill_cache(folder, make_job())
    assert load_result(folder, other) is None


def test_a_baseline_is_not_part_of_the_stored_result(folder: Path) -> None:
    fill_cache(folder, make_job())
    assert load_result(folder, make_job(settings=Settings(baseline="known.json"))) is not None


def test_another_state_of_ptxkit_checks_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_cache(folder, make_job())
    monkeypatch.setattr(result_cache, "installation_stamp", lambda: "another")
    assert load_result(folder, make_job()) is None


def test_nothing_is_stored_when_ptxkit_was_changed_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_cache, "is_installation_unchanged", lambda: False)
    fill_cache(folder, make_job())
    assert entries(folder) == []


@pytest.mark.parametrize("damage", [b"", b"ptxkit", b"\0" * 500])
def test_a_damaged_entry_counts_as_missing_and_is_written_again(folder: Path, damage: bytes) -> None:
    answer = fill_cache(folder, make_job())
    [entry] = entries(folder)
    entry.write_bytes(damage)
    assert load_result(folder, make_job()) is None
    fill_cache(folder, make_job())
    assert load_result(folder, make_job()) == answer


def test_every_changed_byte_is_noticed(folder: Path) -> None:
    fill_cache(folder, make_job())
    [entry] = entries(folder)
    data = entry.read_bytes()
    for place in range(len(data)):
        entry.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert load_result(folder, make_job()) is None
    entry.write_bytes(data)
    assert load_result(folder, make_job()) is not None


def test_a_failed_result_is_not_stored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr("ptxkit.linter._lint_with_suppressions", breaks)
    fill_cache(folder, make_job())
    assert entries(folder) == []


def test_fixed_texts_are_not_stored(folder: Path) -> None:
    fill_cache(folder, make_job(wish="fix"))
    assert entries(folder) == []


def test_an_unwritable_folder_is_harmless(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(ContentStore, "write", full)
    fill_cache(folder, make_job())
    assert entries(folder) == []


@pytest.mark.skipif(os.name != "posix", reason="needs permissions")
def test_a_folder_that_others_may_write_to_is_rejected(folder: Path) -> None:
    assert result_folder(str(folder)) == str(folder)
    folder.chmod(0o777)
    with pytest.raises(UnusableCacheError, match="is writable by other users"):
        result_folder(str(folder))


def test_the_entries_that_were_used_last_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_cache, "MAX_CACHED_RESULTS", 3)
    store = ResultCache(str(folder))
    for number in range(5):
        question, _ = store.lookup(make_job(CLEAN + f"// {number}"))
        store.store(question, run_job(question))
        newest = max(entries(folder), key=lambda each: each.stat().st_mtime_ns)
        os.utime(newest, (time.time() - 1000 + number, time.time() - 1000 + number))
    store.evict()
    assert len(entries(folder)) == 3
    assert [number for number in range(5) if load_result(folder, make_job(CLEAN + f"// {number}"))] == [2, 3, 4]


def test_the_size_of_all_entries_is_limited(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_cache(folder, make_job())
    monkeypatch.setattr(result_cache, "MAX_CACHED_RESULTS_BYTES", entries(folder)[0].stat().st_size + 10)
    store = ResultCache(str(folder))
    question, _ = store.lookup(make_job(CLEAN))
    store.store(question, run_job(question))
    store.evict()
    assert len(entries(folder)) == 1


def test_an_entry_that_is_used_counts_as_new(folder: Path) -> None:
    fill_cache(folder, make_job())
    [entry] = entries(folder)
    os.utime(entry, (1, 1))
    assert load_result(folder, make_job()) is not None
    assert entry.stat().st_mtime > 1
