"""Strategies of Hypothesis, derived from the instruction table: instructions, arrays, whole kernels.

    from hypothesis import given
    from ptxkit.testing import strategies

    @given(strategies.kernels(target="sm_90a"))
    def test_my_optimizer_changes_no_result(kernel): ...

They shrink to the simplest example: the first form, registers as operands, no branch, one CTA of one warp.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ptxkit.device.arguments import NUMPY_CODES
from ptxkit.emulator.core.dtypes import unsigned_dtype, width_of
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.forms import Form
from ptxkit.isa.harness_module import harness_module
from ptxkit.isa.instance_generator import InstructionInstance, instances
from ptxkit.isa.targets import parse_target, unmet_gates
from ptxkit.testing.differential.campaign import all_forms, ptxkit_refusal
from ptxkit.testing.differential.instruction_mutators import modifier_vocabulary, mutate_instruction
from ptxkit.testing.generators.bit_patterns import edge_values
from ptxkit.testing.generators.kernel_ast import GeneratedKernel
from ptxkit.testing.generators.litmus import Litmus, litmus_test
from ptxkit.testing.generators.load_forms import loads_of
from ptxkit.testing.generators.module_strategies import addresses, launches, modules, operands
from ptxkit.testing.generators.random_kernels import available_steps, generate_kernel
from ptxkit.testing.generators.step_catalog import Version
from ptxkit.testing.limits import MAX_BREAKING_ATTEMPTS
from ptxkit.testing.pipelines.pipeline import GeneratedPipeline, break_pipeline, choose_pipeline

__all__ = [
    "GeneratedInstruction",
    "addresses",
    "arrays",
    "broken",
    "instruction_named",
    "instructions",
    "kernels",
    "launches",
    "litmus",
    "modules",
    "operands",
    "pipelines",
]

_INSTANCES_PER_FORM = 8
"""The number of instances of a form to choose from."""


@dataclass(frozen=True, slots=True)
class GeneratedInstruction:
    """One instruction. text: with its semicolon; form: the line of the table; change: the change that makes it nearly
    valid.
    """

    text: str
    version: Version
    target: str
    form: str
    change: str = ""

    def module(self) -> str:
        """Returns a module that declares the names in the instruction, and nothing else."""
        return harness_module([self.text], self.version, self.target)


def instructions(
    target: str = "sm_90a", version: Version = (8, 7), *, valid: bool = True
) -> st.SearchStrategy[GeneratedInstruction]:
    """Generates instructions that a version and target support; with `valid=False`, instructions that one change has
    made illegal.

    The first example for a version and target takes about a second, in which the forms with instances are determined.
    """
    return st.deferred(lambda: _instructions(forms_of(version, target), target, version, valid))


@st.composite
def _instructions(
    draw: st.DrawFn, forms: Sequence[Form], target: str, version: Version, valid: bool
) -> GeneratedInstruction:
    place = draw(st.integers(0, len(forms) - 1))
    known = instances_of(place, version, target)
    chosen = known[draw(st.integers(0, len(known) - 1))]
    syntax = forms[place].syntax
    if valid:
        return GeneratedInstruction(chosen.text, version, target, syntax)
    words = modifier_vocabulary(forms[place].name)
    for _ in range(MAX_BREAKING_ATTEMPTS):
        text, change = mutate_instruction(chosen, words, Random(draw(st.integers(0, 9999))))
        if ptxkit_refusal(harness_module([text], version, target)) is not None:
            return GeneratedInstruction(text, version, target, syntax, change)
    return GeneratedInstruction(f"{chosen.text[:-1]}, undeclared;", version, target, syntax, "an operand too many")


@cache
def forms_of(version: Version, target: str) -> list[Form]:
    """Returns the manual's forms of which a version and target have at least one instance."""
    return [form for place, form in _numbered_forms() if not form.tolerated and _has_instance(place, version, target)]


@cache
def _numbered_forms() -> list[tuple[int, Form]]:
    return list(enumerate(all_forms()))


def instances_of(place: int, version: Version, target: str) -> tuple[InstructionInstance, ...]:
    """Returns instances of a form, given by its index in `forms_of`."""
    return _instances(_form_indices(version, target)[place], version, target)


@cache
def _form_indices(version: Version, target: str) -> dict[int, int]:
    wanted = {id(form) for form in forms_of(version, target)}
    return dict(enumerate(place for place, form in _numbered_forms() if id(form) in wanted))


@cache
def _instances(place: int, version: Version, target: str) -> tuple[InstructionInstance, ...]:
    return tuple(sorted(_legal_instances(place, version, target), key=lambda each: len(each.text)))


def _has_instance(place: int, version: Version, target: str) -> bool:
    """Returns whether a form has any instance, without making all of them."""
    return any(True for _ in _legal_instances(place, version, target))


