"""Evaluates the operands of steps in all threads of a CTA or a cluster, with what all threads share as an unknown.

Source: PTX ISA, "Special Registers", "Kernel Function Parameters", "vote.sync", "shfl.sync", "cvta", "mapa",
"getctarank".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptxkit.analysis.abstract_interpretation.cta_operands import CtaOperands
from ptxkit.analysis.dataflow.input_loads import input_loads
from ptxkit.analysis.intervals.cluster_threads import ClusterThreads
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.shared_window import CTA_BITS, EVEN_CTA, FIRST_ADDRESS, SharedWindow
from ptxkit.analysis.symexec.lane_ops import source_lane
from ptxkit.analysis.values.cta_values import CtaValue, is_uniform, per_thread
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.analysis.values.special_registers import SpecialRegisters
from ptxkit.analysis.values.uniform_terms import UniformTerm, atom
from ptxkit.analysis.values.value_reader import Reader, loaded_argument
from ptxkit.isa.expressions import CallExpr, ConstantExpr
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.semantics.value_ops import bit_mask
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.tree import Name, Operand

#: The special registers whose value may differ between the threads of a CTA, or from one read to the next.
_DIFFERENT = ("%tid", "%lane", "%clock", "%globaltimer", "%pm", "%warpid", "%smid", "%reserved")
#: The special registers that the rank of a CTA in its cluster determines.
_OF_RANK = ("%cluster_cta", "%cluster_ncta", "%ctaid")
_WINDOW = SharedWindow()


class ThreadOperands(CtaOperands):
    """The operands of the steps of one kernel in a CTA, or in the CTAs of a cluster, of one size.

    elected: the lane that `elect.sync` elects; None if it is unknown.
    """

    def __init__(
        self, program: Program, launch: LaunchConfig, threads: ClusterThreads, elected: int | None = None
    ) -> None:
        tids = tuple(range(launch.threads)) * threads.ctas
        super().__init__(launch, tids, ("%ntid",) if launch.is_exact else ())
        self._elected, self._threads, self._launch = elected, threads, launch
        self._inputs = program.analysis(input_loads)

    def special(self, name: str) -> CtaValue:
        if self._threads.ctas > 1 and name.startswith(_OF_RANK):
            return self._special_of_ranks(name)
        found = super().special(name)
        return UniformTerm(atom("special", name)) if found is None and not name.startswith(_DIFFERENT) else found

    def _special_of_ranks(self, name: str) -> CtaValue:
        """Returns a register that differs between the CTAs; the number of a CTA relative to the first one's."""
        of_ranks = [SpecialRegisters(self._launch, rank, (0,)).get(name) for rank in range(self._threads.ctas)]
        known = [each if isinstance(each, int) else None for each in of_ranks]
        value = per_thread([each for each in known for _ in range(self._threads.of_cta)])
        if not name.startswith("%ctaid") or not isinstance(value, int | tuple):
            return value
        extent = dict(zip("xyz", self._launch.cluster, strict=True)).get(name[-1], 1)
        return UniformTerm(atom("special", name), value, extent)

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
            case CallExpr(function="map_rank", arguments=(ConstantExpr(value=space), source, rank)):
                mapped = self.expression(step, source, read), self.expression(step, rank, read)
                return self._for_each_thread(lambda window, *given: window.map_address(str(space), *given), mapped)
            case CallExpr(function="rank_of", arguments=(ConstantExpr(value=space), source)):
                held = (self.expression(step, source, read),)
                return self._for_each_thread(lambda window, address: window.rank_of_address(str(space), address), held)
        return super().call(step, call, read)

    def apply(self, name: str, arguments: Sequence[object]) -> CtaValue:
        """Applies an operation; a mask may map an address to the even CTA of a pair."""
        if self._threads.ctas > 1 and name == "and":
            width, held, mask = arguments
            assert isinstance(width, int)
            kept = mask & bit_mask(width) if isinstance(mask, int) else 0
            if kept >> CTA_BITS == EVEN_CTA and isinstance(held, int | tuple):
                return self._for_each_thread(lambda window, address: window.map_to_even_cta(address, kept), (held,))
        return super().apply(name, arguments)

    def _for_each_thread(self, compute: Callable[..., int | None], arguments: Sequence[CtaValue]) -> CtaValue:
        """Applies a function of the shared window and of numbers in each thread of a cluster."""
        if self._threads.ctas == 1 or not all(isinstance(each, int | tuple) for each in arguments):
            return None
        columns = [each if isinstance(each, tuple) else (each,) * self._threads.count for each in arguments]
        given = enumerate(zip(*columns, strict=True))
        return per_thread(
            [compute(self._threads.window(thread // self._threads.of_cta), *own) for thread, own in given]
        )

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
