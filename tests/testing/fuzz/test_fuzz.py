"""Campaigns with planted hangs, exits and failures: their records, continuation, and reports."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from ptxkit.cli.commands import cli
from ptxkit.processes import cpu_time
from ptxkit.processes.cpu_time import CpuUsage
from ptxkit.testing.corpus.examples import Example
from ptxkit.testing.fuzz import campaign_kinds, scheduler, watchdog
from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign, version_target_of
from ptxkit.testing.fuzz.report import summary
from ptxkit.testing.fuzz.scheduler import FuzzLimits, LocalFuzzRunner, TimeAccounts, schedule_work
from ptxkit.testing.fuzz.store import FuzzStore
from ptxkit.testing.fuzz.supervised_fuzzer import FuzzUnitResult, FuzzWorkUnit
from ptxkit.testing.oracles.ptxas import Ptxas
from tests.testing.fuzz import planted

ROOT = Path(__file__).resolve().parent.parent.parent.parent
PLANTED = "tests.testing.fuzz.planted:KIND"
SINGLE = "tests.testing.fuzz.planted:SINGLE"


def command(folder: Path, *arguments: object) -> list[str]:
    return [sys.executable, "-m", "ptxkit", "fuzz", "--folder", str(folder), *map(str, arguments)]


def fuzz(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, *arguments), cwd=ROOT, capture_output=True, text=True, check=False, timeout=900
    )


def asked_here(folder: Path, *arguments: object) -> Result:
    """Runs the same with the command in this process, and its workers in separate ones.

    An exception is a failed test.
    """
    return CliRunner(catch_exceptions=False).invoke(cli, ["fuzz", "--folder", str(folder), *map(str, arguments)])


def row(done: subprocess.CompletedProcess[str] | Result, oracle: str) -> list[int]:
    """Returns examples, passed, skipped, failed of the table's line."""
    found = re.search(rf"^{re.escape(oracle)} +(\d+) +(\d+) +(\d+) +(\d+) ", done.stdout, re.MULTILINE)
    assert found is not None, done.stdout + done.stderr
    return [int(each) for each in found.groups()]


def shares_done(folder: Path) -> int:
    try:
        base = sqlite3.connect(f"file:{folder / 'campaigns.sqlite'}?mode=ro", uri=True)
        return int(base.execute("select count(*) from shares").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_hangs_exits_and_failures_are_recorded_and_the_campaign_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "LocalFuzzRunner", partial(LocalFuzzRunner, shrinking=900))
    done = asked_here(tmp_path, "--oracle", PLANTED, "--count", 20, "--jobs", 2, "--hang", 100)
    assert done.exit_code == 1, done.stdout + done.stderr
    assert row(done, PLANTED) == [20, 12, 0, 8]
    causes = dict(re.findall(r"^(\d+) times, \S+: (.*)$", done.stdout, re.MULTILINE))
    assert set(re.findall(r"^\d+ times, \S+: (.*)$", done.stdout, re.MULTILINE)) == {
        "hangs at planted.py:turn_for_ever",
        "the process ends with signal SIGSEGV",
        "it fails with # characters",
    }
    assert causes["4"] == "it fails with # characters"
    saved = {path.name.rpartition("-")[0]: path for path in (tmp_path / "failures").iterdir()}
    assert len(saved) == 3
    assert (saved["KIND-it-fails-with-characters"] / "kernel.ptx").read_text() == "// fail\n"
    refused = asked_here(tmp_path, "--replay", saved["KIND-it-fails-with-characters"])
    assert refused.exit_code == 2
    judge = "tests.testing.fuzz.planted:judge"
    assert f"add `--oracle {judge}` if you trust it" in " ".join(refused.stderr.split())
    again = asked_here(tmp_path, "--replay", saved["KIND-it-fails-with-characters"], "--oracle", judge)
    assert again.exit_code == 1
    assert "it fails with # characters" in again.stdout


