"""Checks of operands with values that their instruction does not accept, shared by PTX201 to PTX210 and PTX607."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.check_address_space import REMOTE
from ptxkit.analysis.symexec.further_violations import violations_in_further_ctas
from ptxkit.analysis.symexec.trace import OperandViolation, ThreadTrace, WrongAddressKind
from ptxkit.analysis.values.symbolic_values import Value
from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.rules.model import Finding, Observation, OpenObligation

#: The kinds of invalid operands that are about the state space of an address.
KINDS_OF_SPACES = ("window", "source")
#: The violations of operands in an execution, by (step, role).
Noticed = TypeVar("Noticed", WrongAddressKind, OperandViolation)


def observe_wrong_address_kinds(
    kernel: KernelFacts, wanted: Callable[[WrongAddressKind], bool], finding: Callable[[WrongAddressKind], Finding]
) -> Iterator[Observation | OpenObligation]:
    """Yields an observation for each operand with an address of a wrong kind in every scenario that reaches it.

    It is undecided if guesses lead to it, and the operand may hold an address of another kind on another path, or if
    arguments decide which address of this kind it holds then.
    """
    pairs = [
        (place, found, thread.trace.first_guess is not None)
        for facts in kernel.scenarios
        for thread in facts.threads.values()
        for place, found in thread.trace.wrong_address_kinds.items()
        if wanted(found)
    ]
    guessed = {place: found for place, found, is_guessed in pairs if is_guessed}
    exact = {place for place, found, _ in pairs if found.is_certain}
    spaces = kernel.program.analysis(AbstractRegisters).spaces_of
    for found, number in _agreed_violations(kernel, lambda trace: trace.wrong_address_kinds, wanted):
        step = found.step
        is_exact = (step, found.role) in exact
        guessed.pop((step, found.role), None)
        if number is not None and (is_exact or spaces(step, step.operand(found.role)) == {found.origin}):
            yield Observation((step, None), number, True, finding(found))
        else:
            yield OpenObligation(step, ptx2xx.WRONG_KIND_ON_SOME_PATH())
    for found in guessed.values():
        if spaces(found.step, found.step.operand(found.role)) == {found.origin}:
            yield OpenObligation(found.step, ptx2xx.WRONG_KIND_ON_SOME_PATH())


def observe_operand_violations(
    kernel: KernelFacts,
    wanted: Callable[[OperandViolation], bool | None],
    finding: Callable[[OperandViolation], Finding],
) -> Iterator[Observation | OpenObligation]:
    """Yields an observation for each operand with an invalid address or number in every scenario that reaches it.

    wanted: whether every launch has the violation; None where this is not known, so that it is undecided.
    """
    is_known: dict[tuple[Step, str], bool] = {}
    known: dict[int, bool | None] = {}  # the threads of a group, and of groups that diverge later, share a violation

    def is_wanted(misfit: OperandViolation) -> bool:
        if id(misfit) not in known:
            known[id(misfit)] = wanted(misfit)
        decided = known[id(misfit)]
        if decided is not False:
            is_known[(misfit.step, misfit.role)] = decided is not None
        return decided is not False

    for found, number in _agreed_violations(kernel, lambda trace: trace.operand_violations, is_wanted):
        if number is not None and is_known[(found.step, found.role)]:
            yield Observation((found.step, None), number, True, finding(found))
        else:
            yield OpenObligation(found.step, ptx2xx.INVALID_IN_SOME_EXECUTION())


def observe_further_ctas(
    kernel: KernelFacts,
    known: Iterable[Observation | OpenObligation],
    is_certain: Callable[[OperandViolation], bool],
    finding: Callable[[OperandViolation], Finding],
) -> Iterator[Observation]:
    """Yields an observation for each operand that is invalid in a CTA of a cluster that no scenario is about.

    known: the observations of the others; their instructions are left out. is_certain: whether every launch has it.
    """
    seen = {item.step if isinstance(item, OpenObligation) else item.key[0] for item in known}
    for misfit in violations_in_further_ctas(kernel.explorer):
        if misfit.step not in seen and is_certain(misfit):
            seen.add(misfit.step)
            yield Observation((misfit.step, None), 0, True, finding(misfit))


def _agreed_violations(
    kernel: KernelFacts,
    noticed: Callable[[ThreadTrace], Mapping[tuple[Step, str], Noticed]],
    wanted: Callable[[Noticed], bool],
) -> Iterator[tuple[Noticed, int | None]]:
    """Yields each violation that is noticed for all arguments, with a scenario that shows it; None after a guess.

    What the execution for another argument refutes is left out: the launch decides it.
    """
    values: dict[tuple[Step, str], dict[int, set[tuple[int, Value]]]] = defaultdict(lambda: defaultdict(set))
    first: dict[tuple[Step, str], Noticed] = {}
    certain: set[tuple[Step, str]] = set()
    for number, facts in enumerate(kernel.scenarios):
        for thread in facts.threads.values():
            for place, found in noticed(thread.trace).items():
                if wanted(found):
                    values[place][number].add((thread.tid, found.value))
                    first.setdefault(place, found)
                    if found.is_certain and _is_located(found):
                        certain.add(place)
    for place, by_scenario in values.items():
        found = first[place]
        if _is_certain(kernel, found, by_scenario) or (place in certain and _is_own_location(kernel, found)):
            yield found, min(by_scenario)
        elif _is_in_each_sample(kernel, found, by_scenario):
            yield found, None


def _is_in_each_sample(
    kernel: KernelFacts, found: WrongAddressKind | OperandViolation, by_scenario: Mapping[int, set[tuple[int, Value]]]
) -> bool:
    """Returns whether an execution of each sample that reaches a step shows its violation, in one of the CTAs.

    A value that differs in all threads follows the sample, so that an argument decides it. If one sample reaches the
    step, no argument may decide it: nothing but the thread's position, or data that do not change a state space.
    """
    shown = defaultdict[int, dict[int, set[tuple[int, Value]]]](dict)
    reached = defaultdict[int, set[int]](set)
    for number, facts in enumerate(kernel.scenarios):
        rank, sample = facts.scenario.rank, facts.scenario.sample
        if number in by_scenario or _is_reached(kernel, number, found.step):
            reached[rank].add(sample)
        if number in by_scenario:
            shown[rank][sample] = shown[rank].get(sample, set()) | by_scenario[number]
    is_enough = len(set().union(*reached.values())) > 1 or kernel.scenarios[min(by_scenario)].scenario.sample_count > 1
    is_enough = is_enough or _is_space_without_arguments(kernel, found)
    return (is_enough or not kernel.program.contains(found.step) or _depends_on_position(kernel, found)) and any(
        values.keys() == reached[rank] and bool(set.intersection(*values.values())) for rank, values in shown.items()
    )


def _is_certain(
    kernel: KernelFacts, found: WrongAddressKind | OperandViolation, by_scenario: Mapping[int, set[tuple[int, Value]]]
) -> bool:
    """Returns whether the value depends neither on what the caller passes nor on the path.

    A number that follows the sample of a parameter may be an integer argument, so it must be the same in two samples.
    The result of a conversion never comes from a parameter: a generic address, or a term whose state space only a
    conversion determines. The scenarios of each CTA of a cluster are compared with each other only: what one CTA does
    refutes nothing about another one.
    """
    ranks: dict[int, dict[int, set[tuple[int, Value]]]] = defaultdict(dict)
    for number, values in by_scenario.items():
        ranks[kernel.scenarios[number].scenario.rank][number] = values
    if isinstance(found, WrongAddressKind) and found.origin == REMOTE:
        return any(_do_samples_agree(kernel, shown) for shown in ranks.values())
    converted = isinstance(found, WrongAddressKind) and (found.origin == "generic" or not isinstance(found.value, int))
    return any(
        (converted or _do_samples_agree(kernel, shown))
        and all(
            number in shown or facts.scenario.rank != rank or not _is_reached(kernel, number, found.step)
            for number, facts in enumerate(kernel.scenarios)
        )
        for rank, shown in ranks.items()
    )


def _is_own_location(kernel: KernelFacts, found: WrongAddressKind | OperandViolation) -> bool:
    """Returns whether an address does not depend on arguments and is in the CTA of the thread.

    One sample then suffices.
    """
    is_remote = isinstance(found, WrongAddressKind) and found.origin == REMOTE
    return not is_remote and _depends_on_position(kernel, found)


def _is_located(found: WrongAddressKind | OperandViolation) -> bool:
    """Returns whether a violation is about the place of an address; one of alignment in its first execution."""
    return (
        isinstance(found, WrongAddressKind) or found.kind == "bounds" or (found.kind == "alignment" and found.is_first)
    )


def _is_space_without_arguments(kernel: KernelFacts, found: WrongAddressKind | OperandViolation) -> bool:
    """Returns whether a violation is about a state space, and arguments do not contribute to the address as numbers."""
    if isinstance(found, OperandViolation):
        return found.kind in KINDS_OF_SPACES
    step, dependence = found.step, kernel.explorer.input_independence.dependence
    return all(leaf.kind != "parameter" for leaf in dependence.sources_of(step, step.operand(found.role)))


def _depends_on_position(kernel: KernelFacts, found: WrongAddressKind | OperandViolation) -> bool:
    """Returns whether only the position of the thread and of its CTA decides an operand of the kernel itself."""
    step, own = found.step, kernel.explorer.input_independence
    if step.match is None or found.role not in step.match.roles or not own.program.contains(step):
        return False
    return own.has_fixed_value(step, step.operand(found.role))


def _do_samples_agree(kernel: KernelFacts, by_scenario: Mapping[int, set[tuple[int, Value]]]) -> bool:
    """Returns whether a thread has the same value in all of these scenarios, which include more than one sample."""
    scenarios = [kernel.scenarios[number].scenario for number in by_scenario]
    samples = len({scenario.sample for scenario in scenarios}) > 1 or scenarios[0].sample_count > 1
    return samples and bool(set.intersection(*by_scenario.values()))


def _is_reached(kernel: KernelFacts, number: int, step: Step) -> bool:
    return any(step in thread.trace.covered_steps for thread in kernel.scenarios[number].threads.values())
