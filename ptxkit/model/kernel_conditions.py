"""The conditions on its launches under which the open questions about a kernel are decided.

A question has conditions if the analysis shows that it is decided as correct in each launch that satisfies them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptxkit.diagnostics import Undecided
from ptxkit.diagnostics.catalogue import contract_words
from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.launch_contract import Requirement, join_words, rank_of


@dataclass(frozen=True, slots=True)
class KernelConditions:
    """What a launch of a kernel must satisfy so that each of the questions is decided as correct.

    requirements: each once, by kind. questions: those that they decide.
    """

    kernel: str
    requirements: tuple[Requirement, ...]
    questions: tuple[Undecided, ...]

    @property
    def clause(self) -> str:
        """The requirements as a clause."""
        return state_conditions(self.requirements)


def state_conditions(requirements: Iterable[Requirement]) -> str:
    """Returns requirements as a clause: `the cluster has 1 CTA and the block has 128 threads`."""
    return join_words([each.clause(contract_words.STATED) for each in requirements])


def describe_question(question: Undecided) -> str:
    """Returns the conditions under which a question is decided as correct, or else the reason why it is undecided."""
    if not question.conditions:
        return question.reason
    return contract_words.HOLDS_IF(clause=state_conditions(question.conditions))


def conditions_by_kernel(questions: Iterable[Undecided]) -> tuple[KernelConditions, ...]:
    """Returns the conditions of the kernels of those questions that have some, in the order of the questions."""
    found: dict[str, list[Undecided]] = {}
    for each in questions:
        if each.conditions:
            found.setdefault(each.kernel, []).append(each)
    return tuple(KernelConditions(kernel, _requirements_of(asked), tuple(asked)) for kernel, asked in found.items())


def _requirements_of(questions: Iterable[Undecided]) -> tuple[Requirement, ...]:
    """Returns the requirements of some questions, each once, by kind."""
    return tuple(sorted(dict.fromkeys(each for asked in questions for each in asked.conditions), key=rank_of))


def join_conditions(alternatives: Sequence[tuple[Requirement, ...]]) -> tuple[Requirement, ...]:
    """Returns the conditions under which all of several questions are decided; empty if one of them has none."""
    joined = dict.fromkeys(each for conditions in alternatives for each in conditions)
    return tuple(joined) if all(alternatives) else ()
