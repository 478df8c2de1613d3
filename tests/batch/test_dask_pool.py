"""Two workers of dask.distributed: the same results, order and exit status as in this process.

`local:2` needs no network.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.support import BROKEN, CLEAN, shell

pytest.importorskip("distributed")
pytest.importorskip("joblib")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")

ROOT = Path(__file__).resolve().parent.parent.parent
PLANTED = """\
import sys
sys.path.insert(0, {root!r})
from ptxkit.batch import supervised_checker
from tests.batch import planted
supervised_checker.WORKER = planted.serve
"""
"""In the workers, too: Python runs it when it starts."""


WATCH = """\
import os, sys
def audit(event, arguments):
    if event == "socket.bind":
        with open(os.environ["BOUND"], "a") as file:
            file.write(f"{sys.argv} {arguments[1]!r}\\n")
sys.addaudithook(audit)
"""
"""In every process of a command: the addresses to which it binds a socket."""


@contextmanager
def two_workers() -> Iterator[str]:
    """Returns the address of a scheduler with two workers."""
    import distributed

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for number in range(8):
        (tmp_path / f"{number}.ptx").write_text(BROKEN if number == 3 else CLEAN + f"// {number}\n")
    for number, path in enumerate(sorted((ROOT / "corpus" / "rules").glob("PTX401_bad_*.ptx"))[:2]):
        (tmp_path / f"b{number}.ptx").write_bytes(path.read_bytes())
    with zipfile.ZipFile(tmp_path / "w.whl", "w") as wheel:
        for number in range(3):
            wheel.writestr(f"{number}.ptx", CLEAN + f"// w{number}\n")
    (tmp_path / "utf16.ptx").write_bytes(CLEAN.encode("utf-16"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_workers_print_the_output_of_this_machine(files: Path) -> None:
    inputs = (".", "nowhere.ptx", "w.whl")
    with two_workers() as address:
        there = shell("lint", "--cluster", address, "--format", "json", *inputs)
    here = shell("lint", "--jobs", "2", "--format", "json", *inputs)
    assert (there.returncode, there.stdout) == (here.returncode, here.stdout)
    assert there.returncode == 2
    assert len(json.loads(there.stdout)["files"]) == 15


@pytest.mark.parametrize(
    "command",
    [
        ("lint", "--cluster", "local:2", "--no-cache", "--format", "json", ".", "w.whl"),
        (
            "fuzz",
            "--cluster",
            "local:2",
            "--oracle",
            "round-trip",
            "--count",
            "2",
            "--hang",
            "1000",
            "--folder",
            "kept",
        ),
    ],
)
def test_local_workers_open_no_port(files: Path, command: tuple[str, ...]) -> None:
    """Any process of the machine could connect to a port, and a scheduler executes every request."""
    (files / "site").mkdir()
    (files / "site" / "sitecustomize.py").write_text(WATCH)
    watch = {"PYTHONPATH": f"{files / 'site'}:{ROOT}", "BOUND": str(files / "bound")}
    done = shell(*command, **watch)
    assert done.returncode in (0, 2), done.stderr
    assert done.stdout
    assert not (files / "bound").exists(), (files / "bound").read_text()
    there = "import socket; socket.create_server(('127.0.0.1', 0))"
    assert os.spawnve(os.P_WAIT, sys.executable, [sys.executable, "-c", there], {**os.environ, **watch}) == 0
    assert (files / "bound").exists(), "the watch hears nothing"


def test_local_workers_print_the_output_of_this_machine(files: Path) -> None:
    there = shell("lint", "--cluster", "local:2", "--no-cache", "--format", "json", ".")
    here = shell("lint", "--jobs", "2", "--no-cache", "--format", "json", ".")
    assert (there.returncode, there.stdout) == (here.returncode, here.stdout)


def test_a_text_that_ends_its_remote_process_affects_no_other_text(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.batch import planted

    (files / "2.ptx").write_text(CLEAN + planted.DIES)
    (files / "5.ptx").write_text(CLEAN + planted.HANGS)
    (files / "site").mkdir()
    (files / "site" / "sitecustomize.py").write_text(PLANTED.format(root=str(ROOT)))
    monkeypatch.setenv("PYTHONPATH", f"{files / 'site'}:{ROOT}")
    with two_workers() as address:
        done = shell(
            *("lint", "--cluster", address, "--timeout", "100", "--format", "json"),
            *(f"{number}.ptx" for number in range(8)),
        )
    document = json.loads(done.stdout)
    assert done.returncode == 2
    assert [each["path"] for each in document["files"]] == [f"{number}.ptx" for number in range(8)]
    statuses = [each["status"] for each in document["files"]]
    assert statuses == [{2: "failed", 5: "failed", 3: "findings"}.get(number, "clean") for number in range(8)]


@pytest.mark.parametrize(
    ("address", "reported"),
    [
        ("local:x", "write `local:2`"),
        ("local:\u00b2", "write `local:2`"),
        ("local:99999999", "write `local:2`"),
        ("tcp://127.0.0.1:9", "no scheduler"),
    ],
)
def test_an_unreachable_cluster_is_reported(files: Path, address: str, reported: str) -> None:
    done = shell("lint", "--cluster", address, "0.ptx", DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="1s")
    assert (done.returncode, done.stdout) == (2, b"")
    assert reported in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_where_all_results_are_cached_no_cluster_is_contacted(files: Path) -> None:
    kept = files / "kept"
    assert shell("lint", "--cache-dir", kept, "0.ptx").returncode == 0
    assert shell("lint", "--cache-dir", kept, "--cluster", "tcp://127.0.0.1:9", "0.ptx").returncode == 0
