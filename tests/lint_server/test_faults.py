"""A fault of the server, of one of its processes or of its clients affects no other one, and breaks no lint."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from ptxkit.lint_server.messages import ACCEPTED, GO, receive_message, send_message
from tests.batch import planted
from tests.cli.support import CLEAN
from tests.lint_server.support import PLANTED, Site, children_of
from tests.ptxas_wrapper.support import FAULTY

SUMMARY = b"checked 1 file: 0 errors, 0 warnings, 0 undecided\n"
RUN = "from ptxkit.resident_process import run_server; run_server(sys.argv[1])"


def lints(site: Site, text: str = CLEAN) -> bool:
    """Whether a text without findings is linted as it must be, and whether that is done by the server."""
    done = site.run("lint", "-", stdin=text.encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, SUMMARY, b"")
    return site.was_served()


def wait_until_ended(pid: int) -> None:
    """Waits for the end of a process that is not a child of this one."""
    handle = os.pidfd_open(pid)
    import select

    select.select([handle], [], [])
    os.close(handle)


def socket_of(site: Site) -> Path:
    [path] = [each for each in (site.folder / "ptxkit").iterdir() if each.is_socket()]
    return path


def test_without_a_server_a_lint_is_a_normal_one(site: Site) -> None:
    assert not lints(site)
    assert site.run("lint", "--server", "status").returncode == 1
    assert site.run("lint", "--server", "stop").stdout == b"no server is running\n"


def test_a_server_is_started_once_and_stopped(site: Site) -> None:
    first = site.start()
    assert site.start() == first == site.process()
    assert lints(site)
    assert site.run("lint", "--server", "stop").stdout == b"the server was stopped\n"
    assert not lints(site)
    assert site.start() != first


@pytest.mark.parametrize("harm", [planted.DIES, planted.EXITS, planted.BREAKS])
def test_a_check_that_ends_its_process_is_repeated_by_the_client(site: Site, harm: str) -> None:
    server = site.launch(PLANTED)
    assert not lints(site, CLEAN + harm)
    assert lints(site)
    assert site.process() == server


def test_the_process_of_a_client_that_has_gone_is_ended(site: Site) -> None:
    server = site.launch(PLANTED)
    begun = site.folder / "begun"
    (site.folder / "k.ptx").write_text(CLEAN + planted.SPINS + str(begun))
    client = subprocess.Popen(site.command("lint", "k.ptx"), cwd=site.folder, env=site.environment())
    while not begun.exists():
        assert client.poll() is None
    [worker] = children_of(server)
    client.kill()
    client.wait()
    wait_until_ended(worker)
    assert lints(site)
    assert site.process() == server


def test_an_interrupted_client_ends_as_without_the_server(site: Site) -> None:
    server = site.launch(PLANTED)
    begun = site.folder / "begun"
    (site.folder / "k.ptx").write_text(CLEAN + planted.SPINS + str(begun))
    handler = signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # a job in the background ignores it, and so would its children
    try:
        client = subprocess.Popen(
            site.command("lint", "k.ptx"), cwd=site.folder, env=site.environment(), stderr=subprocess.PIPE
        )
    finally:
        signal.signal(signal.SIGINT, handler)
    while not begun.exists():
        assert client.poll() is None
    client.send_signal(signal.SIGINT)
    _, errors = client.communicate()
    assert (client.returncode, errors) == (130, b"")
    assert site.was_served()
    assert lints(site)
    assert site.process() == server


def test_a_process_that_hangs_before_a_call_delays_a_client_for_a_limited_time(site: Site) -> None:
    site.launch(
        "import ptxkit.lint_server.served_call as m, time; m.receive_message = lambda *_: time.sleep(3600); " + RUN
    )
    assert not lints(site)


def test_a_server_whose_files_have_changed_is_not_used_and_ends(site: Site) -> None:
    site.launch("import ptxkit.lint_server.served_call as m; m.is_installation_unchanged = lambda: False; " + RUN)
    assert not lints(site)
    assert site.processes[0].wait() == 0


def test_an_idle_server_ends(site: Site) -> None:
    site.launch("from ptxkit.resident_process import run_server; run_server(sys.argv[1], 0.5)")
    assert site.processes[0].wait() == 0
    assert not lints(site)


def test_a_killed_server_leaves_a_socket_that_is_replaced(site: Site) -> None:
    server = site.start()
    os.kill(server, signal.SIGKILL)
    assert socket_of(site).exists()
    assert not lints(site)
    assert site.start() != server
    assert lints(site)


def test_the_processes_of_a_killed_server_end(site: Site) -> None:
    server = site.start()
    assert lints(site)
    [worker] = children_of(server)
    os.kill(server, signal.SIGKILL)
    wait_until_ended(worker)


@pytest.mark.parametrize("data", [b"", b"\xff" * 100, b"\x08" + b"\0" * 7 + b"garbage!", b"\x01" + b"\0" * 7 + b"N"])
def test_a_client_that_sends_invalid_data_affects_no_other_one(site: Site, data: bytes) -> None:
    server = site.start()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(socket_of(site)))
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):  # data that was not read
            assert client.recv(1) == b""
    assert lints(site)
    assert site.process() == server


def test_an_unknown_program_is_a_lost_call(site: Site) -> None:
    site.start()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(socket_of(site)))
        send_message(client, ("no such program", None, 0, None))
        assert receive_message(client) == (ACCEPTED, [])
        client.sendall(GO)
        assert client.recv(1) == b""
    assert lints(site)


def test_a_call_of_another_user_is_refused(site: Site) -> None:
    site.launch(f"import ptxkit.lint_server.server as m; m.peer_user = lambda _: {os.getuid() + 1}; " + RUN)
    assert not lints(site)


@pytest.mark.parametrize("flags", [["-O"], ["-X", "utf8"], ["-W", "error"]])
def test_another_interpreter_has_another_server(site: Site, flags: list[str]) -> None:
    site.start()
    done = site.run("lint", "-", stdin=CLEAN.encode(), flags=flags)
    assert (done.returncode, done.stdout, done.stderr) == (0, SUMMARY, b"")
    assert not site.was_served()


def test_a_copy_of_ptxkit_has_another_server(site: Site) -> None:
    import shutil

    from tests.lint_server.support import ROOT

    site.start()
    for name in ("ptxkit", "grammars"):
        shutil.copytree(ROOT / name, site.folder / "copy" / name, ignore=shutil.ignore_patterns("__pycache__"))
    done = site.run("lint", "-", stdin=CLEAN.encode(), PYTHONPATH=str(site.folder / "copy"))
    assert (done.returncode, done.stdout, done.stderr) == (0, SUMMARY, b"")
    assert not site.was_served()


def test_a_folder_that_others_can_enter_is_not_used(site: Site) -> None:
    site.start()
    (site.folder / "ptxkit").chmod(0o755)
    assert not lints(site)
    done = site.run("lint", "--server")
    assert done.returncode == 2
    assert b"others can enter it" in done.stderr
    (site.folder / "ptxkit").chmod(0o700)
    assert lints(site)


def test_a_client_without_standard_input_does_its_work_itself(site: Site) -> None:
    site.start()
    (site.folder / "k.ptx").write_text(FAULTY)
    command = ["/bin/sh", "-c", '"$@" <&-', "sh", *site.command("lint", "k.ptx")]
    done = subprocess.run(command, cwd=site.folder, env=site.environment(), capture_output=True, check=False)
    assert done.returncode == 1
    assert b"PTX401" in done.stdout
    assert not site.was_served()


def test_limits_of_the_client_are_those_of_its_check(site: Site) -> None:
    program = (
        "import resource; from ptxkit.lint_server.control import serve; "
        "serve(sys.argv[1], {'lint': lambda _: resource.getrlimit(resource.RLIMIT_NOFILE)[0]})"
    )
    site.launch(program)
    for most in (100, 150, 90):  # the same process can have a higher limit after a lower one
        command = ["/bin/sh", "-c", f'ulimit -S -n {most}; "$@"', "sh", *site.command("lint", "k.ptx")]
        done = subprocess.run(command, cwd=site.folder, env=site.environment(), check=False)
        assert done.returncode == most


def test_the_server_checks_no_files(site: Site) -> None:
    done = site.run("lint", "k.ptx", "--server")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"`--server` checks no files" in done.stderr
    assert b"did you mean `stop`?" in site.run("lint", "--server", "stopp").stderr
