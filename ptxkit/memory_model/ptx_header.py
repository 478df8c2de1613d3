"""The header that makes a PTX kernel a litmus test: comments before the module, each with a key.

    // litmus: The wait observes the copy.
    // threads: P0 = cta 0; P1 = cta 0
    // initial: src = 1; src+4 = 2
    // ~exists: P1:%r1 == 0
    // verdict: ok
    // section: Async Proxy; cp.async.bulk

`litmus` is the title. Each thread of `threads` runs the kernel as the first lane of a separate warp; `cta 1, cluster 0,
gpu 0` places it, and without `cluster` all CTAs are in one. Without the line there is one thread. A parameter of 64
bits is the address of a variable with its name, in global memory; what `initial` does not name is 0. The question is
`exists`, `~exists` or `forall` with a condition on registers and variables, or `race`. `verdict` is `ok` if the
statement holds, or if there is no race; `bad` if not; and `silent` if that holds only under the policy `isa`, because
the manual states nothing.
"""

from __future__ import annotations

import re

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.memory_model.errors import LitmusError
from ptxkit.memory_model.events import Placement
from ptxkit.memory_model.limits import MAX_THREADS

_LINE = re.compile(r"\s*//\s*(litmus|threads|initial|exists|~exists|forall|race|verdict|section)\s*(?::\s*(.*?)\s*)?$")
_THREAD = re.compile(r"P(\d+)\s*=\s*cta\s+(\d+)(?:\s*,\s*cluster\s+(\d+))?(?:\s*,\s*gpu\s+(\d+))?")
_INITIAL = re.compile(r"([\w$%]+(?:\+\d+)?(?:@\d+)?)\s*=\s*(-?\d+)")
QUERIES = ("exists", "~exists", "forall", "race")
OK, BAD, SILENT = "ok", "bad", "silent"


@dataclass(slots=True)
class PtxHeader:
    """The header of a kernel. query: one of `QUERIES`. verdict: `OK`, `BAD`, `SILENT`, or empty."""

    title: str = ""
    places: list[Placement] = field(default_factory=list)
    initial: dict[str, int] = field(default_factory=dict)
    query: str = ""
    condition: str = ""
    verdict: str = ""
    sections: tuple[str, ...] = ()


def has_header(text: str) -> bool:
    """Returns whether a PTX module is marked as a litmus test."""
    return any(line.lstrip().startswith("// litmus:") for line in text.splitlines())


def read_header(text: str) -> PtxHeader:
    """Returns the header of a module. Raises LitmusError."""
    header = PtxHeader()
    for line in text.splitlines():
        found = _LINE.match(line)
        if found is not None:
            _read_line(header, found.group(1), found.group(2) or "")
    if not header.query:
        raise LitmusError("the test has no question", "add `// race`, or `// ~exists: P0:%r1 == 0`")
    header.places = header.places or [Placement(0, 0, 0)]
    return header


def _read_line(header: PtxHeader, key: str, value: str) -> None:
    if key == "litmus":
        header.title = value
    elif key == "threads":
        header.places = _read_threads(value)
    elif key == "initial":
        for part in filter(None, (each.strip() for each in value.split(";"))):
            found = _INITIAL.fullmatch(part)
            if found is None:
                raise LitmusError(f"`{part}` is no initial value", "write `x = 1` or `x+4 = 1`")
            header.initial[found.group(1)] = int(found.group(2))
    elif key == "verdict":
        if value not in (OK, BAD, SILENT):
            raise LitmusError(f"`{value}` is no verdict", "write `ok`, `bad` or `silent`")
        header.verdict = value
    elif key == "section":
        header.sections = tuple(filter(None, (each.strip() for each in value.split(";"))))
    elif header.query:
        raise LitmusError("the test has two questions", "write one of `exists`, `~exists`, `forall` and `race`")
    else:
        header.query, header.condition = key, value


def _read_threads(value: str) -> list[Placement]:
    places: list[Placement] = []
    ranks: dict[int, int] = {}
    for part in filter(None, (each.strip() for each in value.split(";"))):
        found = _THREAD.fullmatch(part)
        if found is None or int(found.group(1)) != len(places):
            raise LitmusError(f"`{part}` does not place a thread", "write `P0 = cta 0; P1 = cta 1`, in this order")
        cta = int(found.group(2))
        rank = ranks[cta] = ranks.get(cta, -1) + 1
        places.append(Placement(cta, int(found.group(3) or 0), int(found.group(4) or 0), rank))
    if not places or len(places) > MAX_THREADS:
        raise LitmusError(f"a test has from 1 to {MAX_THREADS} threads", "write `P0 = cta 0; P1 = cta 1`")
    return places
