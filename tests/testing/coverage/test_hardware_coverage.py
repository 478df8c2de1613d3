"""The forms that are compared with hardware, and the reasons why others are not."""

from __future__ import annotations

from collections import Counter

from ptxkit.isa.forms import Form
from ptxkit.testing.coverage.hardware_coverage import (
    DEFAULT_REASON,
    compare_coverage,
    form_key,
    forms_in,
    is_supported_on,
    summary_lines,
)
from ptxkit.testing.coverage.semantics_coverage import SemanticsCoverage, UnsupportedForm
from ptxkit.testing.differential.campaign import all_forms
from ptxkit.testing.hardware.form_kernels import form_kernels

TEXT = """.version 8.7
.target sm_90a
.address_size 64
.entry k() { .reg .b32 %r<4>; add.u32 %r0, %r1, %r2; { popc.b32 %r0, %r1; } ret; }
"""


def form(start: str) -> Form:
    return next(each for each in all_forms() if each.syntax.startswith(f"form {start}") and not each.tolerated)


def test_the_forms_of_a_text_are_found_in_its_blocks_too() -> None:
    assert forms_in([TEXT, TEXT]) == {form_key(form(each)) for each in ("add{.sat}.<t>", "popc", "ret")}


def test_each_form_that_is_executed_is_compared_or_has_a_reason() -> None:
    lacking = form("tcgen05.shift")
    coverage = SemanticsCoverage(Counter(all=7), Counter(), [UnsupportedForm(lacking, "", "", True)])
    found = compare_coverage(
        coverage, {"one": forms_in([TEXT]), "two": forms_in([TEXT])}, lambda each: "cvt" in each.syntax
    )
    by_key = {form_key(each.form): each for each in found}
    assert form_key(lacking) not in by_key
    assert by_key[form_key(form("popc"))].scripts == ("one", "two")
    assert by_key[form_key(form("brev"))].reason == "sm_90a does not have it"
    assert by_key[form_key(form("cvt.<"))].reason == DEFAULT_REASON
    lines = list(summary_lines(found, 7))
    assert lines[0].startswith(f"3 of {len(found)} forms that the machine executes (of 7)")
    assert "     3 by one" in lines


def test_a_specific_reason_takes_precedence_over_the_lack_of_a_kernel() -> None:
    found = {each.form.syntax: each.reason for each in compare_coverage(SemanticsCoverage(), {}, lambda _: True)}
    assert next(why for syntax, why in found.items() if syntax.startswith("form trap")).startswith("it ends the kernel")


def test_the_features_of_the_gpu_are_derived_from_the_gates() -> None:
    assert is_supported_on(form("mbarrier.init"))
    assert not is_supported_on(form("tcgen05.alloc"))


def test_the_small_kernels_cover_their_forms() -> None:
    reached = forms_in(each.module() for each in form_kernels())
    for start in ("stacksave", "bar.red.<op>.<t> d:t", "clmad.lo", "mov.b128", "getctarank", "ldu"):
        assert form_key(form(start)) in reached, start