def _legal_instances(place: int, version: Version, target: str) -> Iterator[InstructionInstance]:
    _, form = _numbered_forms()[place]
    aimed = parse_target(target)
    made = instances(form, table().value_gates, Random(place), _INSTANCES_PER_FORM)
    had = (each for each in made if not unmet_gates(tuple(each.match.gates), version, aimed))
    return (each for each in had if ptxkit_refusal(harness_module([each.text], version, target)) is None)


def instruction_named(
    name: str, target: str = "sm_90a", version: Version = (8, 7)
) -> st.SearchStrategy[GeneratedInstruction]:
    """Generates instructions of one opcode, such as `fma`. Only the forms of that opcode are examined."""
    named = [(place, form) for place, form in _numbered_forms() if form.name == name and not form.tolerated]
    found = [(form.syntax, each.text) for place, form in named for each in _instances(place, version, target)]
    if not found:
        raise ValueError(f"PTX {version[0]}.{version[1]} has no instruction {name!r} on {target}")
    return st.sampled_from([GeneratedInstruction(text, version, target, syntax) for syntax, text in found])


def arrays(type: str, shape: int | tuple[int, ...]) -> st.SearchStrategy[np.ndarray[Any, Any]]:  # noqa: A002
    """Generates bit patterns of a PTX type (`f16x2`, `s64`, `e4m3`...), as a parameter accepts them: in NumPy's type of
    that name, or else in the unsigned type of its width.

    They include edge values of the type: zeros, the smallest and largest numbers, infinities, NaNs, neighbors of powers
    of two.
    """
    wide = max(width_of(type), 8)
    held: np.dtype[Any] = np.dtype(NUMPY_CODES.get(type, unsigned_dtype(wide)))
    pattern = unsigned_dtype(wide)
    size = int(np.prod(shape, dtype=np.int64))
    top = (1 << width_of(type)) - 1
    known = [each & top for each in edge_values(type)]
    element = st.one_of(st.sampled_from(known), st.integers(0, top))

    def pack(values: list[int]) -> np.ndarray[Any, Any]:
        made: np.ndarray[Any, Any] = np.array(values, pattern).view(held)
        return made.reshape(shape)

    return st.lists(element, min_size=size, max_size=size).map(pack)


def kernels(
    target: str = "sm_90a", version: Version = (8, 7), *, statements: int = 8, name: str = "kernel"
) -> st.SearchStrategy[GeneratedKernel]:
    """Generates whole kernels that are free of undefined behavior, with their launch; at most `statements` statements
    at the top level.

    The manual specifies every bit that they write: arithmetic without approximations, branches, loops with bounds,
    operations of whole warps, shared memory with barriers, atomic operations whose order does not matter. The first
    example takes some seconds.
    """
    return st.deferred(lambda: _kernels_with_steps(target, version, statements, name))


def _kernels_with_steps(
    target: str, version: Version, statements: int, name: str
) -> st.SearchStrategy[GeneratedKernel]:
    """Determines the steps before there is an example, so that the first one is not too slow for Hypothesis."""
    available_steps(version, target, one_nan=True)
    loads_of(version, target)
    loads_of(version, target, acquiring=False)
    return _kernels(target, version, statements, name)


@st.composite
def _kernels(draw: st.DrawFn, target: str, version: Version, statements: int, name: str) -> GeneratedKernel:
    def choose(below: int) -> int:
        return draw(_below(below)) if below > 1 else 0

    return generate_kernel(choose, version, target, statements, name, lambda make: draw(st.builds(make)))


@cache
def _below(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)


def pipelines(target: str = "sm_90a", version: Version = (8, 7)) -> st.SearchStrategy[GeneratedPipeline]:
    """Generates kernels with asynchronous copies in correct arrangements, with their launch and expected output.

    They shrink to one tile that each thread copies a part of, with one slot and one iteration.
    """
    return _pipelines(target, version)


@st.composite
def _pipelines(draw: st.DrawFn, target: str, version: Version) -> GeneratedPipeline:
    def choose(below: int) -> int:
        return draw(_below(below)) if below > 1 else 0

    return choose_pipeline(choose, target, version)


@st.composite
def broken(draw: st.DrawFn, correct: st.SearchStrategy[GeneratedPipeline]) -> GeneratedPipeline:
    """Generates pipelines with one fault, `GeneratedPipeline.site`: its family, and the codes of which one must be
    reported.
    """

    def choose(below: int) -> int:
        return draw(_below(below)) if below > 1 else 0

    return break_pipeline(choose, draw(correct.filter(lambda each: each.sites)))


@st.composite
def litmus(draw: st.DrawFn) -> Litmus:
    """Generates small programs of two to four threads; `Litmus.behaviour` gives the outcomes that the memory model
    allows.
    """

    def choose(below: int) -> int:
        return draw(_below(below)) if below > 1 else 0

    return litmus_test(choose)
