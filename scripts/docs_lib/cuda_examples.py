"""Faults in CUDA C++ for the pages of codes: kernels that nvcc compiled for the tests, right and with one fault."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from difflib import unified_diff
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "tests" / "report" / "lineinfo"
CONTEXT = 3
"""Lines of the program above and below a change."""

_CONDITION = re.compile(r"#(if|elif) FAULT (==|!=) (\d)")
_CHOICE = re.compile(r"FAULT == (\d) \? ([^:]+) : ([^,)]+)")
_EXPECTED = re.compile(r"\s*// expect [\d ]+(:[^\n]*)?$")


@cache
def examples() -> dict[str, tuple[str, int]]:
    """Code -> (name of a source, number of its fault)."""
    with (Path(__file__).parent / "cuda_examples.toml").open("rb") as file:
        return {code: (source, fault) for code, (source, fault) in tomllib.load(file)["examples"].items()}


def example_lines(code: str) -> Iterator[str]:
    """The part of a page: what changes between the program with the fault and the right one."""
    if code not in examples():
        return
    name, fault = examples()[code]
    text = (SOURCES / f"{name}.cu").read_text("utf-8")
    wrong, right = program_lines(text, fault), program_lines(text, 0)
    changed = list(unified_diff(wrong, right, n=CONTEXT, lineterm=""))[
        3:
    ]  # after the heads of the files and of the first change
    yield from ("## In CUDA C++", "")
    what = "the line with `-`, for which those with `+` are right"
    if not any(line.startswith("-") for line in changed):
        what = "the lines with `+` are missing"
    yield from (f"{text.splitlines()[0].removeprefix('// ')} The fault: {what}.", "")
    yield '``` { .diff .no-run reason="needs nvcc" }'
    yield from ("..." if line.startswith("@@") else line for line in changed)
    yield from ("```", "")


def program_lines(text: str, fault: int) -> list[str]:
    """The lines of a source for one fault, 0 for none, as the preprocessor gives them; without the tests' comments."""
    lines: list[str] = []
    shown: list[bool] = []
    done: list[bool] = []
    for line in text.splitlines():
        condition = _CONDITION.match(line)
        if condition is not None:
            holds = (fault == int(condition[3])) is (condition[2] == "==")
            if condition[1] == "if":
                shown.append(holds)
                done.append(holds)
            else:
                shown[-1] = holds and not done[-1]
                done[-1] = done[-1] or holds
        elif line.startswith("#else"):
            shown[-1] = not done[-1]
        elif line.startswith("#endif"):
            shown.pop()
            done.pop()
        elif all(shown):
            chosen = _CHOICE.sub(lambda match: match[2] if fault == int(match[1]) else match[3], line)
            lines.append(_EXPECTED.sub("", chosen))
    return lines
