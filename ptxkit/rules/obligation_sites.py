"""Determines which instructions of a kernel a rule is about: where its obligations are, before anything is executed.

A rule states an obligation for each instruction with an effect of some kind, in all functions that its kernel may call.
If the rule is about pairs, the obligation is at the instruction at which the rule reports a violation, and it exists
only where the kernel has an instruction that may be the other one of the pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import UnionType
from typing import TypeAlias

from ptxkit.analysis.dataflow.dependence import Dependence, DependenceSource
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Effect, MbarrierInit, MbarrierInvalidate, MbarrierUse
from ptxkit.isa.expressions import ConstantExpr, OperandRole, roles_in
from ptxkit.syntax.tree import Address, Name

EffectTest: TypeAlias = Callable[[Effect], bool]

_GROUP_MECHANISMS = ("cp.async", "bulk", "wgmma")
_NUMBER_FIELDS = ("size", "count", "expect", "threads", "number", "multicast", "rows")
"""The fields of effects that are numbers with limits, or sets of CTAs."""


@dataclass(frozen=True, slots=True)
class Site:
    """An instruction that an obligation is about.

    subject: the role of the operand of which something is demanded, or a word if it is not an operand.
    """

    step: Step
    subject: str = ""


SiteFinder: TypeAlias = Callable[[Program], Iterator[Site]]


def no_sites(program: Program) -> Iterator[Site]:  # noqa: ARG001 (the signature of all finders)
    """Yields nothing: the rule is about redundant instructions, which nothing forbids."""
    return iter(())


def sites_of(wanted: EffectTest, *partners: EffectTest) -> SiteFinder:
    """Returns the finder of the instructions with a wanted effect.

    partners: kernels without an effect of each of these kinds have no sites.
    """

    def find(program: Program) -> Iterator[Site]:
        for partner in partners:
            if not any(partner(effect) for step in program.effectful_steps for effect in step.effects):
                return
        for step in program.effectful_steps:
            subjects = dict.fromkeys(subject_of(effect) for effect in step.effects if wanted(effect))
            yield from (Site(step, subject) for subject in subjects)

    return find


def sites_of_address_operands(*, named: bool, generic: bool) -> SiteFinder:
    """Returns the finder of the address operands that are registers.

    named, generic: whether those of instructions that name a state space count, and those that name none.
    """

    def find(program: Program) -> Iterator[Site]:
        for step in program.effectful_steps:
            for form in step.match.operands if step.match is not None else ():
                if form.kind != "address" or not isinstance(form.space, ConstantExpr):
                    continue
                if (generic if form.space.value == "generic" else named) and is_register_address(step, form.role):
                    yield Site(step, form.role)

    return find


def sites_of_numbers(program: Program) -> Iterator[Site]:
    """Yields the sizes, counts and sets of CTAs in registers, and the addresses that hold the rank of a CTA."""
    for step in program.effectful_steps:
        match = step.match
        if match is None:
            continue
        roles = dict.fromkeys(role for effect in step.effects for role in _number_roles(effect))
        for need in match.needs:
            roles.update(dict.fromkeys(roles_in(need.condition)))
        yield from (Site(step, role) for role in roles if isinstance(step.operand(role), Name))
        ranked = (effect for effect in step.effects if is_remote(effect) or getattr(effect, "space", "") == "generic")
        yield from (Site(step, role) for role in dict.fromkeys(map(subject_of, ranked)) if role not in roles)


def _number_roles(effect: Effect) -> Iterator[str]:
    for field in _NUMBER_FIELDS:
        value = getattr(effect, field, None)
        if isinstance(value, str | OperandRole):
            yield value if isinstance(value, str) else value.name


def subject_of(effect: Effect) -> str:
    """Returns the role of the operand that an effect is about, or a word: its group, or the kind of the effect."""
    for field in ("address", "barrier", "operand"):
        role = getattr(effect, field, None)
        if isinstance(role, str):
            return role
    return getattr(effect, "group", None) or getattr(effect, "level", None) or ""


def is_register_address(step: Step, role: str) -> bool:
    """Returns whether the operand with a role is an address in a register, and not the name of a variable."""
    operand = step.operand(role)
    if not isinstance(operand, Address) or not isinstance(operand.base, Name):
        return False
    name = operand.base.text
    return step.scope.register_name(name) != name or step.scope.variable(name) is None


def may_touch_shared(effect: Effect) -> bool:
    """Returns whether an effect is an access that may be one of shared memory."""
    if not isinstance(effect, Access) or effect.proxy == "tensormap" or effect.via in ("tensormap", "multimem"):
        return False
    return effect.space.startswith(("shared", "generic"))


def reads_shared(effect: Effect) -> bool:
    return may_touch_shared(effect) and isinstance(effect, Access) and effect.kind != "write"


def writes_shared(effect: Effect) -> bool:
    return may_touch_shared(effect) and isinstance(effect, Access) and effect.kind != "read"


def is_async(effect: Effect) -> bool:
    """Returns whether an access may be in progress after its instruction."""
    return isinstance(effect, Access) and effect.completion is not None


def is_async_proxy(effect: Effect) -> bool:
    return isinstance(effect, Access) and effect.proxy == "async"


def is_group_operation(effect: Effect) -> bool:
    """Returns whether an effect is the access to shared memory of an operation that belongs to a group."""
    return may_touch_shared(effect) and isinstance(effect, Access) and effect.completion in _GROUP_MECHANISMS


def is_source_of_group(effect: Effect) -> bool:
    """Returns whether an effect reads shared memory until a group of bulk copies is complete."""
    return reads_shared(effect) and isinstance(effect, Access) and effect.completion == "bulk"


def is_remote(effect: Effect) -> bool:
    """Returns whether an effect may access the shared memory or an mbarrier of another CTA."""
    return getattr(effect, "space", "") == "shared::cluster" or getattr(effect, "multicast", None) is not None


def both(*tests: EffectTest) -> EffectTest:
    """Returns the test that succeeds if all of these do."""
    return lambda effect: all(test(effect) for test in tests)


def either(*tests: EffectTest) -> EffectTest:
    """Returns the test that succeeds if one of these does."""
    return lambda effect: any(test(effect) for test in tests)


def is_a(*kinds: type | UnionType, **fields: object) -> EffectTest:
    """Returns the test for effects of some classes with these values of their fields."""
    return lambda effect: isinstance(effect, kinds) and all(getattr(effect, n) == v for n, v in fields.items())


def negation(test: EffectTest) -> EffectTest:
    """Returns the test that succeeds if this one does not."""
    return lambda effect: not test(effect)


def sites_at_loaded_addresses(program: Program) -> list[tuple[Site, frozenset[DependenceSource]]]:
    """Returns the accesses of a function at addresses that loaded data decide, each with what its address depends on.

    For `Program.analysis`.
    """
    dependence = program.analysis(Dependence)
    own = (site for site in sites_of(is_memory_access)(program) if program.contains(site.step))
    found = ((site, dependence.sources_of(site.step, site.step.operand(site.subject))) for site in own)
    return [(site, leaves) for site, leaves in found if any(leaf.kind == "memory" for leaf in leaves)]


def is_mbarrier_operation(effect: Effect) -> bool:
    return isinstance(effect, MbarrierInit | MbarrierInvalidate | MbarrierUse)


def is_memory_access(effect: Effect) -> bool:
    """Returns whether an effect is an access other than one of parameters by their names."""
    return isinstance(effect, Access) and not effect.space.startswith("param")


def is_shared_access(site: Site) -> bool:
    """Returns whether an instruction itself accesses shared memory at its subject, as its form shows."""
    effects = [each for each in site.step.effects if isinstance(each, Access) and subject_of(each) == site.subject]
    return any(each.space.startswith("shared") and each.completion is None for each in effects)


def is_global_access(effect: Effect) -> bool:
    """Returns whether an effect is an access that may be one of global memory."""
    return isinstance(effect, Access) and effect.space in ("global", "generic")


def writes_global(effect: Effect) -> bool:
    return is_global_access(effect) and isinstance(effect, Access) and effect.kind != "read"


def is_multimem_access(effect: Effect) -> bool:
    return isinstance(effect, Access) and effect.via == "multimem"


def is_tensor_access(effect: Effect) -> bool:
    """Returns whether an effect is an access of Tensor Memory, or commits such accesses."""
    return isinstance(effect, Access) and effect.space == "tensor"
