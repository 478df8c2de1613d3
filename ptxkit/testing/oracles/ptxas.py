"""ptxas as the oracle: the texts that it rejects, and the reasons.

With `-arch=compute_XX` it parses and checks a text without generating code, and needs no GPU. One process checks
thousands of files and continues with the next one after a fatal error, so that each text is independent and costs about
0.1 ms. There are exceptions:

* `.visible` names are known to the later files of the same process, so texts that share such names must be checked
  separately.
* The rest of a statement that could not be parsed becomes part of the next one, even in the next file, so a file whose
  errors are ignored is inserted between any two files.
* `.version` and `.target` are not compared if another file follows. After some instructions with an element of a vector
  register (`%v.x`) they are not checked at all: such files are checked separately, and so are those of each texturing
  mode, which all files of a process must share.
* Other effects of earlier files are detected by checking the files in the opposite order, too. If the result matters,
  use a separate process (`refusal`).
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
"""The bytes of memory that must be free for files; in a container there may be very few."""

_ELEMENT = re.compile(r"%v\w+\.[xyzwrgba]\b")

_MODE = re.compile(r"\btexmode_\w+")

_SWEEPER = ".version 6.4 .target sm_75 .address_size 64 .entry sweeper() { trap; trap; ret; }\n"

_LOCATED_ERROR = re.compile(r"^ptxas (\d+)\.ptx, line (\d+); (?:error|fatal)\s*:\s*(.*)$", re.MULTILINE)
_ABORTED = re.compile(r"^ptxas fatal\s*:\s*Ptx assembly aborted due to errors$", re.MULTILINE)
_UNLOCATED_ERROR = re.compile(r"^ptxas (?:error|fatal|\d+\.ptx, (?:error|fatal)).*$", re.MULTILINE)

Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Ptxas:
    """A ptxas program. release: such as `13.5`. newest: the last `.version` that it supports. targets: `sm_90a`,
    `sm_120`...
    """

    path: Path
    release: str
    newest: Version
    targets: frozenset[str]

    def supports(self, version: Version, target: str) -> bool:
        """Returns whether it supports modules of this version and target."""
        return version <= self.newest and target in self.targets

    def refusals(self, texts: Sequence[str], target: str) -> dict[int, str]:
        """Returns the index and first message of each text that it rejects. The texts share no `.visible` name.

        All texts are checked in both orders, and those with different results separately.
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
        """Returns the index and first message of the rejected texts among those at `places`, checked in this order."""
        answers = self._ask([texts[place] for place in places], target)
        return {places[index]: message for index, message in answers.items()}

    def _batches(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """Yields the indices of the texts that one process checks."""
        parts: dict[tuple[bool, str], list[int]] = {}
        for place, text in enumerate(texts):
            mode = _MODE.search(text)
            parts.setdefault((_ELEMENT.search(text) is not None, mode[0] if mode else ""), []).append(place)
        for places in parts.values():
            for start in range(0, len(places), MAX_TEXTS_PER_PROCESS):
                yield places[start : start + MAX_TEXTS_PER_PROCESS]

    def refusal(self, text: str, target: str) -> str | None:
        """Returns the reason why it rejects the text in a separate process, or None if it accepts it."""
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
                return self._bisect(texts, target, "ptxas does not terminate")
        output = (run.stdout + run.stderr).decode("utf-8", "replace")
        found: dict[int, str] = {}
        for index, _, message in _LOCATED_ERROR.findall(output):
            found.setdefault(int(index), message)
        unplaced = _UNLOCATED_ERROR.findall(_ABORTED.sub("", output))
        if run.returncode < 0 or unplaced or (run.returncode != 0 and not output.strip()):
            return self._bisect(texts, target, next(iter(unplaced), f"ptxas ends with status {run.returncode}"))
        return found

    def _bisect(self, texts: Sequence[str], target: str, message: str) -> dict[int, str]:
        """Checks each half separately, because an error names no file or ptxas has crashed."""
        if len(texts) == 1:
            return {0: message}
        middle = len(texts) // 2
        second = self._ask(texts[middle:], target)
        return self._ask(texts[:middle], target) | {middle + index: why for index, why in second.items()}


def _memory_folder() -> str | None:
    """Returns a folder in memory, if there is one, for thousands of small temporary files."""
    shared = "/dev/shm"
    return shared if os.access(shared, os.W_OK) and shutil.disk_usage(shared).free > _MIN_FREE_BYTES else None


def probe_ptxas(path: Path) -> Ptxas:
    """Queries the ptxas at a path for its properties. Raises RuntimeError if the file is not ptxas."""
    found = query_ptxas(path)
    return Ptxas(path, found.release, found.newest, found.targets)


@cache
def installed_ptxas() -> tuple[Ptxas, ...]:
    """Returns every ptxas of the project's environment, the newest first: that of the dependencies and the additional
    ones.
    """
    found = {each.release: each for each in map(probe_ptxas, _ptxas_paths())}
    return tuple(sorted(found.values(), key=lambda each: each.newest, reverse=True))


def _ptxas_paths() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        yield from sorted(Path(folder).glob("cu*/bin/ptxas"))
    yield from sorted(extra_releases_folder().glob("*/nvidia/cu*/bin/ptxas"))


def extra_releases_folder() -> Path:
    """Returns the folder of other releases of ptxas: one folder each, since an environment contains one release of a
    package.
    """
    import sys

    return Path(sys.prefix) / "ptxas"
