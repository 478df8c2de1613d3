"""`scripts/bench undecided`: the number of undecided asynchronous operations of real kernels, and the reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from ptxkit.analysis.ir.program import flatten
from ptxkit.analysis.symexec.explorer import async_steps_of
from ptxkit.rules import analyze
from ptxkit.syntax import parse

MAX_REASONS = 20


def count_undecided(files: Sequence[Path]) -> tuple[int, int]:
    """Prints a line for each file with undecided questions, then the reasons by rule. Returns (asynchronous operations,
    undecided ones).
    """
    print("Asynchronous operations (copies, reductions, multiplications, and what they are ordered by), those of them")
    print("that carry an undecided question, and how many questions there are in all, with or without an operation.")
    print("Questions that are decided under known conditions on the launch are not counted.")
    print(f"{'file':48} {'operations':>10} {'undecided':>10} {'share':>7} {'questions':>10}")
    total = doubtful = questions = 0
    reasons: Counter[tuple[str, str]] = Counter()
    with ProcessPoolExecutor() as pool:
        for file, (operations, open_ones, asked) in zip(files, pool.map(_count_file, files), strict=True):
            total, doubtful, questions = total + operations, doubtful + open_ones, questions + asked.total()
            reasons.update(asked)
            if asked:
                share = open_ones / max(operations, 1)
                name = f"{file.parent.name}/{file.name}"[:48]
                print(f"{name:48} {operations:10} {open_ones:10} {share:7.1%} {asked.total():10}", flush=True)
    print(f"{f'{len(files)} files':48} {total:10} {doubtful:10} {doubtful / max(total, 1):7.1%} {questions:10}")
    for (code, reason), asked_times in reasons.most_common(MAX_REASONS):
        print(f"{asked_times:8}  {code}  {reason}")
    return total, doubtful


def _count_file(file: Path) -> tuple[int, int, Counter[tuple[str, str]]]:
    module = parse(file.read_text("utf-8", "replace"), str(file))
    operations: set[int] = set()
    for function in module.functions():
        if function.body is not None:
            operations.update(step.start for step in async_steps_of(flatten(module, function)))
    verdict = analyze(module)
    left = [each for each in verdict.undecided if not each.conditions]
    places = {each.span.start for each in left}
    return len(operations), len(operations & places), Counter((each.code, each.reason) for each in left)
