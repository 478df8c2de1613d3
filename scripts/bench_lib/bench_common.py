"""What the measurements of `scripts/bench` share: processor time of actions that take turns, and ptxas."""

from __future__ import annotations

import re
import resource
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 5


def fastest(*actions: Callable[[], object], repeats: int = REPEATS) -> list[float]:
    """Processor seconds (own and children's) of the fastest of some runs of each; they take turns.

    Processor time, because a busy machine makes the clock on the wall say nothing; on an idle one the two agree here,
    where all that is measured runs on one core.
    """
    best = [float("inf")] * len(actions)
    for _ in range(repeats):
        for place, action in enumerate(actions):
            start = processor_seconds()
            action()
            best[place] = min(best[place], processor_seconds() - start)
    return best


def processor_seconds() -> float:
    """Seconds of processor time that this process and its children have used."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> None:
    """Run a program that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{(done.stdout + done.stderr)[:1000]}")


def ptxas() -> Path:
    """ptxas of the environment's `nvidia-cuda-nvcc`."""
    import nvidia

    for folder in nvidia.__path__:
        for path in sorted(Path(folder).glob("*/bin/ptxas")):
            return path
    raise FileNotFoundError("ptxas is missing: install nvidia-cuda-nvcc")


def ptxas_version() -> str:
    """`V13.5.nn`."""
    text = subprocess.run([str(ptxas()), "--version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"V[\d.]+", text)
    return found[0] if found else "unknown"
