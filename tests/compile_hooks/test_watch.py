"""`ptxkit watch`, and `ptxkit.watch()`: programs run as without it, and their kernels are checked."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from tests.compile_hooks import stubs
from tests.compile_hooks.support import HEADER, run_python
from tests.ptxas_wrapper.support import FAULTY, write_program

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs exec")

COMPILE = "import triton.compiler\ntriton.compiler.compile(None, 'k.ptx')\n"
COUNTS = "ptxkit watch: checked 1 PTX module: 1 error, 0 warnings\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with a kernel, and a stub of Triton."""
    stubs.write_package(tmp_path / "packages", stubs.TRITON)
    (tmp_path / "k.ptx").write_text(FAULTY)
    return tmp_path


def test_a_script_runs_with_its_arguments_status_and_output(folder: Path, cache: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "helper.py").write_text("VALUE = 5\n")
    script = "import sys, helper\nprint(__name__, sys.argv, __file__, sys.path[0], sys.flags.dev_mode, input())\n"
    (folder / "inner" / "script.py").write_text(f"{script}{COMPILE}sys.exit(helper.VALUE)\n")
    arguments = ("inner/script.py", "-m", "--timeout", "a b")
    plain = run_python("-X", "dev", *arguments, cwd=folder, cache=cache, path=folder / "packages", stdin="line\n")
    watched = ("-X", "dev", "-m", "ptxkit", "watch", *arguments)
    done = run_python(*watched, cwd=folder, cache=cache, path=folder / "packages", stdin="line\n")
    assert (done.returncode, done.stdout) == (5, plain.stdout)
    assert plain.stdout.startswith("__main__ ['inner/script.py', '-m', '--timeout', 'a b'] ")
    assert done.stderr.startswith(f"k.ptx:{HEADER}")
    assert done.stderr.endswith(COUNTS)


@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_a_folder_or_an_archive_with_a_program_runs(folder: Path, cache: Path, kind: str) -> None:
    program = "import sys, helper\nprint(__name__, sys.argv, sys.path[0], helper.__file__)\n"
    if kind == "folder":
        stubs.write_package(folder / "app", {"__main__.py": program, "helper.py": ""})
    else:
        with zipfile.ZipFile(folder / "app", "w") as archive:
            archive.writestr("__main__.py", program)
            archive.writestr("helper.py", "")
    plain = run_python("app", "x", cwd=folder, cache=cache)
    done = run_python("-m", "ptxkit", "watch", "app", "x", cwd=folder, cache=cache)
    assert plain.stdout.startswith("__main__ ['app', 'x'] ")
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, "")


def test_the_program_remains_until_the_process_ends(folder: Path, cache: Path) -> None:
    """Functions that are called at the end use its variables, and objects of its classes can be pickled."""
    program = (
        "import atexit, pickle\n"
        "class Thing: value = 3\n"
        "atexit.register(lambda: print(pickle.loads(pickle.dumps(Thing())).value, __name__))\n"
    )
    (folder / "script.py").write_text(program)
    done = run_python("-m", "ptxkit", "watch", "script.py", cwd=folder, cache=cache)
    assert (done.stdout, done.stderr) == ("3 __main__\n", "")


def test_a_module_runs_with_the_arguments_after_its_name(folder: Path, cache: Path) -> None:
    (folder / "tool").mkdir()
    (folder / "tool" / "__main__.py").write_text("import sys\nprint(__name__, sys.argv, sys.path[0])\n")
    plain = run_python("-m", "tool", "--help", "-m", cwd=folder, cache=cache)
    for option in (["-m", "tool"], ["--timeout", "5", "--module", "tool"], ["-mtool"]):
        done = run_python("-m", "ptxkit", "watch", *option, "--help", "-m", cwd=folder, cache=cache)
        assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, "")


@pytest.mark.parametrize(
    "program",
    [
        "def f():\n    raise ValueError('x')\nf()\n",
        "1 +\n",
        "import sys\nsys.exit('a message')\n",
        "import missing_module\n",
        "import sys\nsys.excepthook = lambda *_: print('own hook')\n1 / 0\n",
    ],
)
def test_an_error_of_the_program_is_printed_as_python_prints_it(folder: Path, cache: Path, program: str) -> None:
    path = folder / "script.py"
    path.write_text(program)
    plain = run_python(str(path), cwd=folder, cache=cache)
    done = run_python("-m", "ptxkit", "watch", str(path), cwd=folder, cache=cache)
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert done.returncode == 1


def test_watch_can_be_called_before_and_after_the_import(folder: Path, cache: Path) -> None:
    call = "import ptxkit\nptxkit.watch()\n"
    for program in (f"{call}{COMPILE}", f"import triton\n{call}{call}{COMPILE}"):
        done = run_python("-c", program, cwd=folder, cache=cache, path=folder / "packages")
        assert done.returncode == 0
        assert done.stderr.startswith(f"k.ptx:{HEADER}")
        assert done.stderr.endswith(COUNTS)
        assert done.stderr.count("PTX401 error") == 1


