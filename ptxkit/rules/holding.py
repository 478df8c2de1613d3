"""Holds the kernels of a module against rules, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptxkit.analysis.asynchronous import asynchronous_steps
from ptxkit.analysis.budget import Budget
from ptxkit.analysis.explore import Explorer
from ptxkit.analysis.kernel import Kernel
from ptxkit.analysis.program import Outside, flatten
from ptxkit.analysis.unseen_code import unseen_code, without_unseen_code
from ptxkit.diagnostics import Verdict
from ptxkit.garbage import no_collections
from ptxkit.rules.finding import Rule
from ptxkit.rules.judge import Judge, Question
from ptxkit.rules.sizing import Sizes
from ptxkit.syntax.tree import Function, Module

#: The pseudo-rule under which code that no walk reached is counted as undecided.
UNREACHED = "PTX300"
_UNSEEN = "no walk reaches this instruction"


class Holding:
    """A module with a text, held against rules once, for what is left of a budget.

    is_short: whether something was left for want of it.
    """

    def __init__(
        self,
        module: Module,
        policy: str,
        rules: Sequence[Rule],
        budget: Budget,
        explored: dict[str, Kernel] | None = None,
    ) -> None:
        assert module.source is not None
        self.is_short = False
        self._module, self._source = module, module.source
        self._policy, self._rules, self._explored = policy, rules, explored
        self._outside, self._budget = Outside(module), budget
        self._kernels = [each for each in module.functions() if each.kind == "entry" and _has_code(each)]
        self._judges = [Judge(self._source) for _ in self._kernels]
        self._called = Judge(self._source)
        self._walked: set[tuple[str, int]] = set()

    def verdicts(self, first: tuple[str, str] | None = None) -> Iterator[Verdict]:
        """What was found so far, whenever something came to it; the last one is the whole.

        first: the kernel to begin with, and the code of the rule to begin it with.
        """
        name, code = first or (None, None)
        rules = sorted(self._rules, key=lambda rule: rule.code != code)
        for number in sorted(range(len(self._kernels)), key=lambda number: self._kernels[number].name != name):
            for _ in self._kernel(self._judges[number], self._kernels[number], rules):
                yield self._verdict()
        for function in self._module.functions():
            if function.body is not None and function.kind == "func":
                steps = asynchronous_steps(flatten(self._module, function, self._outside))
                left = [step for step in steps if (function.name, step.index) not in self._walked]
                self._called.leave(UNREACHED, left, _UNSEEN)
        yield self._verdict()

    def _verdict(self) -> Verdict:
        judges = (*self._judges, self._called)
        return Verdict(
            tuple(item for judge in judges for item in judge.diagnostics),
            tuple(item for judge in judges for item in judge.undecided),
        )

    def _kernel(self, judge: Judge, function: Function, rules: Sequence[Rule]) -> Iterator[None]:
        """Holds one kernel against the rules, and stops after each that said something.

        What its walks make is kept to the end of it, and goes then: to look for garbage meanwhile is in vain.
        """
        with no_collections():
            yield from self._held(judge, function, rules)

    def _held(self, judge: Judge, function: Function, rules: Sequence[Rule]) -> Iterator[None]:
        given, left = self._budget.for_kernel(), self._budget.for_kernel()
        program = flatten(self._module, function, self._outside, calls=True)
        if not program.steps:
            return
        if program.is_crowded:
            reason = "the kernel mentions more shared memory than a CTA can have"
            judge.leave(UNREACHED, asynchronous_steps(program), reason)
            return
        try:
            yield from self._heard(judge, Explorer(program, left), rules)
        finally:  # whoever asks may stop at any verdict
            self.is_short = self.is_short or left.is_over or left.steps <= 0
            self._budget.use(given, left)

    def _size(self, judge: Judge, kernel: Kernel, rules: Sequence[Rule]) -> None:
        given, left = self._budget.for_kernel(), self._budget.for_kernel()
        Sizes(self._module, self._policy, self._outside, left).settle(judge, kernel, rules)
        self._budget.use(given, left)

    def _heard(self, judge: Judge, explorer: Explorer, rules: Sequence[Rule]) -> Iterator[None]:
        explorer.run()
        if not explorer.explorations:
            reason = "the kernel uses more shared memory than a CTA can have"
            judge.leave(UNREACHED, asynchronous_steps(explorer.program), reason)
            return
        kernel = Kernel(explorer, self._policy)
        answered: dict[str, set[Question]] = {}
        for rule in rules:
            if rule.asynchronous and not explorer.is_asynchronous:
                continue
            said = len(judge.diagnostics) + len(judge.undecided)
            answered[rule.code] = judge.hear(rule, rule.check(kernel), kernel.worlds, explorer.budget)
            if len(judge.diagnostics) + len(judge.undecided) > said:
                yield
        judge.leave(UNREACHED, explorer.missed, _UNSEEN)
        self._leave_blocked(judge, kernel, rules, answered)
        if explorer.budget.is_over:
            reason = "the kernel is too large to look at all of it"
            judge.leave(UNREACHED, asynchronous_steps(explorer.program), reason)
        else:
            self._size(judge, kernel, rules)
        self._walked |= _called(kernel)
        if self._explored is not None:
            self._explored[explorer.program.function.name] = kernel

    def _leave_blocked(
        self, judge: Judge, kernel: Kernel, rules: Sequence[Rule], answered: Mapping[str, set[Question]]
    ) -> None:
        """Leaves open what the rules would have looked at, had no call of code that is not here kept them from it.

        answered: what each rule asked of the kernel as it is, by its code.
        """
        explorer = kernel.explorer
        unseen = unseen_code(explorer)
        if not unseen:
            return
        for step, words in unseen.items():
            judge.leave(UNREACHED, [step], f"what it does is not known: it is {words}")
        reason = f"hangs on what is not known: {next(iter(unseen.values()))}"
        supposed = Kernel(without_unseen_code(explorer), self._policy)
        for rule in rules:
            if rule.code in answered and not rule.on_request:
                judge.leave_blocked(rule, answered[rule.code], rule.check(supposed), reason, explorer.budget)


def _has_code(function: Function) -> bool:
    return function.body is not None and bool(function.body.statements)


def _called(kernel: Kernel) -> set[tuple[str, int]]:
    """Which steps of functions that a kernel calls its walks executed: the function's name, and the place in it."""
    covered = kernel.explorer.covered()
    called = kernel.program.called
    return {(name, step.index) for name, each in called.items() for step in each.steps if step in covered}
