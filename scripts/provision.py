"""For the scripts that are written in Python: whoever starts them, they run in the checkout's own environment."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def use_environment() -> None:
    """Make `import ptxkit` work: as it is, or by starting the script again with the interpreter of `.venv`.

    `scripts/environment` makes that one, where it is not there yet.
    """
    sys.path.insert(0, str(ROOT))
    if importlib.util.find_spec("lark") and importlib.util.find_spec("numpy"):
        return
    made = subprocess.run(["sh", "-c", ". scripts/environment"], cwd=ROOT, check=False)
    if made.returncode:
        sys.exit(made.returncode)
    python = ROOT / ".venv" / "bin" / "python"
    os.execv(python, [str(python), *sys.argv])
