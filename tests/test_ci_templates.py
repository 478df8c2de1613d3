"""The action for GitHub and the template for GitLab: their shell steps run, with the ptxkit of this checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ptxas_wrapper.support import FAULTY, KERNEL, ROOT, write_program

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

ACTION = yaml.safe_load((ROOT / ".github" / "actions" / "lint" / "action.yml").read_text("utf-8"))
TEMPLATE = yaml.safe_load((ROOT / ".ci" / "ptxkit.gitlab-ci.yml").read_text("utf-8"))[".ptxkit"]
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
EXPRESSION = re.compile(r"\$\{\{ *([\w.-]+) *\}\}")

PYTHON = """\
#!/bin/sh
# Makes an environment as `python3 -m venv` does, in which pip only writes what it would install.
[ "$1 $2" = "-m venv" ] || exit 9
mkdir -p "$3/bin"
printf '#!/bin/sh\\necho "$@" >> "{log}"\\n' > "$3/bin/python"
printf '#!/bin/sh\\nexec "{python}" -m ptxkit "$@"\\n' > "$3/bin/ptxkit"
cp "$3/bin/ptxkit" "$3/bin/ptxkit-ptxas"
chmod +x "$3"/bin/*
"""


class Runner:
    """A machine on which jobs run: a working directory with two kernels, and a `python3`."""

    def __init__(self, folder: Path) -> None:
        self.work, self.temporary, self.log = folder / "work dir", folder / "temporary dir", folder / "pip.log"
        for each in (self.work, self.temporary):
            each.mkdir()
        (self.work / "faulty kernel.ptx").write_text(FAULTY)
        (self.work / "clean.ptx").write_text(KERNEL)
        write_program(folder / "bin" / "python3", PYTHON.format(log=self.log, python=sys.executable))
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PTXKIT", "GITHUB"))}
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        self.environment = {**kept, "PATH": path, "PYTHONPATH": str(ROOT), "PTXKIT_CACHE_DIR": str(folder / "results")}

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **variables}
        return subprocess.run(command, cwd=self.work, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def run_action(runner: Runner, **given: str) -> tuple[int, str, dict[str, str]]:
    """Runs the steps as GitHub does. Returns the status of the job, the output, and the outputs of the lint step."""
    inputs = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()}
    inputs |= {name.replace("_", "-"): value for name, value in given.items()}
    outputs: dict[str, str] = {}
    names = {"github.action_path": str(ROOT / ".github" / "actions" / "lint")}
    printed = ""
    for step in STEPS:
        values = names | {f"inputs.{name}": value for name, value in inputs.items()}
        values |= {f"steps.lint.outputs.{name}": value for name, value in outputs.items()}
        if not is_selected(step.get("if", ""), values):
            continue
        if "uses" in step:
            printed += f"{step['uses']} {resolve(step['with']['sarif_file'], values)}\n"
            continue
        files = {name: str(runner.temporary / name) for name in ("GITHUB_OUTPUT", "GITHUB_PATH")}
        variables = {name: resolve(value, values) for name, value in step.get("env", {}).items()}
        script = runner.temporary / "step.sh"
        script.write_text(step["run"])
        command = ("bash", "--noprofile", "--norc", "-eo", "pipefail", str(script))
        done = runner.run(*command, **files, **variables, RUNNER_TEMP=str(runner.temporary))
        printed += done.stdout + done.stderr
        if done.returncode:
            return done.returncode, printed, outputs
        if step.get("id") == "lint":
            outputs = dict(line.split("=", 1) for line in Path(files["GITHUB_OUTPUT"]).read_text().splitlines())
    return 0, printed, outputs


def resolve(text: str, values: Mapping[str, str]) -> str:
    return EXPRESSION.sub(lambda match: values[match[1]], text)


def is_selected(condition: str, values: Mapping[str, str]) -> bool:
    """Evaluates the conditions that the action has: comparisons of inputs with texts, all of which must hold."""
    for part in filter(None, condition.split(" && ")):
        found = re.fullmatch(r"(inputs\.[\w-]+) (==|!=) '(\w*)'", part)
        assert found, part
        if (values[found[1]] == found[3]) != (found[2] == "=="):
            return False
    return True


def test_findings_are_annotations_and_fail_the_job(runner: Runner) -> None:
    status, printed, outputs = run_action(runner, paths="clean.ptx\nfaulty kernel.ptx\n")
    assert status == 1
    assert "::error title=ptxkit PTX401,file=faulty kernel.ptx,line=157" in printed
    assert "upload-sarif" not in printed
    assert outputs == {"sarif": str(runner.temporary / "ptxkit.sarif"), "status": "1"}
    [run] = json.loads(Path(outputs["sarif"]).read_text())["runs"]
    assert [each["ruleId"] for each in run["results"]] == ["PTX401"]
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {"PTX401"}


def test_a_clean_file_succeeds(runner: Runner) -> None:
    status, printed, outputs = run_action(runner, paths="clean.ptx")
    assert (status, outputs["status"]) == (0, "0")
    assert "::error" not in printed


@pytest.mark.parametrize(
    ("paths", "fail", "status"),
    [("faulty kernel.ptx", "false", 0), ("faulty kernel.ptx", "true", 1), ("missing.ptx", "false", 2)],
)
def test_findings_can_be_reported_only(runner: Runner, paths: str, fail: str, status: int) -> None:
    found, printed, outputs = run_action(runner, paths=paths, fail_on_findings=fail, upload_sarif="true")
    assert found == status
    assert f"github/codeql-action/upload-sarif@v3 {outputs['sarif']}" in printed


def test_options_are_passed_to_lint(runner: Runner) -> None:
    status, _, _ = run_action(runner, paths="faulty kernel.ptx", options="--ignore=PTX401\n--policy=strict\n")
    assert status == 0
    status, printed, _ = run_action(runner, paths="faulty kernel.ptx", options="--no-such-option")
    assert status == 2
    assert "has no option `--no-such-option`" in printed


def test_inputs_are_texts_and_no_commands(runner: Runner) -> None:
    """An input may come from a pull request of a stranger."""
    text = '$(touch made); `touch made`\n"; touch made; "\n* --fix\n\''
    for inputs in ({"paths": text}, {"paths": "clean.ptx", "options": text}, {"paths": "-o\n--fix\nclean.ptx"}):
        status, _, _ = run_action(runner, **inputs)
        assert status == 2
    assert sorted(path.name for path in runner.work.iterdir()) == ["clean.ptx", "faulty kernel.ptx"]
    assert all("${{" not in step.get("run", "") for step in STEPS)


def test_without_paths_the_commands_are_installed_only(runner: Runner) -> None:
    status, printed, outputs = run_action(runner, upload_sarif="true")
    assert (status, printed, outputs) == (0, "", {})
    folder = Path((runner.temporary / "GITHUB_PATH").read_text().strip())
    assert sorted(path.name for path in folder.iterdir()) == ["ptxkit", "ptxkit-ptxas"]
    assert runner.run(str(folder / "ptxkit"), "--version").stdout.startswith("ptxkit ")


def test_the_action_installs_the_revision_that_it_belongs_to(runner: Runner) -> None:
    run_action(runner)
    [line] = runner.log.read_text().splitlines()
    assert line.startswith("-m pip install ")
    source = Path(line.rpartition(" /")[2] and "/" + line.rpartition(" /")[2])
    assert source.resolve() == ROOT
    assert (source / "pyproject.toml").is_file()


def test_the_action_uses_one_other_action_of_a_fixed_version() -> None:
    assert [step["uses"] for step in STEPS if "uses" in step] == ["github/codeql-action/upload-sarif@v3"]
    assert ACTION["runs"]["using"] == "composite"
    assert all("description" in each for each in (*ACTION["inputs"].values(), *ACTION["outputs"].values()))


def run_template(runner: Runner, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs the script as a runner of GitLab does: with a shell that ends at the first error."""
    script = "set -eo pipefail\n" + "\n".join(TEMPLATE["script"])
    return runner.run("bash", "-c", script, **{**TEMPLATE["variables"], **variables})


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_the_job_of_gitlab_reports_findings_in_both_formats(runner: Runner, shell: str) -> None:
    script = "set -e\n" + "\n".join(TEMPLATE["script"])
    variables = {**TEMPLATE["variables"], "PTXKIT_PATHS": "clean.ptx\nfaulty kernel.ptx", "PTXKIT_SOURCE": "from here"}
    done = runner.run(shell, "-c", script, **variables)
    assert done.returncode == 1
    assert "PTX401 error" in done.stdout
    [finding] = json.loads((runner.work / TEMPLATE["artifacts"]["reports"]["codequality"]).read_text())
    assert (finding["check_name"], finding["location"]["path"]) == ("PTX401", "faulty kernel.ptx")
    [sarif] = TEMPLATE["artifacts"]["paths"]
    assert json.loads((runner.work / sarif).read_text())["runs"][0]["results"][0]["ruleId"] == "PTX401"
    assert runner.log.read_text().endswith(" from here\n")


@pytest.mark.parametrize(
    ("variables", "status"),
    [
        ({"PTXKIT_PATHS": "clean.ptx"}, 0),
        ({"PTXKIT_PATHS": "faulty kernel.ptx", "PTXKIT_FAIL": "false"}, 0),
        ({"PTXKIT_PATHS": "faulty kernel.ptx", "PTXKIT_OPTIONS": "--ignore=PTX401\n--policy=strict"}, 0),
        ({"PTXKIT_PATHS": "missing.ptx", "PTXKIT_FAIL": "false"}, 2),
        ({"PTXKIT_PATHS": "--fix\nclean.ptx"}, 2),
        ({"PTXKIT_PATHS": "$(touch made)\n`touch made`"}, 2),
        ({}, 2),
    ],
)
def test_the_status_of_the_job_of_gitlab_is_that_of_lint(
    runner: Runner, variables: dict[str, str], status: int
) -> None:
    assert run_template(runner, **variables).returncode == status
    assert not (runner.work / "made").exists()


def test_the_page_shows_what_exists() -> None:
    page = (ROOT / "docs" / "howto" / "ci.md").read_text("utf-8")
    assert ".github/actions/lint@v" in page
    assert ".ci/ptxkit.gitlab-ci.yml" in page
    assert {f"`{name}`" for name in ACTION["inputs"]} <= set(re.findall(r"`[\w-]+`", page))
    assert {f"`{name}`" for name in TEMPLATE["variables"]} <= set(re.findall(r"`\w+`", page))
