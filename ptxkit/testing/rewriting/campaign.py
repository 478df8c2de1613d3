"""Rewrites many kernels, and compares the verdicts of the analyzer before and after.

The law: a rewrite preserves the semantics of a kernel. So the errors of a wrong kernel may become open questions, since
the analysis may understand less of the new text, but not vanish; and a correct kernel may get open questions, but no
error and no warning.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

from ptxkit.diagnostics import Severity, Verdict
from ptxkit.fast_dataclasses import dataclass
from ptxkit.gc_control import pause_collection
from ptxkit.linter import lint
from ptxkit.syntax import parse, print_module
from ptxkit.syntax.tree import Module
from ptxkit.syntax.tree_edit import apply_edits
from ptxkit.testing.limits import MAX_REWRITE_PLACES
from ptxkit.testing.mutation.function_analysis import analyze_functions
from ptxkit.testing.oracles.ptxas import Ptxas
from ptxkit.testing.rewriting import (
    address_forms,
    equal_conditions,
    equal_operations,
    generic_addresses,
    guards_and_branches,
    identity_chain,
    inner_scopes,
    library_calls,
    local_spill,
    loop_copies,
    outlining,
    register_packing,
    register_split,
    shared_spill,
    statement_layout,
)
from ptxkit.testing.rewriting.kernel_rewrite import KernelRewrite
from ptxkit.testing.rewriting.sources import RewriteSource, SourceCorpus

REWRITES: tuple[KernelRewrite, ...] = (
    local_spill.LocalSpill(),
    shared_spill.SharedSpill(),
    register_packing.RegisterPacking(),
    identity_chain.IdentityChain(),
    register_split.RegisterSplit(),
    equal_conditions.DataMaskedIndex(),
    equal_conditions.DataSelectedValue(),
    equal_conditions.EqualArms(),
    equal_operations.EqualOperation(),
    generic_addresses.GenericAddresses(),
    address_forms.AddressForm(),
    guards_and_branches.GuardToBranch(),
    guards_and_branches.BranchToGuards(),
    library_calls.PrintCall(),
    library_calls.AssertCall(),
    loop_copies.LoopPeeling(),
    loop_copies.LoopUnrolling(),
    outlining.Outlining(),
    outlining.IndirectOutlining(),
    statement_layout.DeclarationOrder(),
    statement_layout.SplitLabel(),
    statement_layout.NestedBlock(),
    inner_scopes.ShadowedRegister(),
)

SAME, OPENED, EXCEPTION, REFUSED, SKIPPED = "same", "open", "EXCEPTION", "refused", "skipped"
_COLUMNS = (SAME, OPENED, EXCEPTION, REFUSED, SKIPPED)


@dataclass(frozen=True, slots=True)
class RewriteCase:
    """One rewrite of one source. seed: of the choice of places, and of what is inserted there."""

    source: str
    rewrite: str
    seed: str


@dataclass(frozen=True, slots=True)
class RewriteResult:
    """The result of a case: one of the columns of the table. text: of the rewritten module, where there is one.

    difference: what the verdict lost or gained, as text, or why ptxas refuses the module.
    """

    case: RewriteCase
    is_wrong: bool
    outcome: str
    text: str = ""
    difference: str = ""


def choose_cases(
    corpus: SourceCorpus, count: int, seed: int, names: Sequence[str] = (), *, per_source: int = 4
) -> list[RewriteCase]:
    """Returns cases, which depend on the seed only. names: of rewrites; all where it is empty. per_source: the rewrites
    that are applied to a source, each separately.
    """
    available = [each.name for each in REWRITES if not names or each.name in names]
    found: list[RewriteCase] = []
    number = 0
    while len(found) < count:
        key = f"{seed}:{number}"
        number += 1
        source = corpus.choose(key)
        chosen = Random(f"{key}:rewrites").sample(available, min(per_source, len(available), count - len(found)))
        found += [RewriteCase(source, name, f"{key}:{name}") for name in chosen]
    return found


def rewrite_module(module: Module, rewrite: KernelRewrite, seed: str) -> Module | None:
    """Returns the module with the rewrite at a few random places of one function; None if no place allows it."""
    chance = Random(seed)
    assert module.source is not None
    functions = analyze_functions(module.source.text, module.source.path)
    chance.shuffle(functions)
    for function in functions:
        places = list(rewrite.places(function))
        if places:
            chosen = chance.sample(places, min(len(places), chance.randint(1, MAX_REWRITE_PLACES)))
            edits = [place(chance) for place in chosen]
            return apply_edits(function.module, function.program.function, edits)
    return None


def run_cases(corpus: SourceCorpus, cases: Sequence[RewriteCase], ptxas: Ptxas | None) -> list[RewriteResult]:
    """Returns the results of cases. Consecutive cases of one source share its verdict.

    ptxas: refuses texts that are no modules; None takes all for accepted.
    """
    by_name = {each.name: each for each in REWRITES}
    source: RewriteSource | None = None
    before = Verdict(())
    identity = ""
    results: list[RewriteResult] = []
    for case in cases:
        if case.source != identity:
            identity, source = case.source, corpus.load(case.source)
            if source is not None:
                before = _verdict(source.text)
        if source is None or source.is_wrong != _has_error(before):
            # A wrong kernel without an error has no verdict that could be lost.
            results.append(RewriteResult(case, source is not None and source.is_wrong, SKIPPED))
            continue
        results.append(_run_case(case, source, by_name[case.rewrite], before, ptxas))
    return results


def _run_case(
    case: RewriteCase, source: RewriteSource, rewrite: KernelRewrite, before: Verdict, ptxas: Ptxas | None
) -> RewriteResult:
    module = parse(source.text, case.source)
    rewritten = rewrite_module(module, rewrite, case.seed)
    if rewritten is None:
        return RewriteResult(case, source.is_wrong, SKIPPED)
    text = print_module(rewritten)
    refusal = ptxas.refusal(text, module.targets[0]) if ptxas is not None else None
    if refusal is not None and ptxas is not None:
        if ptxas.refusal(source.text, module.targets[0]) is not None:
            return RewriteResult(case, source.is_wrong, SKIPPED)
        return RewriteResult(case, source.is_wrong, REFUSED, text, refusal)
    try:
        outcome, difference = judge_rewrite(before, _verdict(text), is_wrong=source.is_wrong)
    except Exception as error:  # one more exception, and the campaign continues
        outcome, difference = EXCEPTION, f"broke down: {type(error).__name__}: {error}"
    return RewriteResult(case, source.is_wrong, outcome, text, difference)


def judge_rewrite(before: Verdict, after: Verdict, *, is_wrong: bool) -> tuple[str, str]:
    """Returns the outcome of a rewrite for the verdicts before and after it, and what was lost or gained."""
    return _judge_wrong(before, after) if is_wrong else _judge_correct(before, after)


def _judge_wrong(before: Verdict, after: Verdict) -> tuple[str, str]:
    """Returns the outcome for a wrong kernel: an error must stay, or become a question that was not there."""
    if _has_error(after):
        return SAME, ""
    lost = Counter(each.code for each in before.diagnostics if each.severity is Severity.ERROR)
    questions = Counter(each.code for each in after.undecided)
    new = questions - Counter(each.code for each in before.undecided)
    if new or any(code in lost for code in (*questions, *(each.code for each in after.diagnostics))):
        return OPENED, ""
    return EXCEPTION, f"lost {', '.join(sorted(lost))}"


def _judge_correct(before: Verdict, after: Verdict) -> tuple[str, str]:
    """Returns the outcome for a correct kernel: no error or warning may be new."""
    new = _reported_codes(after) - _reported_codes(before)
    if new:
        return EXCEPTION, f"gained {', '.join(sorted(new))}"
    opened = Counter(e.code for e in after.undecided) - Counter(e.code for e in before.undecided)
    return (OPENED if opened else SAME), ""


def _reported_codes(verdict: Verdict) -> set[str]:
    return {each.code for each in verdict.diagnostics if each.severity in (Severity.ERROR, Severity.WARNING)}


def _has_error(verdict: Verdict) -> bool:
    return any(each.severity is Severity.ERROR for each in verdict.diagnostics)


def _verdict(text: str) -> Verdict:
    with pause_collection():
        return lint(text)


def outcome_table(results: Iterable[RewriteResult]) -> Iterator[str]:
    """Yields a table: by rewrite, and for wrong and correct kernels together, how many cases had each outcome."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for each in results:
        for name in (each.case.rewrite, "all"):
            rows[name][each.outcome] += 1
            rows[name]["cases"] += each.outcome in (SAME, OPENED, EXCEPTION)
    yield f"{'rewrite':<24} {'cases':>8} " + " ".join(f"{each:>9}" for each in _COLUMNS)
    for name in (*(each.name for each in REWRITES if each.name in rows), "all"):
        row = rows[name]
        yield f"{name:<24} {row['cases']:>8} " + " ".join(f"{row[each]:>9}" for each in _COLUMNS)


def keep_results(folder: Path, results: Iterable[RewriteResult]) -> None:
    """Writes the rewritten texts of exceptions and refusals to a folder, with the case as a comment."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in results:
        if each.outcome in (EXCEPTION, REFUSED):
            kind = "wrong" if each.is_wrong else "correct"
            case = each.case
            comment = f"// {each.outcome} {kind} {case.source} {case.rewrite} {case.seed}: {each.difference}"
            path = folder / f"{case.seed.replace(':', '_')}_{kind}.ptx"
            path.write_text(f"{comment}\n{each.text}", encoding="utf-8")
