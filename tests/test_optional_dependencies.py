"""The parts of the playground that run in a browser need no module that is compiled for the system."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MISSING = ("numpy", "lz4", "zstandard", "rich", "click", "ssl", "mmap", "fcntl", "resource", "termios", "ctypes")
"""Modules that the playground does not have: compiled ones, and those that only the commands import."""
PROGRAM = """\
import importlib.abc, json, sys
sys.path[:0] = ["scripts", "."]
missing = sys.argv[1].split(",") if sys.argv[1] else []

class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
from docs_lib.playground import session

results = []
for path in sys.argv[2:]:
    text = open(path, encoding="utf-8").read()
    results.append([session.check(text, policy) for policy in ("isa", "strict")])
    results.append([session.format_text(text), session.draw(text, "isa")])
found = sorted(name for name in missing if name in sys.modules)
print(json.dumps([found, results]))
"""


def texts() -> list[str]:
    """A text of the tutorial, fixtures of rules, kernels of compilers, one that only Lark parses, and one that is not
    PTX."""
    fixtures = sorted((ROOT / "corpus" / "rules").glob("*_bad_*.ptx"))[::30]
    kernels = [
        ROOT / "corpus" / "kernels" / name for name in ("hand_tcgen05_store.sm_100a.ptx", "bulk_add_one.sm_90.ptx")
    ]
    return [str(path) for path in (ROOT / "docs" / "tutorial" / "broken.ptx", ROOT / "README.md", *kernels, *fixtures)]


def results(missing: tuple[str, ...], paths: list[str]) -> list[list[str]]:
    """Returns the results of the playground for each text, in a Python that lacks some modules."""
    command = [sys.executable, "-c", PROGRAM, ",".join(missing), *paths]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    imported, found = json.loads(done.stdout)
    assert imported == []
    assert isinstance(found, list)
    return found


def test_results_need_no_compiled_module() -> None:
    paths = texts()
    assert len(paths) > 6
    found = results(MISSING, paths)
    assert found == results((), paths)
    codes = {
        finding["code"]
        for item in found[::2]
        for document in item
        for finding in json.loads(document)["files"][0]["diagnostics"]
    }
    assert {"PTX401", "PTX101"} < codes
    assert len(codes) > 5
    assert "PTX100" not in codes
