"""Evaluates the operands of steps in all threads of a CTA, with what all threads share as an unknown.

Source: PTX ISA, "Special Registers", "Kernel Function Parameters", "vote.sync", "shfl.sync", "cvta".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptxkit.analysis.abstract_interpretation.cta_operands import CtaOperands
from ptxkit.analysis.dataflow.input_loads import input_loads
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.shared_window import FIRST_ADDRESS, SharedWindow
from ptxkit.analysis.symexec.lane_ops import source_lane
from ptxkit.analysis.values.cta_values import CtaValue, UniformTerm, atom, is_uniform, per_thread
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.analysis.values.value_reader import Reader, loaded_argument
from ptxkit.isa.expressions import CallExpr, ConstantExpr
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.semantics.value_ops import bit_mask
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.tree import Name, Operand

#: The special registers whose value may differ between the threads of a CTA, or from one read to the next.
_DIFFERENT = ("%tid", "%lane", "%clock", "%globaltimer", "%pm", "%warpid", "%smid", "%reserved")
_WINDOW = SharedWindow()


class ThreadOperands(CtaOperands):
    """The operands of the steps of one kernel in a CTA of one size.

    elected: the lane that `elect.sync` elects; None if it is unknown.
    """

    def __init__(self, program: Program, launch: LaunchConfig, elected: int | None = None) -> None:
        super().__init__(launch, range(launch.threads), ("%ntid",) if launch.is_exact else ())
        self._elected = elected
        self._inputs = program.analysis(input_loads)

    def special(self, name: str) -> CtaValue:
        found = super().special(name)
        return UniformTerm(atom("special", name)) if found is None and not name.startswith(_DIFFERENT) else found

    def variable(self, variable: DeclaredVariable) -> CtaValue:
        is_placed = variable.space in FIRST_ADDRESS
        return variable.address if is_placed else UniformTerm(atom("variable", variable.space, variable.name))

    def displace(self, step: Step, base: Operand, offset: int, read: Reader[CtaValue]) -> CtaValue:
        found = self.operand(step, base, read)
        named = step.scope.find(base.text) if isinstance(base, Name) else None
        width = 32 if named is not None and named.kind in ("b32", "u32", "s32") else 64
        return found if not offset else self.apply("add", (width, found, offset & bit_mask(width)))

    def call(self, step: Step, call: CallExpr, read: Reader[CtaValue]) -> CtaValue:
        match call:
            case CallExpr(function="elected") if self._elected is not None:
                return per_thread([int(tid % WARP_SIZE == self._elected) for tid in self.tids])
            case CallExpr(function="vote"):
                return self._vote(step, call, read)
            case CallExpr(function="shuffle"):
                return self._shuffle(step, call, read)
            case CallExpr(
                function="to_generic" | "from_generic" as name, arguments=(ConstantExpr(value=space), source)
            ):
                return _convert_address(name, str(space), self.expression(step, source, read))
        return super().call(step, call, read)

    def load(self, step: Step, call: CallExpr, place: int, read: Reader[CtaValue]) -> CtaValue:
        """Returns an argument, or data of the host at an address that all threads have; None for anything else."""
        argument = loaded_argument(step, call, place)
        if argument is not None:
            return UniformTerm(atom("parameter", *argument))
        address = self.expression(step, call.arguments[1], read) if step in self._inputs else None
        return UniformTerm(atom("input", step.index, place, address)) if is_uniform(address) else None

    def _vote(self, step: Step, call: CallExpr, read: Reader[CtaValue]) -> CtaValue:
        """Returns the result of a vote of whole warps."""
        mode = call.arguments[0]
        held = self.expression(step, call.arguments[-1], read)
        combine = _VOTES.get(str(mode.value)) if isinstance(mode, ConstantExpr) else None
        if combine is None or not isinstance(held, int | tuple):
            return None
        own = [held & 1] * len(self.tids) if isinstance(held, int) else [each & 1 for each in held]
        warps = [combine(own[first : first + WARP_SIZE]) for first in range(0, len(own), WARP_SIZE)]
        return per_thread([int(warps[tid // WARP_SIZE]) for tid in self.tids])

    def _shuffle(self, step: Step, call: CallExpr, read: Reader[CtaValue]) -> CtaValue:
        """Returns what the lanes read from others, if the lane is a constant; all of them take part."""
        mode, source, selector, bounds = call.arguments[:4]
        kind = str(mode.value).lstrip(".") if isinstance(mode, ConstantExpr) else ""
        held = self.expression(step, source, read)
        chosen, limits = self.expression(step, selector, read), self.expression(step, bounds, read)
        if is_uniform(held):
            return held
        if not isinstance(held, tuple) or not isinstance(chosen, int):
            return None
        lanes = [source_lane(kind, tid, chosen, limits) for tid in self.tids]
        return per_thread([held[at] if at is not None and at < len(held) else None for at in lanes])


#: The result of a vote from the predicates of a warp.
_VOTES: dict[str, Callable[[Sequence[int]], bool]] = {
    "any": any,
    "all": all,
    "uni": lambda own: len(set(own)) == 1,
}


def _convert_address(name: str, space: str, value: CtaValue) -> CtaValue:
    convert = _WINDOW.to_generic if name == "to_generic" else _WINDOW.from_generic
    if isinstance(value, int):
        return convert(space, value)
    if isinstance(value, UniformTerm):
        return UniformTerm(atom(name, space, value)) if is_uniform(value) else None
    return per_thread([convert(space, each) for each in value]) if isinstance(value, tuple) else None
