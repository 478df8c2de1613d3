"""A text that hangs or ends its process is that text's failed result; the others are still checked."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptxkit.batch import supervised_checker, worker
from ptxkit.batch.failure_results import out_of_memory_result
from ptxkit.batch.in_process import InProcessRunner
from ptxkit.batch.job import Job, JobResult, JobSlot
from ptxkit.batch.local_pool import LocalRunner
from ptxkit.batch.result_codec import decode_result
from ptxkit.batch.supervised_checker import SupervisedChecker
from ptxkit.linter import lint_source
from ptxkit.processes import cpu_time
from ptxkit.processes.cpu_time import CpuUsage
from ptxkit.results import FileResult, Status
from ptxkit.settings.model import DEFAULT
from ptxkit.source import SourceFile
from tests.batch import planted
from tests.cli.support import BROKEN, CLEAN

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[SupervisedChecker]:
    """A process in which comments of a text cause misbehavior."""
    monkeypatch.setattr(supervised_checker, "WORKER", planted.serve)
    monkeypatch.syspath_prepend(str(ROOT))
    one = SupervisedChecker(100)
    yield one
    one.close()


def make_job(text: str, path: str = "k.ptx") -> Job:
    return Job(SourceFile(path, text), DEFAULT)


def of(process: SupervisedChecker, text: str) -> FileResult:
    return process.run_job(make_job(text)).result


def message(result: FileResult) -> str:
    assert result.status is Status.FAILED
    [item] = result.diagnostics
    assert (item.code, item.help is not None) == ("PTX100", True)
    return item.message


def test_a_process_returns_the_results_of_the_linter(process: SupervisedChecker) -> None:
    for text in (CLEAN, BROKEN):
        assert of(process, text) == lint_source(SourceFile("k.ptx", text))


@pytest.mark.parametrize(
    ("harm", "expected"),
    [
        (planted.HANGS, "the check of this file took longer than 100 seconds, and was terminated"),
        (planted.DIES, "the process that checked this file ended with signal SIGSEGV"),
        (planted.EXITS, "the process that checked this file ended with status 3"),
        (planted.FILLS, "the check of this file ran out of memory"),
    ],
)
def test_a_harmful_text_fails_and_the_next_is_checked(process: SupervisedChecker, harm: str, expected: str) -> None:
    assert message(of(process, CLEAN + harm)) == expected
    assert of(process, CLEAN).status is Status.CLEAN


def test_the_place_of_a_hanging_check_is_reported(process: SupervisedChecker) -> None:
    [item] = of(process, CLEAN + planted.HANGS).diagnostics
    assert "in answer_job" in str(item.properties["stack"])


def test_a_process_that_is_not_scheduled_keeps_its_processor_time(
    process: SupervisedChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On an overloaded machine: by the clock its time is over at once."""
    monkeypatch.setattr(supervised_checker, "WALL_TIME_FACTOR", 0.0001)
    monkeypatch.setattr(cpu_time, "cpu_usage_of", lambda _: CpuUsage(0.0, is_runnable=True))
    [item] = of(process, CLEAN + planted.HANGS).diagnostics
    assert "in answer_job" in str(item.properties["stack"])


def test_a_blocked_process_is_ended_by_the_clock(process: SupervisedChecker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised_checker, "WALL_TIME_FACTOR", 0.01)
    assert "took longer than 100 seconds" in message(of(process, CLEAN + planted.SLEEPS))


def test_output_of_a_check_does_not_corrupt_the_results(process: SupervisedChecker) -> None:
    assert of(process, CLEAN + planted.PRINTS).status is Status.CLEAN


def test_the_same_process_continues_after_an_ordinary_text(process: SupervisedChecker) -> None:
    of(process, CLEAN)
    first = process._process
    of(process, BROKEN)
    assert process._process is first


def test_a_process_with_much_memory_is_replaced(process: SupervisedChecker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised_checker, "MAX_RETAINED_MEMORY", 1)
    assert of(process, CLEAN).status is Status.CLEAN
    assert process._process is None
    assert of(process, CLEAN).status is Status.CLEAN


def test_among_many_texts_only_the_harmful_ones_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised_checker, "WORKER", planted.serve)
    monkeypatch.syspath_prepend(str(ROOT))
    harms = {2: planted.DIES, 3: planted.HANGS, 7: planted.EXITS}
    items = [JobSlot(n, make_job(CLEAN + harms.get(n, ""), f"{n}.ptx")) for n in range(9)]
    runner = LocalRunner(2, 100)
    try:
        results = [answer.result for _, answer in runner.run_all(items)]
    finally:
        runner.close()
    assert [result.path for result in results] == [f"{n}.ptx" for n in range(9)]
    assert {n for n, result in enumerate(results) if result.status is Status.FAILED} == set(harms)
    assert {results[n].status for n in range(9) if n not in harms} == {Status.CLEAN}


