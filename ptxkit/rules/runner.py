"""Checks the kernels of a module with the rules, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.async_steps import async_steps_of
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.program import ModuleContext, Program, flatten
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.symexec.unmodeled_code import find_unmodeled_code, without_unmodeled_code
from ptxkit.diagnostics import Message, Verdict
from ptxkit.diagnostics.catalogue import ptx3xx, ptx6xx
from ptxkit.gc_control import pause_collection
from ptxkit.rules.block_shape_trials import BlockShapeTrials
from ptxkit.rules.block_size_trials import BlockSizeTrials
from ptxkit.rules.cluster_size_trials import ClusterSizeTrials
from ptxkit.rules.grid_wait_survey import GridWaitSurvey
from ptxkit.rules.input_data_trials import try_input_data
from ptxkit.rules.launch_trials import LaunchTrials, mark_unexplored
from ptxkit.rules.model import Rule
from ptxkit.rules.verdict_builder import ObligationKey, VerdictBuilder
from ptxkit.syntax.tree import Function, Module

if TYPE_CHECKING:
    from ptxkit.diagnostics.obligation import JudgedObligation

_NOT_REACHED = ptx3xx.NO_PATH_REACHES()


class RuleRun:
    """One check of a module with the remaining budget; `is_budget_exceeded` is set where the budget was
    insufficient.
    """

    def __init__(
        self,
        module: Module,
        policy: str,
        rules: Sequence[Rule],
        budget: AnalysisBudget,
        explored: dict[str, KernelFacts] | None = None,
        judged: list[JudgedObligation] | None = None,
    ) -> None:
        assert module.source is not None
        self.is_budget_exceeded = False
        self._module, self._source = module, module.source
        self._policy, self._rules, self._kernel_facts, self._judged = policy, rules, explored, judged
        self._context, self._budget = ModuleContext(module, budget.effort), budget
        self._kernels = [each for each in module.functions() if each.kind == "entry" and _has_code(each)]
        self._builders = [VerdictBuilder(self._source) for _ in self._kernels]
        self._callee_builder = VerdictBuilder(self._source)
        self._settled_callee_steps: set[tuple[str, int]] = set()
        self._grid_waits = GridWaitSurvey()

    def run(self, first: tuple[str, str] | None = None) -> Iterator[None]:
        """Checks the module, and yields whenever a rule has added to the verdict.

        first: the kernel, and the code of the rule, to start with.
        """
        name, code = first or (None, None)
        rules = sorted(self._rules, key=lambda rule: rule.code != code)
        for number in sorted(range(len(self._kernels)), key=lambda number: self._kernels[number].name != name):
            yield from self._run_kernel(self._builders[number], self._kernels[number], rules)
        for function in self._module.functions():
            if function.body is not None and function.kind == "func":
                steps = async_steps_of(flatten(self._module, function, self._context))
                left = [step for step in steps if (function.name, step.index) not in self._settled_callee_steps]
                self._callee_builder.mark_undecided(ptx3xx.NOT_REACHED, left, _NOT_REACHED)
        if any(rule.code == ptx6xx.READ_BEFORE_GRID_WAIT for rule in rules):
            self._grid_waits.mark_deviations()

    def verdict(self) -> Verdict:
        """Returns the verdict so far. It takes as long as there are findings in it."""
        judges = (*self._builders, self._callee_builder)
        return Verdict(
            tuple(item for judge in judges for item in judge.diagnostics),
            tuple(item for judge in judges for item in judge.undecided),
        )

    def _run_kernel(self, judge: VerdictBuilder, function: Function, rules: Sequence[Rule]) -> Iterator[None]:
        """Checks one kernel with the rules, and yields after each rule that reported something.

        Garbage is not collected until the check ends, because the analyzed objects live until then.
        """
        with pause_collection():
            yield from self._check_kernel(judge, function, rules)

    def _check_kernel(self, judge: VerdictBuilder, function: Function, rules: Sequence[Rule]) -> Iterator[None]:
        given, left = self._budget.for_kernel(), self._budget.for_kernel()
        program = flatten(self._module, function, self._context, calls=True)
        if not program.steps:
            return
        self._grid_waits.add(judge, program)
        if program.exceeds_shared_limit:
            reason = ptx3xx.DECLARES_TOO_MUCH_SHARED()
            judge.mark_undecided(ptx3xx.NOT_REACHED, async_steps_of(program), reason)
            self._judge_obligations(judge, program, None)
            return
        try:
            yield from self._check_explored(judge, Explorer(program, left), rules)
        finally:  # the caller may stop after any verdict
            self.is_budget_exceeded = self.is_budget_exceeded or left.is_used_up
            self._budget.consume(given, left)

    def _try_launches(self, judge: VerdictBuilder, kernel: KernelFacts, rules: Sequence[Rule]) -> None:
        launches = LaunchTrials(self._module, self._policy, self._budget.for_kernel())
        for trials in (BlockShapeTrials, ClusterSizeTrials, BlockSizeTrials):
            given = self._budget.for_kernel()
            launches.refill(given)
            trials(launches).resolve(judge, kernel, rules)
            self._budget.consume(given, launches.budget)

    def _check_explored(self, judge: VerdictBuilder, explorer: Explorer, rules: Sequence[Rule]) -> Iterator[None]:
        explorer.run()
        if not explorer.explorations:
            is_too_large = not explorer.infeasible_scenarios  # other kernels of the module used up the budget
            reason = _too_large(explorer.budget) if is_too_large else ptx3xx.USES_TOO_MUCH_SHARED()
            judge.mark_undecided(ptx3xx.NOT_REACHED, async_steps_of(explorer.program), reason)
            self._judge_obligations(judge, explorer.program, None)
            return
        kernel = KernelFacts(explorer, self._policy)
        checked: dict[str, set[ObligationKey]] = {}
        for rule in rules:
            if rule.asynchronous and not explorer.is_asynchronous:
                continue
            count_before = len(judge.diagnostics) + len(judge.undecided)
            checked[rule.code] = judge.add_observations(rule, rule.observe(kernel), kernel.scenarios, explorer.budget)
            if len(judge.diagnostics) + len(judge.undecided) > count_before:
                yield
        mark_unexplored(judge, explorer)
        self._mark_unentered_functions(judge, explorer)
        self._mark_blocked(judge, kernel, rules, checked)
        if explorer.budget.is_exhausted:
            reason = _too_large(explorer.budget)
            judge.mark_undecided(ptx3xx.NOT_REACHED, async_steps_of(explorer.program), reason)
        else:
            try_input_data(judge, kernel, rules)
            judge.warn_of_all_paths()
            self._try_launches(judge, kernel, rules)
        self._ask_unproven(judge, kernel, [rule for rule in rules if rule.code in checked])
        judge.retract_impossible_conditions()
        self._judge_obligations(judge, explorer.program, kernel)
        self._settled_callee_steps |= _covered_steps_of_callees(kernel)
        if self._kernel_facts is not None:
            self._kernel_facts[explorer.program.function.name] = kernel

    def _ask_unproven(self, builder: VerdictBuilder, kernel: KernelFacts, rules: Sequence[Rule]) -> None:
        """Reports as undecided the unproven obligations of the rules whose obligations need a proof."""
        asking = [rule for rule in rules if rule.needs_proof and rule.policy in ("isa", self._policy)]
        asking = [rule for rule in asking if any(rule.sites(kernel.program))]
        from ptxkit.rules.global_copy_questions import ask_global_copies
        from ptxkit.rules.obligation_judge import ObligationJudge
        from ptxkit.rules.order_questions import ask_unordered
        from ptxkit.rules.unexamined_order import ask_unexamined

        judge = ObligationJudge(self._source, kernel.program, self._policy, builder, kernel)
        for rule in asking:  # one judge, so that the rules share its proofs
            for step, reason in list(judge.unproven(rule)) if rule.code != ptx6xx.SHARED_MEMORY_RACE else ():
                builder.mark_undecided(rule.code, [step], reason)
        by_code = {str(rule.code): rule for rule in rules}
        ask_unordered(builder, judge.proofs[0].intervals, by_code)
        ask_global_copies(builder, judge, kernel, by_code)
        for rule in (rule for rule in asking if rule.code == ptx6xx.SHARED_MEMORY_RACE):
            judge = ObligationJudge(self._source, kernel.program, self._policy, builder, kernel)
            ask_unexamined(builder, judge, kernel, rule)

    def _mark_unentered_functions(self, judge: VerdictBuilder, explorer: Explorer) -> None:
        """Reports the asynchronous steps of functions that a kernel may call and no execution of it entered."""
        covered = explorer.covered_steps() if explorer.program.callees else set()
        for code in explorer.program.callees.values():
            steps = async_steps_of(code) if covered.isdisjoint(code.steps) else []
            judge.mark_undecided(ptx3xx.NOT_REACHED, steps, _NOT_REACHED)
            self._settled_callee_steps |= {(code.function.name, step.index) for step in steps}

    def _judge_obligations(self, builder: VerdictBuilder, program: Program, kernel: KernelFacts | None) -> None:
        """Adds the verdicts on the obligations of a kernel, if they were requested.

        kernel: None if it was not executed.
        """
        if self._judged is None:
            return
        from ptxkit.rules.obligation_judge import ObligationJudge

        judge = ObligationJudge(self._source, program, self._policy, builder, kernel)
        self._judged += judge.judge(self._rules)

    def _mark_blocked(
        self,
        judge: VerdictBuilder,
        kernel: KernelFacts,
        rules: Sequence[Rule],
        checked: Mapping[str, set[ObligationKey]],
    ) -> None:
        """Reports as undecided the obligations that exist if the kernel does not call functions without a body.

        checked: the steps that each rule checked in the kernel, by its code.
        """
        explorer = kernel.explorer
        unseen = find_unmodeled_code(explorer)
        if not unseen:
            return
        for step, words in unseen.items():
            judge.mark_undecided(ptx3xx.NOT_REACHED, [step], ptx3xx.UNKNOWN_EFFECT(cause=words))
        reason = ptx3xx.DEPENDS_ON_UNKNOWN_CODE(cause=next(iter(unseen.values())))
        supposed = KernelFacts(without_unmodeled_code(explorer), self._policy)
        for rule in rules:
            if rule.code in checked and not rule.on_request:
                judge.mark_blocked(rule, checked[rule.code], rule.observe(supposed), reason, explorer.budget)


def _too_large(budget: AnalysisBudget) -> Message:
    """Returns the reason of the questions about a kernel whose analysis has used up its budget."""
    return ptx3xx.KERNEL_TOO_LARGE(exceeded=budget.exceeded_limit, effort=f"{2 * budget.effort:g}")


def _has_code(function: Function) -> bool:
    return function.body is not None and bool(function.body.statements)


def _covered_steps_of_callees(kernel: KernelFacts) -> set[tuple[str, int]]:
    """Returns the executed steps of called functions, as (name of the function, index of the step)."""
    covered = kernel.explorer.covered_steps()
    called = kernel.program.callees
    return {(name, step.index) for name, each in called.items() for step in each.steps if step in covered}