def test_the_findings_are_available_to_the_program(folder: Path, cache: Path) -> None:
    print_findings = "linter.wait()\nprint([x.code for x in linter.findings])\n"
    program = f"import ptxkit\nlinter = ptxkit.watch()\n{COMPILE}{print_findings}"
    done = run_python("-c", program, cwd=folder, cache=cache, path=folder / "packages")
    assert done.stdout == "['PTX401']\n"


def test_nothing_is_imported_from_the_working_directory(folder: Path, cache: Path, tmp_path: Path) -> None:
    """It may be that of a stranger, and the program elsewhere."""
    stranger = tmp_path / "stranger"
    bad = {f"{name}.py": "print('imported')\n" for name in ("runpy", "zipfile", "tempfile", "subprocess", "script")}
    stubs.write_package(stranger, {**bad, "ptxkit/__init__.py": "print('imported')\n"})
    (folder / "script.py").write_text("import runpy, zipfile, tempfile, subprocess, ptxkit\nprint('ran')\n")
    write_program(tmp_path / "bin" / "ptxkit", "from ptxkit.cli.main import main\nmain()\n")
    done = run_python("../bin/ptxkit", "watch", "../script.py", cwd=stranger, cache=cache)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")


def test_an_unknown_version_is_one_line(folder: Path, cache: Path) -> None:
    stubs.write_package(folder / "old", stubs.OLD_TRITON)
    (folder / "script.py").write_text("import triton\nprint(triton.__version__)\n")
    done = run_python("-m", "ptxkit", "watch", "script.py", cwd=folder, cache=cache, path=folder / "old")
    assert (done.returncode, done.stdout) == (0, "2.1.0\n")
    assert done.stderr == (
        "ptxkit watch: kernels of Triton 2.1.0 are not checked: `triton.knobs.compilation` does not exist\n"
    )


def test_a_program_without_kernels_imports_no_linter(folder: Path, cache: Path) -> None:
    program = "import ptxkit, sys\nptxkit.watch()\nprint(*sys.modules)\n"
    loaded = set(run_python("-c", program, cwd=folder, cache=cache).stdout.split())
    assert "ptxkit.compile_hooks.watching" in loaded
    assert loaded.isdisjoint({"ptxkit.linter", "ptxkit.results", "ptxkit.report", "click", "numpy", "subprocess"})


def test_the_end_of_the_program_waits_for_a_check_that_has_begun(folder: Path, cache: Path) -> None:
    """Also for the first one, whose process was started after all else was registered for the end."""
    (folder / "k.ptx").write_text(f"// {folder}\n{FAULTY}")  # that no other test has checked
    is_started = "linter._checker and (one := linter._checker._checker) and one._otherwise._process"
    begin = f"import time\nwhile not ({is_started}):\n    time.sleep(0.001)\n"
    program = f"import ptxkit\nlinter = ptxkit.watch()\n{COMPILE}{begin}"
    done = run_python("-c", program, cwd=folder, cache=cache, path=folder / "packages")
    assert done.stderr.startswith("k.ptx:158:2: PTX401 error: ")
    assert done.stderr.endswith(COUNTS)


def test_a_forked_process_checks_its_own_kernels(folder: Path, cache: Path) -> None:
    fork = "pid = os.fork()\nif pid:\n    sys.exit(os.waitpid(pid, 0)[1])\n"
    program = f"import os, sys, ptxkit\nptxkit.watch()\n{fork}{COMPILE}"
    done = run_python("-c", program, cwd=folder, cache=cache, path=folder / "packages")
    assert done.returncode == 0
    assert done.stderr.startswith(f"k.ptx:{HEADER}")
    assert done.stderr.endswith(COUNTS)


def test_a_command_line_that_cannot_be_run_is_an_error(folder: Path, cache: Path) -> None:
    for arguments, message in (
        ([], "`ptxkit watch` requires the argument SCRIPT"),
        (["missing.py"], "there is no script `missing.py`"),
        (["--timeout", "soon", "script.py"], "`soon` is not a time"),
    ):
        done = run_python("-m", "ptxkit", "watch", *arguments, cwd=folder, cache=cache)
        assert done.returncode == 2
        assert message in done.stderr.splitlines()[0]
        assert done.stderr.splitlines()[1].startswith("  = help: ")


def test_the_options_set_the_settings_and_the_limit(folder: Path, cache: Path) -> None:
    (folder / "own.toml").write_text('severity = { PTX401 = "warning" }\n')
    (folder / "script.py").write_text(COMPILE)
    arguments = ("-m", "ptxkit", "watch", "--config", "own.toml", "--timeout", "2m", "script.py")
    done = run_python(*arguments, cwd=folder, cache=cache, path=folder / "packages")
    assert "PTX401 warning" in done.stderr
