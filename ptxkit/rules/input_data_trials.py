"""Proves violations on paths that data of the host decide: a table of work, lengths of sequences, offsets of experts.

Such data are an input, as arguments are. A violation is an error if each choice of the data that leads to the two
instructions shows it, with no other guess, and no execution shows that they are correct. A kernel may rely on
properties of its data, so that a single choice proves nothing, and a relation between words may be such a property:
what two threads do is a proof only if the words that decide the path of one of them also decide the path of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.rules.model import Observation, OpenObligation, Rule
from ptxkit.rules.verdict_builder import VerdictBuilder


def try_input_data(judge: VerdictBuilder, kernel: KernelFacts, rules: Sequence[Rule]) -> None:
    """Turns questions about a kernel into errors where choices of its data prove the violation."""
    if not any(group.first_guess is not None for facts in kernel.scenarios for group in facts.groups):
        return
    explorers = kernel.explorer.with_input_data()
    while asked := judge.unproven - judge.satisfied_in_some_scenario - judge.diagnostic_by_span.keys():
        codes = {code for code, _ in asked}
        asking = [rule for rule in rules if rule.code in codes and not rule.on_request]
        explorer = next(explorers, None) if asking else None
        if explorer is None:
            return
        given = KernelFacts(explorer, kernel.policy)
        builder = VerdictBuilder(judge.source)
        for rule in asking:
            builder.add_observations(rule, _observe(rule, given), given.scenarios, explorer.budget)
        proven = {place: item for place, item in builder.diagnostic_by_span.items() if place in asked}
        judge.diagnostics.extend({id(item): item for item in proven.values()}.values())
        judge.diagnostic_by_span.update(proven)
        judge.undecided = [item for item in judge.undecided if (item.code, item.span) not in proven]


def _observe(rule: Rule, given: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Yields the results of a rule; one choice of data is no proof."""
    agreeing = [_has_agreeing_paths(facts, by_same_words=rule.compares_all_threads) for facts in given.scenarios]
    for item in rule.observe(given, with_questions=False):
        if isinstance(item, Observation):
            is_sure = (item.exact or item.by_size) and agreeing[item.scenario_index]
            yield Observation(item.key, item.scenario_index, exact=False, finding=item.finding, by_size=is_sure)
        else:
            yield item


def _has_agreeing_paths(facts: ScenarioFacts, *, by_same_words: bool) -> bool:
    """Returns whether the words that decide the path of one thread also decide those of all that more words decide.

    by_same_words: whether the same words must decide the paths of all threads.
    """
    deciding = sorted({group.deciding_words for group in facts.groups}, key=len)
    return len(deciding) < 2 if by_same_words else all(less <= more for less, more in pairwise(deciding))
