"""ptxas as the oracle: which texts it refuses, and why.

`-arch=compute_XX` makes it parse and check and generate nothing, without a GPU. One process takes thousands of files
and continues with the next one after a fatal error, so that each text is independent and costs about 0.1 ms. What is
`.visible` is known to the later files of the same process: texts that share such names must be asked one by one. What
is left of a statement that could not be parsed goes into the next one, even in the next file: a file whose errors are
ignored is put between any two. Before another file `.version` and `.target` are not compared, and after some
instructions with an element of a vector register (`%v.x`) ptxas no longer looks at them at all: such files are asked
apart, and so are those of each texturing mode, which all files of a process must share. What else a file leaves shows
when the same files are asked in the other order. Even so, ask alone (`refusal`) where the answer matters.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from ptxkit.device.ptxas_program import query_ptxas
from ptxkit.fast_dataclasses import dataclass
from ptxkit.testing.limits import MAX_TEXTS_PER_PROCESS, PTXAS_TIMEOUT_SECONDS

_MIN_FREE_BYTES = 1 << 30
"""Bytes that must be free in memory for files: in a container it may hold next to nothing."""

_ELEMENT = re.compile(r"%v\w+\.[xyzwrgba]\b")

_MODE = re.compile(r"\btexmode_\w+")

_SWEEPER = ".version 6.4 .target sm_75 .address_size 64 .entry sweeper() { trap; trap; ret; }\n"

_LOCATED_ERROR = re.compile(r"^ptxas (\d+)\.ptx, line (\d+); (?:error|fatal)\s*:\s*(.*)$", re.MULTILINE)
_ABORTED = re.compile(r"^ptxas fatal\s*:\s*Ptx assembly aborted due to errors$", re.MULTILINE)
_UNLOCATED_ERROR = re.compile(r"^ptxas (?:error|fatal|\d+\.ptx, (?:error|fatal)).*$", re.MULTILINE)

Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Ptxas:
    """One ptxas. release: such as `13.5`. newest: the last `.version` that it knows. targets: `sm_90a`, `sm_120`..."""

    path: Path
    release: str
    newest: Version
    targets: frozenset[str]

    def supports(self, version: Version, target: str) -> bool:
        """Whether it can be asked about modules of this version and target."""
        return version <= self.newest and target in self.targets

    def refusals(self, texts: Sequence[str], target: str) -> dict[int, str]:
        """Index and first message of each text that it refuses; they share no `.visible` name.

        All are asked in both orders, and those about which the two answers differ alone.
        """
        found: dict[int, str] = {}
        for places in self._batches(texts):
            answers: dict[int, str | None] = dict(self._ask_all(places, texts, target))
            others = self._ask_all(places[::-1], texts, target)
            for place in answers.keys() ^ others.keys():
                answers[place] = self.refusal(texts[place], target)
            found |= {place: message for place, message in answers.items() if message is not None}
        return found

    def _ask_all(self, places: Sequence[int], texts: Sequence[str], target: str) -> dict[int, str]:
        """Place and first message of those of the texts at these places that it refuses, asked in this order."""
        answers = self._ask([texts[place] for place in places], target)
        return {places[index]: message for index, message in answers.items()}

    def _batches(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """The places of the texts that one process takes."""
        parts: dict[tuple[bool, str], list[int]] = {}
        for place, text in enumerate(texts):
            mode = _MODE.search(text)
            parts.setdefault((_ELEMENT.search(text) is not None, mode[0] if mode else ""), []).append(place)
        for places in parts.values():
            for start in range(0, len(places), MAX_TEXTS_PER_PROCESS):
                yield places[start : start + MAX_TEXTS_PER_PROCESS]

    def refusal(self, text: str, target: str) -> str | None:
        """Why it refuses the text, asked in a process of its own; None where it accepts."""
        return self._ask([text], target).get(0)

    def _ask(self, texts: Sequence[str], target: str) -> dict[int, str]:
        with tempfile.TemporaryDirectory(dir=_memory_folder(), prefix="ptxas-") as folder:
            Path(folder, "sweeper").write_text(_SWEEPER)
            for index, text in enumerate(texts):
                Path(folder, f"{index}.ptx").write_text(text, encoding="utf-8", errors="surrogateescape")
            arch = target.replace("sm_", "compute_")
            files = [name for index in range(len(texts)) for name in (f"{index}.ptx", "sweeper")][:-1]
            command = [str(self.path), "-w", f"-arch={arch}", *files]
            try:
                run = subprocess.run(
                    [*command, "-o", os.devnull],
                    cwd=folder,
                    capture_output=True,
                    timeout=PTXAS_TIMEOUT_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return self._bisect(texts, target, "ptxas does not come to an end")
        output = (run.stdout + run.stderr).decode("utf-8", "replace")
        found: dict[int, str] = {}
        for index, _, message in _LOCATED_ERROR.findall(output):
            found.setdefault(int(index), message)
        unplaced = _UNLOCATED_ERROR.findall(_ABORTED.sub("", output))
        if run.returncode < 0 or unplaced or (run.returncode != 0 and not output.strip()):
            return self._bisect(texts, target, next(iter(unplaced), f"ptxas ends with status {run.returncode}"))
        return found

    def _bisect(self, texts: Sequence[str], target: str, message: str) -> dict[int, str]:
        """Checks each half apart, where no file is named for an error or ptxas itself breaks."""
        if len(texts) == 1:
            return {0: message}
        middle = len(texts) // 2
        second = self._ask(texts[middle:], target)
        return self._ask(texts[:middle], target) | {middle + index: why for index, why in second.items()}


def _memory_folder() -> str | None:
    """A folder in memory, where there is one: thousands of small files live there for a moment."""
    shared = "/dev/shm"
    return shared if os.access(shared, os.W_OK) and shutil.disk_usage(shared).free > _MIN_FREE_BYTES else None


def probe_ptxas(path: Path) -> Ptxas:
    """The ptxas at a path, asked what it knows. Raises RuntimeError where it is none."""
    found = query_ptxas(path)
    return Ptxas(path, found.release, found.newest, found.targets)


@cache
def installed_ptxas() -> tuple[Ptxas, ...]:
    """Every ptxas of the project's environment, the newest first: that of the dependencies and the additional ones."""
    found = {each.release: each for each in map(probe_ptxas, _ptxas_paths())}
    return tuple(sorted(found.values(), key=lambda each: each.newest, reverse=True))


def _ptxas_paths() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        yield from sorted(Path(folder).glob("cu*/bin/ptxas"))
    yield from sorted(extra_releases_folder().glob("*/nvidia/cu*/bin/ptxas"))


def extra_releases_folder() -> Path:
    """Where other releases of ptxas are kept: one folder each, since an environment holds one of a package."""
    import sys

    return Path(sys.prefix) / "ptxas"
