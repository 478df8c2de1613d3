"""A supervised process replies, and a hang or exit is an error with a reason, a last output and a stack."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ptxkit.processes import cpu_time
from ptxkit.processes.cpu_time import CpuUsage
from ptxkit.processes.supervised_process import ProcessLostError, ProcessTimeoutError, SupervisedProcess
from tests.processes import children

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")

ROOT = Path(__file__).resolve().parents[2]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def assert_ends(pid: int) -> None:
    for _ in range(9000):  # a quarter of an hour, against a hang only
        if not is_running(pid):
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the process continues")


def test_messages_are_processed_in_order() -> None:
    process = SupervisedProcess(children.echo, "a")
    for message in (1, "text", b"x" * 1_000_000, None):
        process.send(message)
        assert process.receive() == ("a", message)
    process.close()


def test_a_child_can_send_requests_to_its_parent() -> None:
    process = SupervisedProcess(children.add_up)
    for number in (1, 2, 3):
        process.send(number)
        assert process.receive() == "more"
    process.send(None)
    assert process.receive() == 6
    with pytest.raises(ProcessLostError, match="status 0"):
        process.receive()


@pytest.mark.parametrize(
    ("how", "reason"), [("crashes", "signal SIGSEGV"), ("exits", "status 3"), ("needs memory", "status 1")]
)
def test_a_process_that_exits_is_an_error_with_its_last_output(how: str, reason: str) -> None:
    process = SupervisedProcess(children.misbehave, how)
    with pytest.raises(ProcessLostError) as caught:
        process.receive()
    assert (type(caught.value), str(caught.value)) == (ProcessLostError, reason)
    assert "the last words" in caught.value.errors
    with pytest.raises(ProcessLostError):
        process.receive()


@pytest.mark.parametrize(("how", "place"), [("sleeps", "sleep_without_end"), ("turns", "turn_without_end")])
def test_a_process_that_takes_too_long_is_ended_with_its_stack(how: str, place: str) -> None:
    process = SupervisedProcess(children.misbehave, how)
    assert process.receive() == "ready"  # what it does before is not limited
    with pytest.raises(ProcessTimeoutError) as caught, process.time_limit(0.5):
        process.receive()
    assert f"in {place}" in caught.value.errors


def test_a_process_can_limit_its_own_processor_time() -> None:
    process = SupervisedProcess(children.misbehave, "is limited")
    with pytest.raises(ProcessTimeoutError) as caught:
        process.receive()
    assert "in turn_without_end" in caught.value.errors


def test_a_limit_ends_with_its_block() -> None:
    process = SupervisedProcess(children.echo, "a")
    with process.time_limit(0.2):
        pass
    time.sleep(0.6)
    process.send(1)
    assert process.receive() == ("a", 1)
    process.close()


def test_a_process_that_cannot_run_uses_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a busy machine: its processor time does not change."""
    monkeypatch.setattr(cpu_time, "cpu_usage_of", lambda _: CpuUsage(0.0, is_runnable=True))
    process = SupervisedProcess(children.echo, "a")
    with process.time_limit(0.01):
        time.sleep(0.5)
        process.send(1)
        assert process.receive() == ("a", 1)
    process.close()


def test_processes_that_a_process_started_end_with_it(tmp_path: Path) -> None:
    process = SupervisedProcess(children.start_child, str(tmp_path / "pid"))
    assert process.receive() == "started"
    process.close()
    assert_ends(process.pid)
    assert_ends(int((tmp_path / "pid").read_text()))


def test_another_thread_can_end_a_process_that_is_waited_for() -> None:
    process = SupervisedProcess(children.misbehave, "sleeps")
    assert process.receive() == "ready"
    threading.Timer(0.2, process.kill).start()
    with pytest.raises(ProcessLostError, match="signal SIGKILL"):
        process.receive()


def test_a_process_ends_with_the_object(tmp_path: Path) -> None:
    process = SupervisedProcess(children.start_child, str(tmp_path / "pid"))
    process.receive()
    pid = process.pid
    del process
    assert_ends(pid)


def test_a_process_whose_parent_was_killed_ends_with_the_processes_it_started(tmp_path: Path) -> None:
    script = (
        "import sys, time; from tests.processes import children\n"
        "from ptxkit.processes.supervised_process import SupervisedProcess\n"
        "process = SupervisedProcess(children.start_child, sys.argv[1]); process.receive()\n"
        "print(process.pid, flush=True); time.sleep(600)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "pid")]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    assert_ends(child)
    assert_ends(int((tmp_path / "pid").read_text()))
