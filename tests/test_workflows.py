"""`.github/workflows` and `scripts/check_dist`: least permissions, the declared Pythons, commands that exist."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".github" / "workflows"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def workflow(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text("utf-8"))
    return document


def jobs() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path.name, job, each) for path in FOLDER.glob("*.yml") for job, each in workflow(path.name)["jobs"].items()
    ]


def check_dist(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "check_dist"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_workflows_are_those_of_pull_requests_and_releases() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {"ci.yml", "release.yml"}
    assert workflow("ci.yml")[True].keys() == {"pull_request", "push"}  # YAML 1.1 reads `on` as true
    assert workflow("release.yml")[True] == {"push": {"tags": ["v*"]}}


def test_only_the_publishing_job_has_a_token_and_others_may_read_the_sources() -> None:
    assert workflow("ci.yml")["permissions"] == {"contents": "read"}
    assert workflow("release.yml")["permissions"] == {}
    allowed = {(file, job): each.get("permissions") for file, job, each in jobs()}
    assert allowed == {
        ("ci.yml", "test"): None,
        ("ci.yml", "dist"): None,
        ("ci.yml", "docs"): None,
        ("ci.yml", "vscode"): None,
        ("release.yml", "build"): {"contents": "read"},
        ("release.yml", "test"): {"contents": "read"},
        ("release.yml", "publish"): {"id-token": "write"},
    }
    publish = workflow("release.yml")["jobs"]["publish"]
    assert not [step for step in publish["steps"] if "run" in step or "checkout" in step["uses"]]
    assert "secrets." not in (FOLDER / "release.yml").read_text("utf-8")


def test_only_tested_artifacts_are_published() -> None:
    release = workflow("release.yml")["jobs"]
    assert (release["publish"]["needs"], release["test"]["needs"]) == ("test", "build")
    for name in ("test", "publish"):
        assert {"name": "dist", "path": "dist/"} in [step.get("with") for step in release[name]["steps"]]


def test_every_action_is_of_a_trusted_owner_and_a_fixed_version() -> None:
    used = [step["uses"] for _, _, job in jobs() for step in job["steps"] if "uses" in step]
    assert len(used) > 8
    assert [
        name for name in used if not re.fullmatch(r"(actions|pypa)/[\w-]+@(v\d+|release/v\d+|[0-9a-f]{40})", name)
    ] == []
    for _, _, job in jobs():
        for step in job["steps"]:
            if "checkout" in step.get("uses", ""):
                assert step["with"] == {"persist-credentials": False}


def test_the_pythons_are_the_declared_ones() -> None:
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={declared[0]}"
    for file, job in (("ci.yml", "test"), ("release.yml", "test")):
        assert workflow(file)["jobs"][job]["strategy"]["matrix"]["python"] == declared


def test_every_script_that_a_step_runs_exists() -> None:
    named = {
        word
        for _, _, job in jobs()
        for step in job["steps"]
        for word in re.findall(r"scripts/\w+", step.get("run", ""))
    }
    scripts = ("test", "check_dist", "man", "docs", "playground", "vscode")
    assert named == {f"scripts/{name}" for name in scripts}
    assert all((ROOT / name).is_file() for name in named)


def test_every_test_that_a_step_names_exists() -> None:
    named = [
        word for _, _, job in jobs() for step in job["steps"] for word in re.findall(r"tests/\S+", step.get("run", ""))
    ]
    assert "tests/docs/test_playground.py" in named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_playground_is_part_of_the_published_site_and_is_tested_in_a_browser() -> None:
    """`scripts/docs` empties the folder, and the test is skipped where Pyodide or a browser is missing."""
    steps = workflow("ci.yml")["jobs"]["docs"]["steps"]
    text = "\n".join(step.get("run", step.get("uses")) for step in steps)
    order = [
        "python scripts/docs",
        "actions/setup-node@",
        "python scripts/playground",
        "google-chrome --version\n",
        "sh scripts/test tests/docs/test_playground.py",
        "actions/upload-artifact@",
    ]
    assert sorted(order, key=text.index) == order


@pytest.mark.parametrize(
    ("tag", "message"),
    [
        ("v999.0", f"the tag is `v999.0`, but pyproject.toml has the version `{PROJECT['version']}`"),
        (PROJECT["version"], f"the tag is `{PROJECT['version']}`, but"),
    ],
)
def test_a_tag_of_another_version_is_not_built(tmp_path: Path, tag: str, message: str) -> None:
    done = check_dist("--only", "build", "--tag", tag, "--dist", str(tmp_path))
    assert (done.returncode, list(tmp_path.iterdir())) == (1, [])
    assert message in done.stderr


@pytest.mark.parametrize("names", [[], ["ptxkit-0.0-py3-none-any.whl"], ["other.txt"]])
def test_other_files_than_the_two_are_rejected(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).write_text("")
    done = check_dist("--only", "test", "--dist", str(tmp_path))
    assert done.returncode == 1
    assert f"has: {', '.join(names) or 'nothing'}" in done.stderr


def test_a_file_that_cannot_be_installed_is_an_error(tmp_path: Path) -> None:
    for name in (f"ptxkit-{PROJECT['version']}-py3-none-any.whl", f"ptxkit-{PROJECT['version']}.tar.gz"):
        (tmp_path / name).write_text("not a wheel")
    done = check_dist("--only", "test", "--dist", str(tmp_path), "--python", "python-of-nobody")
    assert done.returncode == 1
    assert "`python-of-nobody` cannot be run" in done.stderr
