"""Questions about accesses to shared memory in kernels where nothing proves an order, and no execution shows a fault.

The executions of such a kernel are samples. What no proof covers is an open question, with the reason why there is no
proof, so that no kernel is clean by samples only. A kernel that is not proven for each size of the block that it allows
may be proven for the largest or a usual one; then the question is decided on the condition that the block has that
size.

Source: PTX ISA, "Conflict and Data-races", "bar, barrier".
"""

from __future__ import annotations

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.dataflow.thread_numbering import count_block_axes
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.thread_axes import USUAL_BLOCKS
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.diagnostics.order_codes import ORDER_CODES
from ptxkit.model.launch_contract import BlockLimits, LaunchShape
from ptxkit.rules.block_size_trials import block_condition
from ptxkit.rules.model import Rule
from ptxkit.rules.obligation_judge import ObligationJudge
from ptxkit.rules.order_questions import has_order_question
from ptxkit.rules.verdict_builder import VerdictBuilder


def ask_unexamined(builder: VerdictBuilder, judge: ObligationJudge, kernel: KernelFacts, rule: Rule) -> None:
    """Adds a question for each access whose order is not proven.

    Nothing is asked where a violation is reported, or where another question about an order is open
    (`has_order_question`) or has the same condition.
    """
    steps = [] if builder.has_violation or has_order_question(builder) else _unproven(judge, rule)
    if not steps:
        return
    launch = kernel.explorer.launch
    if launch.is_exact:
        builder.mark_undecided(rule.code, steps, _reason(judge))
        return
    holds = _known_condition(builder) or block_condition(
        launch.block if launch.is_limit else _usual_block(kernel.program)
    )
    block = holds.shapes[0] if not holds.possible else (holds.possible[0], 1, 1)
    declared = kernel.program.function.with_directive("reqntid", block)
    sized = judge.for_program(kernel.program.with_function(declared))
    open_ = {step.index for step in _unproven(sized, rule)}
    builder.mark_undecided(rule.code, (step for step in steps if step.index in open_), _reason(sized))
    is_known = any(item.code in ORDER_CODES and holds in item.conditions for item in builder.undecided)
    proven = [] if is_known else [step for step in steps if step.index not in open_]
    reason = ptx6xx.ORDER_NEEDS_BLOCK_SIZE()
    builder.mark_undecided(rule.code, proven, reason, "block", kernel.scenarios, (holds,))


def _unproven(judge: ObligationJudge, rule: Rule) -> list[Step]:
    """Returns the unproven accesses; of those whose order only with copies is not proven, the first such copy.

    One copy may fill or empty the bytes of many accesses.
    """
    intervals = judge.proofs[0].intervals
    found: dict[Step, None] = {}
    for step, _ in judge.unproven(rule):
        partners = [other for _, other in intervals.unordered_pairs(step) or ()]
        copies = [other.step for other in partners if other.group is not None]
        only_copies = bool(copies) and len(copies) == len(partners)
        found[min(copies, key=lambda each: each.index) if only_copies else step] = None
    return sorted(found, key=lambda each: each.index)


def _reason(judge: ObligationJudge) -> str:
    cause = judge.proofs[0].intervals.reason
    return str(ptx6xx.ORDER_NOT_EXAMINED(cause=cause) if cause else ptx6xx.ORDER_NOT_COVERED())


def _known_condition(builder: VerdictBuilder) -> BlockLimits | None:
    """Returns the condition on the size of the block that other questions of the kernel have."""
    conditions = (each for item in builder.undecided for each in item.conditions)
    return next((each for each in conditions if isinstance(each, BlockLimits) and (each.possible or each.shapes)), None)


def _usual_block(program: Program) -> LaunchShape:
    x, y, z = (*USUAL_BLOCKS[program.analysis(count_block_axes)][0], 1, 1)[:3]
    return x, y, z
