"""Common parts of the measurements of `scripts/bench`: processor time of interleaved actions, and ptxas."""

from __future__ import annotations

import re
import resource
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 5


def fastest(*actions: Callable[[], object], repeats: int = REPEATS) -> list[float]:
    """Returns the processor seconds (own and children's) of the fastest of some runs of each action; the actions take
    turns.

    Processor time is measured, because elapsed time means nothing on a busy machine; on an idle one the two agree,
    because all measured programs run on one core.
    """
    best = [float("inf")] * len(actions)
    for _ in range(repeats):
        for place, action in enumerate(actions):
            start = processor_seconds()
            action()
            best[place] = min(best[place], processor_seconds() - start)
    return best


def processor_seconds() -> float:
    """Returns the seconds of processor time that this process and its children have used."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> None:
    """Runs a program that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{(done.stdout + done.stderr)[:1000]}")


def ptxas() -> Path:
    """Returns the ptxas of the environment's `nvidia-cuda-nvcc`."""
    import nvidia

    for folder in nvidia.__path__:
        for path in sorted(Path(folder).glob("*/bin/ptxas")):
            return path
    raise FileNotFoundError("ptxas is missing: install nvidia-cuda-nvcc")


def ptxas_version() -> str:
    """Returns `V13.5.nn`."""
    text = subprocess.run([str(ptxas()), "--version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"V[\d.]+", text)
    return found[0] if found else "unknown"
