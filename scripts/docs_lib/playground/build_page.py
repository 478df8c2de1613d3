"""Puts the page of the playground together: its own files, ptxkit and Lark as archives, Pyodide, and the examples.

Everything is in one folder, and the page loads nothing else.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from base64 import b64encode
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

from script_lib.venv_bootstrap import ROOT

from ptxkit.report import view_page
from ptxkit.report.markup import content_security_policy
from ptxkit.report.trace_style import PALETTE
from ptxkit.rules.docs_index import all_pages

PYODIDE = "314.0.7"
"""The release of Pyodide, which the npm registry has."""
_INTEGRITY = "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
"""The SHA-512 of its archive, as `npm view pyodide dist.integrity` prints it."""
_PYODIDE_FILES = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
    "package.json",
)
_OWN_FILES = ("playground.mjs", "worker.mjs", "shared_text.mjs", "session.py")
_FIXTURE = re.compile(r"(PTX\d+)_(bad|ok)_(\w+)")
_HERE = Path(__file__).parent


class PlaygroundError(Exception):
    """What the page is made from cannot be had."""


def pyodide_archive() -> Path:
    """The archive of Pyodide, which `npm pack` fetches to `build` once."""
    return ROOT / "build" / f"pyodide-{PYODIDE}.tgz"


def build_page(folder: Path, pyodide: Path | None = None) -> None:
    """Writes the page to a folder. pyodide: its archive; None fetches it. Raises PlaygroundError."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_pyodide(folder / "pyodide", pyodide or _fetch_pyodide())
    _write_ptxkit(folder / "ptxkit.zip")
    _write_lark(folder / "lark.zip")
    write_own_files(folder)


def write_own_files(folder: Path) -> None:
    """Writes what is not an archive: the page, its scripts, its style and the examples."""
    for name in _OWN_FILES:
        shutil.copyfile(_HERE / name, folder / name)
    (folder / "playground.css").write_text(PALETTE + (_HERE / "playground.css").read_text("utf-8"), "utf-8")
    codes = "../reference/codes/" if (folder.parent / "reference" / "codes").is_dir() else ""
    page = (_HERE / "index.html").read_text("utf-8")
    for name, value in (("POLICY", page_policy()), ("CODES", codes), ("VERSION", version("ptxkit"))):
        page = page.replace(f"@{name}@", value)
    (folder / "index.html").write_text(page, "utf-8")
    (folder / "examples.json").write_text(json.dumps(example_groups()), "utf-8")


def page_policy() -> str:
    """The content security policy of the page: its own files, and the style and the script of the pictures, since a
    frame that has its text from the page has the policy of the page, too.
    """
    assets = [Path(view_page.__file__).with_name(name).read_text("utf-8") for name in ("view.css", "view.js")]
    policy = content_security_policy(PALETTE + assets[0], assets[1])
    policy = policy.replace("style-src ", "style-src 'self' ")
    policy = policy.replace("script-src ", "script-src 'self' 'wasm-unsafe-eval' ")
    return f"{policy}; connect-src 'self'; worker-src 'self'; img-src data:"


def example_groups() -> list[dict[str, Any]]:
    """The kernel of the tutorial, and for each rule the first fixture that breaks it, and the first that keeps it."""
    tutorial = [
        {"name": title, "text": (ROOT / "docs" / "tutorial" / f"{name}.ptx").read_text("utf-8")}
        for name, title in (("broken", "Scale a tile, without the proxy fence"), ("scale", "Scale a tile"))
    ]
    names = {str(page.code): page.name for page in all_pages()}
    rules: dict[str, list[dict[str, str]]] = {}
    seen = set()
    for path in sorted((ROOT / "corpus" / "rules").glob("*.ptx")):
        match = _FIXTURE.fullmatch(path.stem)
        if match is None or match.group(1, 2) in seen or match[1] not in names:
            continue
        seen.add(match.group(1, 2))
        name = f"{match[1]} {'is broken' if match[2] == 'bad' else 'is kept'}: {match[3].replace('_', ' ')}"
        rules.setdefault(f"{match[1]}: {names[match[1]]}", []).append({"name": name, "text": path.read_text("utf-8")})
    groups = [("Tutorial", tutorial), *rules.items()]
    return [{"title": title, "examples": examples} for title, examples in groups]


def _write_ptxkit(path: Path) -> None:
    """The wheel: the package, and the tables that its build compiles."""
    with tempfile.TemporaryDirectory(prefix="ptxkit-") as name:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", name]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        wheels = list(Path(name).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            raise PlaygroundError(f"the wheel cannot be built: {done.stderr.strip()}")
        shutil.copyfile(wheels[0], path)


def _write_lark(path: Path) -> None:
    """The Lark of this environment: the tables are compiled with it, and are used with no other release."""
    found = distribution("lark")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(found.files or (), key=str):
            if file.suffix != ".pyc" and file.parts[0].startswith("lark"):
                archive.writestr(str(file), file.read_binary())


def _write_pyodide(folder: Path, archive: Path) -> None:
    folder.mkdir(exist_ok=True)
    content = archive.read_bytes()
    if b64encode(hashlib.sha512(content).digest()).decode("ascii") != _INTEGRITY:
        raise PlaygroundError(f"`{archive}` is not the archive of Pyodide {PYODIDE}: its hash is another")
    with tarfile.open(archive) as members:
        for name in _PYODIDE_FILES:
            member = members.extractfile(f"package/{name}")
            assert member is not None
            (folder / name).write_bytes(member.read())


def _fetch_pyodide() -> Path:
    path = pyodide_archive()
    if not path.is_file():
        npm = shutil.which("npm")
        if npm is None:
            raise PlaygroundError("Pyodide is missing: install npm, which fetches it, or name its archive")
        path.parent.mkdir(exist_ok=True)
        command = [npm, "pack", "--silent", f"pyodide@{PYODIDE}", "--pack-destination", str(path.parent)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise PlaygroundError(f"npm cannot fetch Pyodide: {done.stderr.strip()}")
    return path
