"""How many registers threads have: what the kernel starts with at most, and what `setmaxnreg` makes of it.

Source: PTX ISA, "setmaxnreg", "Performance-Tuning Directives".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.collectives import WARP
from ptxkit.analysis.program import Program
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Barrier, MbarrierWait, RegisterCount
from ptxkit.records import dataclass
from ptxkit.syntax.extents import BLOCK, extents
from ptxkit.syntax.tree import Integer

#: Registers of a multiprocessor, of which a CTA has all at most; a thread's come in eights, and are 256 at most.
REGISTERS, STEP, MOST = 1 << 16, 8, 256


@dataclass(frozen=True, slots=True)
class Setting:
    """One execution of `setmaxnreg` by a thread. before: what the thread had set earlier, None where nothing."""

    position: int
    event: Event
    count: int
    before: Setting | None

    @property
    def increases(self) -> bool:
        effect = self.event.effect
        return isinstance(effect, RegisterCount) and effect.action == "increase"


def sets_registers(program: Program) -> bool:
    """Whether a kernel has a `setmaxnreg`."""
    return any(isinstance(effect, RegisterCount) for step in program.acting for effect in step.effects)


def most_at_start(program: Program, threads: int) -> int | None:
    """The registers that a thread can have at the start, at most, in blocks of up to so many threads.

    None where no directive says it: either `.maxnreg`, or how many threads a block has and how many blocks there are
    together. Without these an assembler ignores `setmaxnreg`, unless an option tells it.
    """
    limit = program.function.directive("maxnreg")
    if limit is not None:
        return _upwards(_number(limit.words))
    ctas = program.function.directive("minnctapersm")
    if ctas is None or extents(program.function, *BLOCK) is None:
        return None
    resident = -(-threads // WARP) * WARP * max(_number(ctas.words), 1)
    return min(REGISTERS // resident // STEP * STEP, MOST)


def settings_of(thread: Thread) -> list[Setting]:
    """What a thread sets, in order."""
    found: list[Setting] = []
    for position, event in thread.positions(RegisterCount):
        if isinstance(event.amount, int):
            found.append(Setting(position, event, event.amount, found[-1] if found else None))
    return found


def synchronises_between(thread: Thread, since: int, until: int) -> bool:
    """Whether a thread meets threads of other warps between two positions, or may."""
    return thread.trace.opaque or any(
        since < position < until and not (isinstance(event.effect, Barrier) and event.effect.level == "warp")
        for position, event in thread.positions(Barrier, MbarrierWait)
    )


def operands_of(program: Program) -> Iterator[int]:
    """The numbers of registers that a kernel sets anywhere."""
    for step in program.steps:
        if step.match and any(isinstance(effect, RegisterCount) for effect in step.match.effects):
            operand = step.instruction.operands[0]
            yield operand.value if isinstance(operand, Integer) else 0


def _number(words: tuple[str, ...]) -> int:
    return next((int(word, 0) for word in words if word.strip(",").isdigit()), 0)


def _upwards(count: int) -> int:
    """Registers are given in eights."""
    return min(-(-count // STEP) * STEP, MOST)
