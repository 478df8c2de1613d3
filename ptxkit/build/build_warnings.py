"""Warnings about kernels that are probably not what was intended, at the line of the user's code.

`UnusedWarning`: a kernel or function with instructions was never printed, verified, compiled, launched or called.
`NeverWaitedWarning`: a kernel commits groups of copies, or has copies report to an mbarrier, and never waits for them.
`FindingWarning`: a warning of the verifier. All are subclasses of `BuildWarning`, which Python's warning filters can
select.

No warning is given where the builder cannot decide: for a barrier whose address is passed to code that it does not see,
for functions of other modules, and for kernels that an exception interrupted.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator, Sequence

from ptxkit.build.debug_output import SystemFunction
from ptxkit.build.errors import BuildError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.recorder import UsageState
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.effects import CommitGroup, MbarrierArrive, MbarrierComplete, MbarrierTrack, MbarrierWait, WaitGroup
from ptxkit.isa.forms import Match
from ptxkit.kernel_model.source_lines import Location
from ptxkit.kernel_model.verification import BuildWarning, warn_at
from ptxkit.syntax import tree
from ptxkit.syntax.nested_instructions import iterate_instructions


class UnusedWarning(BuildWarning):
    """A kernel was built and never used."""


class NeverWaitedWarning(BuildWarning):
    """Copies are committed, and the kernel never waits for them."""


_MAIN_FILE = os.path.realpath(getattr(sys.modules.get("__main__"), "__file__", None) or "")
"""The file that Python was started with, which Python forgets before the process ends."""
# ---------------------------------------------------------------------------------------------- never used


def warn_when_unused(owner: InstructionBuilder) -> None:
    """Warns when a kernel or function with statements is garbage collected, or the program ends, and it was never
    used.
    """
    weakref.finalize(owner, _warn_if_unused, owner.recorder.usage, owner.recorder.body, repr(owner), owner.location)


def _warn_if_unused(use: UsageState, body: Sequence[object], what: str, where: Location) -> None:
    cut_short = use.was_interrupted or BuildError.raised_count != use.errors_at_start
    if not use.was_used and not cut_short and body and _is_in_program(where):
        uses = "call, print or verify" if what.startswith("Function") else "print, verify, compile or launch"
        warn_at(f"{what} was built and never used: {uses} it", UnusedWarning, where)


def _is_in_program(where: Location) -> bool:
    """Returns whether a line belongs to the program that is ending. A library may offer kernels that a program does not
    use.
    """
    if not sys.is_finalizing() and not _is_interpreter_exiting():
        return True
    own = where.file.startswith("<") or os.path.realpath(where.file) == _MAIN_FILE
    return own and getattr(sys, "last_value", None) is None


def _is_interpreter_exiting() -> bool:
    """Returns whether Python is calling its exit functions, which include those of `weakref`."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == "_exitfunc" and frame.f_code.co_filename == weakref.__file__:
            return True
    return False


# ------------------------------------------------------------------------------------------- never waited for


@dataclass(frozen=True, slots=True)
class EffectSite:
    """An effect of an instruction, with the variable or register in the address of its mbarrier."""

    effect: object
    base: str | None
    location: Location
    statement: tree.Instruction


def warn_of_unwaited_copies(kernel: InstructionBuilder) -> None:
    """Warns of copy groups and mbarriers that no instruction of the kernel or its functions waits for."""
    routines = kernel.list_call_graph()
    called = {id(each): each for routine in routines for each in routine.callees.values()}
    if any(not isinstance(each, InstructionBuilder | SystemFunction) for each in called.values()):
        return  # a function of another module may wait
    seen = [(routine, list(iterate_effects(routine))) for routine in routines]
    for message, where in (
        *_find_unwaited_groups([each for _, some in seen for each in some]),
        *_find_unwaited_barriers(seen),
    ):
        if (message, where) not in kernel.issued_warnings:
            kernel.issued_warnings.add((message, where))
            warn_at(message, NeverWaitedWarning, where)


def _find_unwaited_groups(seen: Sequence[EffectSite]) -> Iterator[tuple[str, Location]]:
    waited = {each.effect.group for each in seen if isinstance(each.effect, WaitGroup)}
    if any(isinstance(each.effect, MbarrierTrack) for each in seen):
        waited.add("cp.async")  # the mbarrier's phase completes only when the copies do
    first: dict[str, Location] = {}
    for each in seen:
        if isinstance(each.effect, CommitGroup) and each.effect.group not in waited:
            first.setdefault(each.effect.group, each.location)
    for group, where in first.items():
        yield f"groups of {group} copies are committed here, and nothing waits for any", where


def _find_unwaited_barriers(
    seen: Sequence[tuple[InstructionBuilder, list[EffectSite]]],
) -> Iterator[tuple[str, Location]]:
    for routine, some in seen:
        waits = {
            routine.barrier_uses.find_origin_variable(each.base)
            for each in some
            if isinstance(each.effect, MbarrierWait)
        }
        if None in waits:
            continue  # this wait may be for any mbarrier
        settled = waits | routine.barrier_uses.escaped
        reported = {
            name: each.location
            for each in reversed(some)
            if _is_copy_completion(each.effect)
            and (name := routine.barrier_uses.find_origin_variable(each.base)) is not None
        }
        for name, where in {**reported, **routine.barrier_uses.commit_locations}.items():
            if name not in settled:
                yield f"mbarrier `{name}` tracks the copies of this line, and no thread waits for it", where


def _is_copy_completion(effect: object) -> bool:
    """Returns whether an effect reports copies to an mbarrier."""
    if isinstance(effect, MbarrierArrive):
        return effect.expect is not None or effect.asynchronous
    return isinstance(effect, MbarrierComplete | MbarrierTrack)


def iterate_effects(routine: InstructionBuilder) -> Iterator[EffectSite]:
    """Yields the effects of a routine's instructions, including those in raw PTX."""
    for entry in routine.recorder.entries():
        for statement in iterate_instructions((entry.statement,)):
            match = entry.match or table().match(statement)
            for effect in match.effects if isinstance(match, Match) else ():
                base = _address_base(statement, match, getattr(effect, "barrier", None))
                yield EffectSite(effect, base, entry.location, statement)


def _address_base(instruction: tree.Instruction, match: Match | object, role: str | None) -> str | None:
    """Returns the name of the variable or register in an operand's address."""
    if role is None or not isinstance(match, Match):
        return None
    for form, operand in zip(match.operands, instruction.operands, strict=False):
        if form.role == role and isinstance(operand, tree.Address) and isinstance(operand.base, tree.Name):
            return operand.base.text
    return None
