"""`.pre-commit-hooks.yaml`: the hooks run existing commands with their options."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.support import BROKEN, CLEAN, shell

HOOKS = (Path(__file__).resolve().parent.parent / ".pre-commit-hooks.yaml").read_text("utf-8")


def entries() -> dict[str, list[str]]:
    """Returns the command line of each hook, without the name of the program."""
    found = re.findall(r"^- id: (\S+)$.*?^  entry: ptxkit ([^\n]+)$", HOOKS, re.MULTILINE | re.DOTALL)
    return {name: line.split() for name, line in found}


def test_the_hooks_distinguish_correct_files_from_wrong_ones(tmp_path: Path) -> None:
    assert set(entries()) == {"ptxkit-lint", "ptxkit-fmt"}
    (tmp_path / "clean.ptx").write_text(CLEAN)
    (tmp_path / "broken.ptx").write_text(BROKEN)
    for name, arguments in entries().items():
        assert shell(*arguments, "clean.ptx", cwd=tmp_path).returncode == 0, name
        assert shell(*arguments, "broken.ptx", cwd=tmp_path).returncode != 0, name
