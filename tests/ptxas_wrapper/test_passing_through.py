"""Without findings, and with those that stop nothing, the result is that of ptxas."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptxkit.cuda_programs import find_programs
from ptxkit.ptxas_wrapper.command_line import possible_inputs
from tests.ptxas_wrapper.support import FAULTY, KERNEL, ROOT, Build, ran, write_program

REMARK = b"a remark of ptxas\n"


@pytest.mark.parametrize(
    "arguments", [[], ["--version"], ["-arch=sm_90", "missing.ptx"], ["a b", "", "*", "--", "-o", "new\nline"]]
)
@pytest.mark.parametrize("status", [0, 1, 255])
def test_arguments_input_output_and_status_are_those_of_ptxas(build: Build, arguments: list[str], status: int) -> None:
    done = build.run(*arguments, stdin=b"\x00\xffdata", FAKE_STATUS=str(status))
    assert (done.returncode, done.stdout, done.stderr) == (status, ran(arguments, b"\x00\xffdata"), REMARK)


def test_a_clean_input_prints_nothing_when_it_is_checked_and_when_it_is_known(build: Build) -> None:
    name = build.write("k.ptx", KERNEL)
    for _ in range(2):
        done = build.run(name, "-o", "k.cubin", FAKE_STATUS="3")
        assert (done.returncode, done.stdout, done.stderr) == (3, ran([name, "-o", "k.cubin"]), REMARK)


def test_findings_come_before_the_output_of_ptxas_and_change_no_status(build: Build) -> None:
    done = build.run(build.write("k.ptx", FAULTY), "-o", "k.cubin", FAKE_STATUS="3")
    assert (done.returncode, done.stdout) == (3, ran(["k.ptx", "-o", "k.cubin"]))
    assert done.stderr.startswith(b"k.ptx:157:2: PTX401 error: ")
    assert done.stderr.endswith(REMARK)


def test_standard_input_is_checked_and_passed_on(build: Build) -> None:
    done = build.run("-", stdin=FAULTY.encode())
    assert done.stdout == ran(["-"], FAULTY.encode())
    assert done.stderr.startswith(b"-:157:2: PTX401 error: ")


def test_the_process_becomes_ptxas_with_the_signals_that_it_would_have(build: Build) -> None:
    """A signal to the process is a signal to ptxas, and none is ignored that was not."""
    write_program(build.fake, '#!/bin/sh\necho $$\ngrep SigIgn /proc/self/status || echo "no such file"\n')
    environment = build.environment(PATH=f"{build.fake.parent}:{os.environ['PATH']}")
    printed = []
    for program in (build.fake, build.program):
        with subprocess.Popen([program], stdout=subprocess.PIPE, env=environment, text=True) as process:
            first, second = process.communicate()[0].splitlines()
            assert int(first) == process.pid
            printed.append(second)
    assert printed[0] == printed[1]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["-arch=sm_90", "k.ptx", "-o", "old.ptx"], ["k.ptx"]),
        (["--output-file", "old.ptx", "-v", "a.ptx", "b.ptx", "a.ptx"], ["a.ptx", "b.ptx"]),
        (["-o=old.ptx", "-", "k"], ["-", "k"]),
        (["--options-file=opts", "z.ptx"], ["-", "in opts.ptx", "z.ptx"]),
        (["-optf", "opts,missing"], ["-", "in opts.ptx"]),
        (["-optf", "itself", "z.ptx"], ["y.ptx", "z.ptx"]),
        (["-optf", "unfinished", "z.ptx"], ["z.ptx"]),
        (["-o"], []),
    ],
)
def test_inputs_are_found_in_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], expected: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("opts").write_text("-O3 - 'in opts.ptx' -o old.ptx")
    Path("itself").write_text("y.ptx -optf itself")
    Path("unfinished").write_text("x.ptx '")
    assert possible_inputs(arguments) == expected


def test_inputs_in_a_file_of_options_are_checked(build: Build) -> None:
    build.write("k.ptx", FAULTY)
    build.write("opts", "-O3 k.ptx")
    assert b"PTX401" in build.run("--options-file", "opts").stderr


def test_other_files_are_not_checked(build: Build) -> None:
    build.write("old.ptx", FAULTY)
    (build.work / "k.cubin").write_bytes(b"\x7fELF\0.version")
    build.write("notes", "no module")
    os.mkfifo(build.work / "pipe")
    arguments = ["-o", "old.ptx", "k.cubin", "notes", "pipe", "work"]
    done = build.run(*arguments)
    assert (done.stdout, done.stderr) == (ran(arguments), REMARK)


def test_the_real_ptxas_writes_the_same_machine_code(build: Build) -> None:
    real = str(find_programs("ptxas")[0])
    build.write("k.ptx", FAULTY)
    arguments = ["-arch=sm_90", "-v", "-O3"]
    direct = build.run(*arguments, "k.ptx", "-o", "direct.cubin", program=Path(real))
    through = build.run(*arguments, "k.ptx", "-o", "through.cubin", PTXKIT_REAL_PTXAS=real)
    from_stdin = build.run(*arguments, "-", "-o", "stdin.cubin", PTXKIT_REAL_PTXAS=real, stdin=FAULTY.encode())
    assert (direct.returncode, through.returncode, from_stdin.returncode) == (0, 0, 0)
    assert b"Used" in through.stderr
    machine_code = (build.work / "direct.cubin").read_bytes()
    assert (build.work / "through.cubin").read_bytes() == machine_code
    assert (build.work / "stdin.cubin").stat().st_size > 1000
    assert build.run("--version", PTXKIT_REAL_PTXAS=real).stdout == build.run("--version", program=Path(real)).stdout


def test_an_error_of_the_real_ptxas_is_its_status_and_message(build: Build) -> None:
    real = str(find_programs("ptxas")[0])
    build.write("k.ptx", KERNEL.replace("bar.sync", "bar.snyc", 1))
    done = build.run("-arch=sm_90", "k.ptx", "-o", "k.cubin", PTXKIT_REAL_PTXAS=real)
    direct = build.run("-arch=sm_90", "k.ptx", "-o", "k.cubin", program=Path(real))
    assert (done.returncode, done.stdout) == (direct.returncode, direct.stdout)
    assert done.stderr.endswith(direct.stderr)
    assert b"error" in direct.stderr


def test_only_texts_that_are_not_known_load_the_linter(build: Build) -> None:
    """What a call costs for a text that was checked before is what it imports, which a clock shows less well."""
    build.write("k.ptx", KERNEL)
    assert build.run("k.ptx").returncode == 0
    code = (
        "import os, sys\n"
        "os.execve = lambda *_: (print(*sys.modules), sys.stdout.flush(), os._exit(0))\n"
        "from ptxkit.ptxas_wrapper.main import main\n"
        "main()\n"
    )

    def modules(*arguments: str) -> set[str]:
        command = [sys.executable, "-S", "-c", code, *arguments]
        done = subprocess.run(
            command, capture_output=True, cwd=build.work, env=build.environment(), text=True, check=True
        )
        return set(done.stdout.split())

    start, known = modules("--version"), modules("k.ptx")
    assert {name for name in start if name.startswith("ptxkit")} <= known
    assert {"ptxkit.linter", "ptxkit.results", "ptxkit.diagnostics", "ptxkit.isa", "ptxkit.report"} & known == set()
    assert {"click", "lark", "numpy", "rich", "subprocess", "tomllib", "shutil", "tempfile", "pickle"} & known == set()
    assert len({name for name in known if name.startswith("ptxkit")}) <= 25
    assert len(known) <= 90
    build.write("other.ptx", KERNEL + "// other\n")
    assert "ptxkit.linter" in modules("other.ptx")


def test_the_program_is_installed() -> None:
    """The name is in pyproject.toml, and leads to the function that the tests call."""
    import tomllib

    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert scripts["ptxkit-ptxas"] == "ptxkit.ptxas_wrapper.main:main"
