"""The extension for VS Code: its manifest, and its own tests where `sh scripts/vscode` has installed their
dependencies."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol.types import SemanticTokenModifiers

from ptxkit import __version__
from ptxkit.lsp.semantic_tokens import legend

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "editors" / "vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text("utf-8"))


def test_the_manifest_names_the_version_of_ptxkit() -> None:
    assert MANIFEST["version"] == __version__


def test_each_command_of_the_manifest_is_registered() -> None:
    source = (EXTENSION / "src" / "extension.ts").read_text("utf-8")
    registered = set(re.findall(r'registerCommand\("([^"]+)"', source))
    assert registered == {each["command"] for each in MANIFEST["contributes"]["commands"]}
    assert registered
    shown = {each["command"] for menu in MANIFEST["contributes"]["menus"].values() for each in menu}
    assert shown <= registered


def test_the_settings_that_start_a_program_or_link_are_restricted_to_trusted_workspaces() -> None:
    settings = MANIFEST["contributes"]["configuration"]["properties"]
    restricted = MANIFEST["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
    assert set(restricted) == set(settings) == {"ptxkit.command", "ptxkit.arguments", "ptxkit.documentation"}


def test_the_files_of_the_manifest_exist() -> None:
    contributed = [*MANIFEST["contributes"]["grammars"]]
    paths = [each["path"] for each in contributed]
    paths += [each["configuration"] for each in MANIFEST["contributes"]["languages"]]
    assert len(paths) == 2
    assert all((EXTENSION / path).is_file() for path in paths)


def test_the_classes_of_words_are_those_of_the_server() -> None:
    served = legend()
    standard = {each.value for each in SemanticTokenModifiers}
    declared = {each["id"] for each in MANIFEST["contributes"]["semanticTokenModifiers"]}
    assert declared == set(served.token_modifiers) - standard
    [colors] = MANIFEST["contributes"]["semanticTokenScopes"]
    selectors = [name.split(".") for name in colors["scopes"]]
    assert {kind for kind, *_ in selectors} == set(served.token_types)
    assert {name for _, *names in selectors for name in names} <= set(served.token_modifiers)
    assert {"shared", "register"} <= {name for _, *names in selectors for name in names}


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((EXTENSION / "package-lock.json").read_text("utf-8"))
    assert len(lock["packages"]) > 1
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]


@pytest.mark.skipif(
    shutil.which("npm") is None or not (EXTENSION / "node_modules").is_dir() or not (EXTENSION / "dist").is_dir(),
    reason="needs Node.js and what `sh scripts/vscode` installs and builds",
)
def test_the_tests_of_the_extension_pass() -> None:
    environment = {**os.environ, "PTXKIT_PYTHON": sys.executable}
    done = subprocess.run(["npm", "test"], cwd=EXTENSION, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "# fail 0" in done.stdout