def test_an_endless_check_in_this_process_is_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxkit.batch.in_process.run_job", planted.answer_job)
    alone = InProcessRunner(100)
    result = alone.run_job(make_job(CLEAN + planted.HANGS)).result
    assert message(result) == "the check of this file took longer than 100 seconds, and was terminated"
    assert alone.run_job(make_job(CLEAN)).result.status is Status.CLEAN


def test_an_endless_check_is_given_up_though_it_was_in_a_destructor_when_its_time_was_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There Python ignores any exception."""

    class Endless:
        def __del__(self) -> None:
            reached.append("destructor")
            while True:
                pass

    def destroys(_: Job) -> None:
        Endless()
        reached.append("check")
        while True:
            pass

    reached: list[str] = []
    monkeypatch.setattr("sys.unraisablehook", lambda _: None)
    monkeypatch.setattr("ptxkit.batch.in_process.run_job", destroys)
    monkeypatch.setattr("ptxkit.batch.in_process._REPEAT_SECONDS", 0.05)
    assert message(InProcessRunner(0.05).run_job(make_job(CLEAN)).result) == (
        "the check of this file took longer than 0.05 seconds, and was terminated"
    )
    assert reached == ["destructor", "check"]


def test_a_check_in_this_process_that_runs_out_of_memory_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fills(_: Job) -> None:
        raise MemoryError

    monkeypatch.setattr("ptxkit.batch.in_process.run_job", fills)
    assert message(InProcessRunner(1).run_job(make_job(CLEAN)).result) == "the check of this file ran out of memory"


@pytest.mark.parametrize("place", ["worker", "in_process"])
def test_the_data_of_a_check_is_freed_before_its_failure_is_reported(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise there is no memory for the result."""

    class Much:
        pass

    had: list[weakref.ref[Much]] = []

    def crowds(_: Job) -> JobResult:
        much = Much()
        had.append(weakref.ref(much))
        raise MemoryError

    def report_all(source: SourceFile) -> JobResult:
        assert had[0]() is None
        return out_of_memory_result(source)

    monkeypatch.setattr(f"ptxkit.batch.{place}.run_job", crowds)
    monkeypatch.setattr(f"ptxkit.batch.{place}.out_of_memory_result", report_all)
    question = make_job(CLEAN)
    answer = InProcessRunner(1).run_job(question) if place == "in_process" else run_in_worker(question)
    assert message(answer.result) == "the check of this file ran out of memory"


def run_in_worker(question: Job) -> JobResult:
    answer, _ = worker.run_reported(question)
    assert answer is not None
    return decode_result(answer, question.source)


def test_a_process_whose_parent_was_killed_ends_even_if_its_check_hangs(tmp_path: Path) -> None:
    import os
    import signal
    import subprocess
    import time

    begun = tmp_path / "begun"
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from ptxkit.batch import supervised_checker; from tests.batch import planted\n"
        "supervised_checker.WORKER = planted.serve\n"
        "from ptxkit.batch.supervised_checker import SupervisedChecker; from ptxkit.batch.job import "
        "Job; import threading\n"
        "from tests.batch.test_isolation import make_job, CLEAN\n"
        "one = SupervisedChecker(10000)\n"
        f"text = CLEAN + planted.SPINS + {str(begun)!r}\n"
        "threading.Thread(target=one.run_job, args=(make_job(text),), daemon=True).start()\n"
        "while one._process is None: pass\n"
        "print(one._process.pid, flush=True); sys.stdin.read()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    while not begun.exists():
        assert parent.poll() is None
        time.sleep(0.1)
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    for _ in range(6000):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{child}/stat").exists() and ") Z " in Path(f"/proc/{child}/stat").read_text():
            return  # it has ended, and its new parent has not noticed yet
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    pytest.fail("it goes on")


def test_an_error_in_the_table_is_reported_to_the_caller() -> None:
    import pickle

    from ptxkit.isa.errors import NotationError

    mistake = NotationError("no such word", "a.isa", "let x = 1", 1, 5)
    again = pickle.loads(pickle.dumps(mistake))
    assert (type(again), str(again)) == (NotationError, str(mistake))
