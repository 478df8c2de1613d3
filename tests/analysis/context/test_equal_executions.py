"""Executions that are equal event for event share what is derived from them; others do not."""

from __future__ import annotations

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.values.symbolic_values import SymbolicValueTable
from ptxkit.analysis.values.undefined_values import depend_on_division_by_zero
from ptxkit.fast_dataclasses import replace
from ptxkit.syntax.tree import Directive
from tests.analysis.support import explorer_of, kernel_of, module_of

PARAMETERS = ".param .u32 n, .param .u64 out"
HEAD = """.shared .b32 tile[256]; ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;
mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; mov.u32 %r4, tile; add.u32 %r4, %r4, %r3;"""
STORE = "st.shared.u32 [%r4], %r2; bar.sync 0; ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd1], %r1;"
ROUNDS = f"mov.u32 %r6, 0; again: {STORE} add.u32 %r6, %r6, 64; setp.lt.u32 %p1, %r6, %r1; @%p1 bra again;"


def facts_of(body: str) -> KernelFacts:
    return kernel_of(module_of(HEAD + body, bounds=".maxntid 128, 1, 1", parameters=PARAMETERS))


def test_samples_that_decide_nothing_share_the_results() -> None:
    first, second = facts_of(f"setp.eq.u32 %p1, %r1, 0; @%p1 bra end; {STORE} end:").scenarios[:2]
    assert second.equal is first
    assert second.simulation is first.simulation
    assert second.happens_before is first.happens_before
    assert second.scenario.sample != first.scenario.sample


def test_samples_that_decide_the_number_of_rounds_share_nothing() -> None:
    scenarios = facts_of(ROUNDS).scenarios
    assert len(scenarios) > 1
    assert all(each.equal is None for each in scenarios)
    assert len({id(each.happens_before) for each in scenarios}) == len(scenarios)


def test_a_launch_that_declares_what_was_assumed_shares_the_results() -> None:
    kernel = facts_of(ROUNDS)
    assert [each.equal in kernel.scenarios for each in trial_of(kernel, "128").scenarios] == [True] * len(
        kernel.scenarios
    )
    assert all(each.equal is None for each in trial_of(kernel, "64").scenarios)


def trial_of(kernel: KernelFacts, threads: str) -> KernelFacts:
    function = kernel.program.function
    declared = replace(function, directives=(*function.directives, Directive("reqntid", (threads, "1", "1"))))
    explorer = Explorer(kernel.program.with_function(declared), None, kernel.explorer)
    explorer.run()
    return KernelFacts(explorer, known=kernel.scenarios)


def test_the_steps_of_a_program_belong_to_the_same_program_with_other_directives() -> None:
    program = explorer_of(module_of(HEAD + STORE, parameters=PARAMETERS)).program
    other = program.with_function(replace(program.function, directives=()))
    assert all(map(other.contains, program.steps))
    assert list(other.functions) == [other]


def test_shared_operands_of_terms_are_examined_once() -> None:
    terms = SymbolicValueTable()
    quotient = terms.intern(("div", terms.intern("n"), 0))
    known, unknown = terms.intern("m"), quotient
    for _ in range(100):
        known, unknown = (terms.intern(("mul", each, each)) for each in (known, unknown))
    assert depend_on_division_by_zero(terms, [known, unknown])
    assert not depend_on_division_by_zero(terms, [known])