def test_an_example_that_waits_hangs_after_the_time_that_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No time passes for its process until it waits."""
    waits = tmp_path / "waits"
    monkeypatch.setenv(planted.WAITS_AT, "1")
    monkeypatch.setenv(planted.WAITS, str(waits))
    monkeypatch.setattr(cpu_time, "cpu_usage_of", lambda _: CpuUsage(0.0, is_runnable=not waits.exists()))
    done = asked_here(tmp_path / "fuzz", "--oracle", SINGLE, "--count", 2, "--jobs", 1, "--hang", 1)
    assert done.exit_code == 1
    assert row(done, SINGLE) == [2, 1, 0, 1]
    assert "hangs at planted.py:stuck_in_the_oracle" in done.stdout


def times_of_shares(folder: Path) -> list[tuple[int, float]]:
    """Returns number and seconds of each, which another run would not repeat exactly."""
    base = sqlite3.connect(folder / "campaigns.sqlite")
    return list(base.execute("select number, seconds from shares order by number"))


def test_a_finished_campaign_executes_nothing_again_and_continues_when_it_is_longer(tmp_path: Path) -> None:
    asked_here(tmp_path, "--oracle", SINGLE, "--count", 3, "--jobs", 1)
    before = times_of_shares(tmp_path)
    longer = asked_here(tmp_path, "--oracle", SINGLE, "--count", 4, "--jobs", 1)
    assert longer.exit_code == 0
    assert row(longer, SINGLE)[:2] == [4, 4]
    assert len(before) == 3
    assert times_of_shares(tmp_path)[:3] == before
    assert shares_done(tmp_path) == 4
    other = asked_here(tmp_path, "--oracle", SINGLE, "--count", 1, "--jobs", 1, "--seed", 9)
    assert row(other, SINGLE)[0] == 1


def test_a_killed_campaign_continues_where_it_was(tmp_path: Path) -> None:
    options = ("--oracle", SINGLE, "--count", 60, "--jobs", 1, "--hang", 10_000)
    waits = tmp_path / "waits"
    environment = {**os.environ, planted.WAITS_AT: "3", planted.WAITS: str(waits)}
    running = subprocess.Popen(command(tmp_path, *options), cwd=ROOT, env=environment)
    while not (waits.exists() and shares_done(tmp_path) == 3) and running.poll() is None:
        time.sleep(0.1)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    assert shares_done(tmp_path) == 3
    done = asked_here(tmp_path, "--oracle", SINGLE, "--count", 5, "--jobs", 1)
    assert done.exit_code == 0, done.stderr
    assert row(done, SINGLE)[:2] == [5, 5]


def test_a_time_limit_ends_a_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that advances by a quarter of a second whenever it is read."""
    checks = count()
    monkeypatch.setattr(scheduler, "time", SimpleNamespace(monotonic=lambda: next(checks) / 4))
    done = asked_here(tmp_path, "--oracle", SINGLE, "--time", "2s", "--jobs", 1)
    assert done.exit_code == 0
    assert 1 <= row(done, SINGLE)[0] <= 8


def test_two_workers_of_dask_agree_with_one_process(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    pytest.importorskip("joblib")
    import distributed

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        done = fuzz(tmp_path, "--oracle", PLANTED, "--count", 10, "--hang", 100, "--cluster", address)
    assert done.returncode == 1, done.stderr
    assert row(done, PLANTED) == [10, 6, 0, 4]
    assert len(list((tmp_path / "failures").iterdir())) == 3


def test_every_oracle_without_a_gpu_holds_on_a_few_examples(tmp_path: Path) -> None:
    done = asked_here(tmp_path, "--count", 4, "--jobs", 1, "--hang", 1000)
    assert done.exit_code == 0, done.stdout + done.stderr
    for oracle in ("linter", "round-trip", "ptxas", "machine", "verdicts", "litmus"):
        assert row(done, oracle)[:2] == [4, 4]


def test_files_of_a_folder_are_changed_and_checked(tmp_path: Path) -> None:
    folder = ROOT / "corpus" / "rules"
    done = asked_here(tmp_path, "--corpus", folder, "--oracle", "linter", "--count", 20, "--jobs", 1, "--hang", 1000)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert row(done, "linter") == [20, 20, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["--oracle", "nobody"], "there is no oracle `nobody` = help: the oracles are linter, "),
        (["--oracle", "nobody.there:KIND"], "the module of the oracle `nobody.there:KIND` cannot be imported"),
        (["--target", "sm_9", "--count", "1"], "there is no target `sm_9` = help: did you mean `sm_90`?"),
        (
            ["--oracle", "linter", "--corpus", str(ROOT / "scripts")],
            "`--corpus`: there is no PTX file of at most 60,000 characters in",
        ),
        (["--time", "soon"], "`soon` is not a time"),
        (
            ["--oracle", "machine", "--corpus", str(ROOT / "corpus")],
            "oracle `machine`, which needs kernels",
        ),
        (["--replay", str(ROOT / "corpus")], "No such file or directory"),
        (["--oracle", SINGLE, "--cluster", "local:none"], "write `local:2`"),
    ],
)
def test_an_error_is_reported_in_one_sentence(tmp_path: Path, arguments: list[str], printed: str) -> None:
    done = asked_here(tmp_path, *arguments)
    assert done.exit_code == 2
    assert printed in " ".join(done.stderr.split())


