"""Runs scripts in the checkout's own environment, whatever interpreter starts them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def use_environment() -> None:
    """Makes `import ptxkit` work, if necessary by starting the script again with the interpreter of `.venv`.

    `scripts/environment` creates that environment if it does not exist.
    """
    sys.path.insert(0, str(ROOT))
    if importlib.util.find_spec("lark") and importlib.util.find_spec("numpy"):
        return
    made = subprocess.run(["sh", "-c", ". scripts/environment"], cwd=ROOT, check=False)
    if made.returncode:
        sys.exit(made.returncode)
    python = ROOT / ".venv" / "bin" / "python"
    os.execv(python, [str(python), *sys.argv])


def install_ptxas(release: str) -> None:
    """Installs another release of ptxas next to the environment's own, once, because an environment contains one
    release.
    """
    folder = Path(sys.prefix) / "ptxas" / release
    if folder.is_dir():
        return
    print(f"Fetching ptxas {release} (once) ...", file=sys.stderr)
    package = f"nvidia-cuda-nvcc=={release}.*"
    command = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps"]
    with tempfile.TemporaryDirectory(dir=_create_folder(folder.parent)) as half:
        made = subprocess.run([*command, "--target", half, package], check=False)
        if made.returncode:
            print(f"pip could not install {package}; that release is not asked", file=sys.stderr)
            return
        shutil.copytree(half, folder, dirs_exist_ok=True)


def _create_folder(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
