"""The forms of the table that are compared with hardware: those in kernels whose results scripts compare.

A form counts if a kernel that a script runs on a GPU and on the reference machine contains it. For the other forms,
`UNCOMPARED_REASONS` or the target give the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.forms import Form, Match
from ptxkit.isa.targets import parse_target, unmet_gates
from ptxkit.isa.value_semantics import form_key
from ptxkit.syntax import parse
from ptxkit.testing.coverage.example_coverage import instructions_of
from ptxkit.testing.coverage.semantics_coverage import SemanticsCoverage
from ptxkit.testing.differential.campaign import all_forms
from ptxkit.testing.generators.form_variants import matches_of

NEWEST = (9, 4)
GPU = "sm_90a"
"""The target of the comparisons."""

UNCOMPARED_REASONS = {
    "multimem": "a multimem address needs several GPUs",
    "brkpt": "it waits for a debugger",
    "trap": "it ends the kernel, and nothing is left to compare",
    "vmad": "ptxas compiles it differently from the manual (corpus/vendor/README.md)",
    "txq": "the driver computes its result, not the hardware",
    "istypep": "it tests opaque handles, which only OpenCL creates",
    "isspacep": "it is for addresses of 32 bits",
    "st.async{.weak}{.mmio}": f"{GPU} does not have it",  # every variant of it needs a later target
}
"""The reasons, by the beginning of the form."""

DEFAULT_REASON = "no kernel has it yet"


@dataclass(frozen=True, slots=True)
class FormComparison:
    """An executable form. scripts: the scripts that compare it. reason: the reason if none does."""

    form: Form
    scripts: tuple[str, ...]
    reason: str = ""


def forms_in(texts: Iterable[str]) -> set[str]:
    """Returns the keys of the forms in modules."""
    seen: set[object] = set()
    found: set[str] = set()
    for text in texts:
        for each in instructions_of(parse(text)):
            if each not in seen:
                seen.add(each)
                match = table().match(each)
                if isinstance(match, Match):
                    found.add(form_key(match.form))
    return found


def is_supported_on(form: Form, target: str = GPU) -> bool:
    """Returns whether a target supports a variant of a form, with the newest version."""
    aimed = parse_target(target)
    return any(not unmet_gates(tuple(match.gates), NEWEST, aimed) for match in matches_of(form, Random(1)))


def compare_coverage(
    meant: SemanticsCoverage, by_script: Mapping[str, set[str]], on: Callable[[Form], bool] = is_supported_on
) -> list[FormComparison]:
    """Returns all executable forms. by_script: the keys of the forms that each script covers."""
    lacking = {form_key(each.form) for each in meant.unsupported}
    return [
        _form_comparison(form, by_script, on)
        for form in all_forms()
        if not form.tolerated and form_key(form) not in lacking
    ]


def _form_comparison(form: Form, by_script: Mapping[str, set[str]], on: Callable[[Form], bool]) -> FormComparison:
    scripts = tuple(name for name, found in by_script.items() if form_key(form) in found)
    if scripts:
        return FormComparison(form, scripts)
    return FormComparison(form, (), uncompared_reason(form) if on(form) else f"{GPU} does not have it")


def uncompared_reason(form: Form) -> str:
    """Returns the reason why no kernel contains a form that the target supports."""
    syntax = form.syntax.removeprefix("form ")
    return next((why for start, why in UNCOMPARED_REASONS.items() if syntax.startswith(start)), DEFAULT_REASON)


def summary_lines(found: list[FormComparison], known: int) -> Iterator[str]:
    """Yields the totals as lines. known: the forms of the manual."""
    done = [each for each in found if each.scripts]
    yield f"{len(done)} of {len(found)} forms that the machine executes (of {known}) were compared with {GPU}"
    scripts = Counter(name for each in done for name in each.scripts)
    yield from (f"{count:>6} by {name}" for name, count in scripts.most_common())
    reasons = Counter(each.reason for each in found if not each.scripts)
    yield from (f"{count:>6} not: {reason}" for reason, count in reasons.most_common())