def test_a_user_oracle_is_found_in_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from tests.testing.fuzz.planted import KIND as mine\n")
    done = subprocess.run(
        [sys.executable, "-P", *command(tmp_path, "--oracle", "mine:mine", "--count", 1, "--jobs", 1)[1:]],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert row(done, "mine:mine")[0] == 1, done.stderr


def test_a_replay_runs_no_command_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "kernel.ptx").write_text(f"touch {tmp_path / 'harm'}")
    (tmp_path / "launch.json").write_text(json.dumps({"oracle": "os:system", "options": {}}))
    done = asked_here(tmp_path / "none", "--replay", tmp_path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "no other is called unasked" in " ".join(done.stderr.split())
    assert not (tmp_path / "harm").exists()


def test_an_invalid_example_is_reported(tmp_path: Path) -> None:
    (tmp_path / "launch.json").write_text(json.dumps({"oracle": "assert_lints"}))
    done = asked_here(tmp_path, "--replay", str(tmp_path))
    assert done.exit_code == 2
    assert "holds no example" in done.stderr


def keep_example(folder: Path, oracle: str, text: str) -> Path:
    return Example(f"tests.testing.fuzz.planted:{oracle}", (text,)).save(folder / oracle)


def test_the_replay_of_an_example_that_hangs_shows_where_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that advances whenever it is read, once the example has started to hang."""
    checks = count()
    monkeypatch.setattr(planted, "rounds", 0)
    seconds = SimpleNamespace(process_time=lambda: next(checks) * 0.4 if planted.rounds else 0.0)
    monkeypatch.setattr(watchdog, "time", seconds)
    monkeypatch.setattr(watchdog, "REPORT_INTERVAL", 0.05)
    oracle = "tests.testing.fuzz.planted:turn_for_ever"
    folder = keep_example(tmp_path, "turn_for_ever", "// hang\n")
    done = asked_here(tmp_path, "--replay", str(folder), "--oracle", oracle, "--hang", "1")
    assert done.exit_code == 1
    assert f"turn_for_ever: replays the example with {oracle}\n" in done.stderr
    assert "so far; now at planted.py:turn_for_ever\n" in done.stderr
    assert "hangs at planted.py:turn_for_ever: no end within 1 s of processor time" in done.stdout


def test_the_replay_of_an_example_that_waits_shows_where(tmp_path: Path) -> None:
    oracle = "tests.testing.fuzz.planted:judge"
    arguments = command(tmp_path, "--replay", keep_example(tmp_path, "judge", "// wait\n"), "--oracle", oracle)
    with subprocess.Popen(arguments, cwd=ROOT, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        printed = (line for line in running.stderr if " so far; now at planted.py:stuck_in_the_oracle" in line)
        assert next(printed, "")  # earlier lines say what is loaded
        running.kill()


def test_campaigns_share_the_time() -> None:
    """The one whose shares take ten times as long gets a tenth of them."""
    slow, quick = FuzzCampaign("verdicts"), FuzzCampaign("litmus")
    spent, begun = TimeAccounts([slow, quick]), Counter[FuzzCampaign]()
    for number in range(220):
        campaign = spent.least_served([slow, quick])
        spent.begin(campaign)
        begun[campaign] += 1
        spent.add(FuzzUnitResult(FuzzWorkUnit(campaign, number, range(20)), seconds=10.0 if campaign is slow else 1.0))
    assert 19 <= begun[slow] <= 21


def test_one_share_of_each_is_started_before_a_second_of_any() -> None:
    campaigns = [FuzzCampaign(oracle) for oracle in ("linter", "litmus", "verdicts")]
    spent, begun = TimeAccounts(campaigns), []
    for _ in campaigns:
        begun.append(spent.least_served(campaigns))
        spent.begin(begun[-1])
    assert set(begun) == set(campaigns)


def test_an_oracle_without_examples_is_named(tmp_path: Path) -> None:
    never, skipped, some = FuzzCampaign("litmus"), FuzzCampaign("ptxas"), FuzzCampaign("linter")
    store = FuzzStore(tmp_path)
    store.add(FuzzUnitResult(FuzzWorkUnit(skipped, 0, range(20)), run_count=20, skip_count=20, reason="no ptxas here"))
    store.add(FuzzUnitResult(FuzzWorkUnit(some, 0, range(20)), run_count=20, skip_count=1, reason="why"))
    assert list(summary([never, skipped, some], store))[4:] == [
        "litmus: no examples: the time was over before its turn",
        "ptxas: no examples: no ptxas here",
        "linter: skipped: why",
    ]


def test_instructions_are_for_the_installed_ptxas(monkeypatch: pytest.MonkeyPatch) -> None:
    old = Ptxas(Path("ptxas"), "12.0", (8, 0), frozenset({"sm_80", "sm_90a"}))
    monkeypatch.setattr(campaign_kinds, "installed_ptxas", lambda: [old])
    campaign_kinds._supported_version_targets.cache_clear()
    try:
        aims = {
            version_target_of(FuzzCampaign("ptxas", seed), number)
            for seed in range(9)
            for number in range(0, 9000, 1000)
        }
        assert len(aims) > 0
        assert all(old.supports(*each) for each in aims)
        assert version_target_of(FuzzCampaign("ptxas", target="sm_90a"), 0) == ((8, 0), "sm_90a")
    finally:
        campaign_kinds._supported_version_targets.cache_clear()


def test_the_first_share_of_a_run_with_a_time_limit_is_small(tmp_path: Path) -> None:
    campaign, store = FuzzCampaign("linter"), FuzzStore(tmp_path)
    given = schedule_work([campaign], store, FuzzLimits(seconds=1000.0), TimeAccounts([campaign]))
    assert [len(next(given).numbers) for _ in range(3)] == [4, 40, 40]
    store.add(FuzzUnitResult(FuzzWorkUnit(campaign, 0, range(4)), run_count=4))
    again = schedule_work([campaign], store, FuzzLimits(seconds=1000.0), TimeAccounts([campaign]))
    assert next(again).numbers == range(40)
