"""Shared by the tests of the memory model: texts of litmus tests, and their verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.memory_model import ISA, LitmusVerdict, check, read_tests


def verdict_of(text: str, policy: str = ISA) -> LitmusVerdict:
    """Returns the verdict on the only test of a text."""
    (test,) = read_tests(text, "t.litmus")
    return check(test, policy)


def dat3m(condition: str, *threads: Sequence[str], places: Sequence[str] = (), initial: str = "x = 0;") -> str:
    """Returns a test in Dat3M's format. places: of the threads; without them, each has its own CTA."""
    heads = [f"P{at}@{places[at] if places else f'cta {at},gpu 0'}" for at, _ in enumerate(threads)]
    rows = [heads, *([each[at] if at < len(each) else "" for each in threads] for at in range(max(map(len, threads))))]
    table = "\n".join(" | ".join(row) + " ;" for row in rows)
    return f"PTX t\n{{ {initial} }}\n{table}\n{condition}\n"
