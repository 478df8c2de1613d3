"""Published verdicts on litmus tests, and where the model contradicts them.

A folder of published tests has the files `PTXv7_5.csv` and `PTXv7_5-Liveness.csv` (lines of a test's path and 1 where
its condition holds, or each execution ends) with the tests of Dat3M below it, and the tests of mixedproxy in
`mixedproxy-tests`, which state their verdicts themselves. Each known contradiction is listed in `contradictions.toml`.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator
from pathlib import Path

from ptxkit.fast_dataclasses import dataclass
from ptxkit.memory_model import STRICT, LitmusError, check, find_endless_execution, read_tests

VERDICTS, LIVENESS, MIXEDPROXY = "PTXv7_5.csv", "PTXv7_5-Liveness.csv", "mixedproxy-tests"


@dataclass(frozen=True, slots=True)
class ComparedVerdict:
    """A published verdict on a test, and that of the model. found: None if the model has none. reason: why not."""

    source: str
    test: str
    published: bool
    found: bool | None
    reason: str = ""

    @property
    def agrees(self) -> bool:
        """Whether both are the same."""
        return self.published == self.found


def compare_published(folder: Path) -> Iterator[ComparedVerdict]:
    """Yields the verdicts of a folder of published tests, in the order of the sources."""
    for name, held in _rows(folder / VERDICTS):
        yield _compare("Dat3M", folder / name, name, held)
    for name, held in _rows(folder / LIVENESS):
        yield _compare("Dat3M, liveness", folder / name, name, held)
    for path in sorted((folder / MIXEDPROXY).glob("*.test")):
        for test in read_tests(path.read_text("utf-8"), path.name):
            yield ComparedVerdict("mixedproxy", test.name, True, check(test, STRICT).does_hold)


def _rows(path: Path) -> Iterator[tuple[str, bool]]:
    with path.open(encoding="utf-8") as stream:
        for name, held in csv.reader(stream):
            yield name, held == "1"


def _compare(source: str, path: Path, name: str, held: bool) -> ComparedVerdict:
    try:
        (test,) = read_tests(path.read_text("utf-8"), path.name)
        if source == "Dat3M":
            return ComparedVerdict(source, name, held, check(test, STRICT).does_hold)
        return ComparedVerdict(source, name, held, find_endless_execution(test, STRICT) is None)
    except LitmusError as error:
        return ComparedVerdict(source, name, held, None, str(error))


def known_contradictions() -> dict[tuple[str, str], str]:
    """Returns the reason of each contradiction, by source and test."""
    text = (Path(__file__).parent / "contradictions.toml").read_text("utf-8")
    entries = tomllib.loads(text)["contradiction"]
    return {(entry["source"], test): entry["reason"] for entry in entries for test in entry["tests"]}
